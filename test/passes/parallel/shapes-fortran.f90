! Loops with too few iterations, regions with too little work, and teams inside of teams,
! as flang writes them.
! REQUIRES: flang-22, llvm-22
! RUN: cd %t && cp %s f.f90
! RUN: flang-22 --target=aarch64-linux-gnu -mcpu=a64fx -O2 -g -fopenmp -fpass-plugin=%passes -Rpass-missed=mpg -c f.f90 -o f.o 2>&1 | grep remark: | sort -t: -k2n > remarks
! RUN: FileCheck %s --implicit-check-not=remark: --input-file=remarks
subroutine small(a, b)
  real(8), intent(inout) :: a(1000), b(1000)
  integer :: i
  ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} have 1000 iterations in all
  !$omp parallel do
  do i = 1, 1000
    a(i) = a(i) + 2 * b(i)
  end do
end subroutine
subroutine coarse(a)
  real(8), intent(inout) :: a(40000, 10)
  integer :: i, k
  ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} shares out 10 iterations to 48 threads{{.*}}collapse(2)
  !$omp parallel do
  do i = 1, 10
    do k = 1, 40000
      a(k, i) = 2 * a(k, i)
    end do
  end do
end subroutine
subroutine scale(x, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  integer :: i
  ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} scale starts this parallel region and is itself called from one
  !$omp parallel do
  do i = 1, n
    x(i) = 2 * x(i)
  end do
end subroutine
subroutine scale_all(x, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n, n)
  integer :: i
  !$omp parallel do
  do i = 1, n
    call scale(x(:, i), n)
  end do
end subroutine

! Each with its repair.
subroutine small_if(a, b, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: a(1000), b(1000)
  integer :: i
  !$omp parallel do if(n > 8000)
  do i = 1, 1000
    a(i) = a(i) + 2 * b(i)
  end do
end subroutine
subroutine large(a, b)
  real(8), intent(inout) :: a(100000), b(100000)
  integer :: i
  !$omp parallel do
  do i = 1, 100000
    a(i) = a(i) + 2 * b(i)
  end do
end subroutine
subroutine collapsed(a)
  real(8), intent(inout) :: a(40000, 10)
  integer :: i, k
  !$omp parallel do collapse(2)
  do i = 1, 10
    do k = 1, 40000
      a(k, i) = 2 * a(k, i)
    end do
  end do
end subroutine
subroutine recurrence(a)
  real(8), intent(inout) :: a(40000, 10)
  integer :: i, k
  !$omp parallel do
  do i = 1, 10
    do k = 2, 40000
      a(k, i) = a(k, i) + a(k - 1, i)
    end do
  end do
end subroutine
subroutine negate(x, n)
  interface
    logical function omp_in_parallel() bind(c)
    end function
  end interface
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  integer :: i
  !$omp parallel do if(.not. omp_in_parallel())
  do i = 1, n
    x(i) = -x(i)
  end do
end subroutine
subroutine negate_all(x, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n, n)
  integer :: i
  !$omp parallel do
  do i = 1, n
    call negate(x(:, i), n)
  end do
end subroutine
