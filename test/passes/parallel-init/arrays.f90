! Fortran: array assignments and loops over allocated arrays, through descriptors
! whose strides and bounds are only known at run time.
! REQUIRES: flang-22, llvm-22
! RUN: flang-22 -fopenmp -O2 %s -o %t.plain && env OMP_NUM_THREADS=1 %t.plain > %t.expected
! RUN: flang-22 -fopenmp -O2 -g -fpass-plugin=%all %s -o %t -Rpass=mpg-test -Rpass-missed=mpg-test 2> %t.txt
! RUN: FileCheck %s --input-file=%t.txt
! CHECK-COUNT-6: remark: parallel
! RUN: env OMP_NUM_THREADS=1 %t | cmp - %t.expected
! RUN: env OMP_NUM_THREADS=3 %t | cmp - %t.expected
! RUN: env OMP_NUM_THREADS=8 %t | cmp - %t.expected
module work
  implicit none
contains
  subroutine assign(a)
    real(8), allocatable, intent(inout) :: a(:)
    a = 1.5d0
  end subroutine
  subroutine loops(a, b, n)
    integer, intent(in) :: n
    real(8), intent(out) :: a(n), b(n)
    integer :: i
    do i = 1, n
      a(i) = i * 0.5d0
      b(i) = -i
    end do
  end subroutine
  subroutine strided(a)
    real(8), intent(inout) :: a(:)
    integer :: i
    do i = 1, size(a)
      a(i) = i
    end do
  end subroutine
  subroutine planes(a)
    real(8), intent(inout) :: a(:, :)
    integer :: i, j
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        a(i, j) = i - 2 * j
      end do
    end do
  end subroutine
  subroutine recur(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    integer :: i
    do i = 2, n
      a(i) = a(i - 1) * 0.5d0 + i
    end do
  end subroutine
  subroutine downward(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    integer :: i
    do i = n, 1, -3
      a(i) = i
    end do
  end subroutine
end module

program main
  use work
  implicit none
  integer, parameter :: n = 2000000
  real(8), allocatable :: a(:), b(:), c(:, :)
  allocate (a(n), b(n), c(1500, 1400))
  call assign(a)
  print *, sum(a)
  call loops(a, b, n)
  print *, sum(a), sum(b)
  call strided(a(1:n:2))
  print *, sum(a), a(7)
  call strided(a(n:1:-1))
  print *, sum(a), a(7)
  call strided(a(1:0))
  call planes(c)
  print *, sum(c), c(3, 9)
  call planes(c(1:1500:2, 1400:1:-1))
  print *, sum(c), c(3, 9)
  call recur(b, n)
  print *, sum(b)
  call downward(b, n)
  print *, sum(b)
end program
