! The same in Fortran, where the elements of threads are those of an array section,
! a saved array, or a derived type.
! REQUIRES: flang-22, llvm-22
! RUN: cd %t && cp %s f.f90
! RUN: flang-22 --target=aarch64-linux-gnu -mcpu=a64fx -O2 -g -fopenmp -fpass-plugin=%passes -Rpass-missed=mpg -c f.f90 -o f.o 2>&1 | grep remark: | sort -t: -k2n > remarks
! RUN: FileCheck %s --implicit-check-not=remark: --input-file=remarks
module counters
  implicit none
  real(8), save :: sums(0:63), padded(0:31, 0:63)
  type bin
    real(8) :: value
    real(8) :: space(31)
  end type
  type(bin), save :: bins(0:63)
  interface
    integer function omp_get_thread_num() bind(c)
    end function
    real(8) function compute(i) bind(c)
      integer, value :: i
    end function
  end interface
contains
  subroutine by_thread(n)
    integer, intent(in) :: n
    integer :: i, id
    !$omp parallel private(id)
    id = omp_get_thread_num()
    !$omp do
    do i = 1, n
      ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} elements of sums that are 8 bytes apart from thread to thread
      sums(id) = sums(id) + compute(i)
    end do
    !$omp end parallel
  end subroutine
  subroutine in_turns(s, x, n, m)
    integer, intent(in) :: n, m
    real(8), intent(inout) :: s(n)
    real(8), intent(in) :: x(m, n)
    integer :: i, k
    !$omp parallel do schedule(static, 1) private(k)
    do i = 1, n
      do k = 1, m
        ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} that are 8 bytes apart from one thread's iterations
        s(i) = s(i) + x(k, i) * compute(k)
      end do
    end do
  end subroutine

  ! Padded by a dimension or by the type, a reduction, and blocks of iterations.
  subroutine with_padding(n)
    integer, intent(in) :: n
    integer :: i, id
    !$omp parallel private(id)
    id = omp_get_thread_num()
    !$omp do
    do i = 1, n
      padded(0, id) = padded(0, id) + compute(i)
      bins(id)%value = bins(id)%value + compute(i)
    end do
    !$omp end parallel
  end subroutine
  subroutine with_reduction(s, n)
    real(8), intent(out) :: s
    integer, intent(in) :: n
    integer :: i
    s = 0
    !$omp parallel do reduction(+:s)
    do i = 1, n
      s = s + compute(i)
    end do
  end subroutine
  subroutine in_blocks(s, x, n, m)
    integer, intent(in) :: n, m
    real(8), intent(inout) :: s(n)
    real(8), intent(in) :: x(m, n)
    integer :: i, k
    !$omp parallel do schedule(static) private(k)
    do i = 1, n
      do k = 1, m
        s(i) = s(i) + x(k, i) * compute(k)
      end do
    end do
  end subroutine
end module
