! Allocatables, pointers, array assignment, derived types, sections: Fortran's ways to get,
! fill and use an array. And those that must get no call.
! REQUIRES: flang
! RUN: %remarks-f %s | FileCheck %s
! RUN: %remarks-f %s | FileCheck %s --check-prefix=NEVER
! RUN: %same-f -DMAIN %s | FileCheck %s --check-prefix=SAME
! NEVER-NOT: {{^never_.*}}calls 1
! SAME: same: 20 runs

! CHECK: assigned: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine assigned(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(n))
  a = 0
  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = a(i) + i
  end do
  res = a(n)
end subroutine

! Allocated by flang's runtime, where nobody sees it: no call so far.
subroutine by_pointer(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), pointer :: a(:)
  allocate(a(n))
  do i = 1, n
    a(i) = 1
  end do
  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = a(i) + i
  end do
  res = a(n)
  deallocate(a)
end subroutine

! CHECK: collapsed: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine collapsed(n, res)
  implicit none
  integer :: n, i, j
  real(8) :: res
  real(8), allocatable :: a(:,:)
  allocate(a(n, n))
  a = 1
  !$omp parallel do collapse(2) schedule(static)
  do j = 1, n
    do i = 1, n
      a(i, j) = a(i, j) + i * j
    end do
  end do
  res = a(n, n)
end subroutine

! CHECK: in_type: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine in_type(n, res)
  implicit none
  type grid
    integer :: cells
    real(8), allocatable :: field(:)
  end type
  integer :: n, i
  real(8) :: res
  type(grid) :: g
  g%cells = n
  allocate(g%field(n))
  g%field = 2
  !$omp parallel do schedule(static)
  do i = 1, g%cells
    g%field(i) = g%field(i) + i
  end do
  res = g%field(n)
end subroutine

subroutine kernel(n, a)
  implicit none
  integer :: n, i
  real(8) :: a(n)
  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = a(i) + i
  end do
end subroutine
! CHECK: by_argument: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine by_argument(n, res)
  implicit none
  integer :: n
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(n))
  a = 3
  call kernel(n, a)
  res = a(n)
end subroutine

! Threads write it first.
subroutine never_parallel(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(n))
  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = i
  end do
  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = a(i) + i
  end do
  res = a(n)
end subroutine

! A part of it only is written, and used.
subroutine never_part(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(n))
  a(1:n/4) = 1
  !$omp parallel do schedule(static)
  do i = 1, n / 4
    a(i) = a(i) + i
  end do
  res = a(n / 4)
end subroutine

! One thread writes it, and the same one uses it.
subroutine never_serial(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(n))
  do i = 1, n
    a(i) = i
  end do
  do i = 2, n
    a(i) = a(i) + a(i - 1)
  end do
  res = a(n)
end subroutine

! Grows by assignment: what it was before is copied.
subroutine never_grown(n, res)
  implicit none
  integer :: n, i, k
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(1))
  a(1) = 1
  do i = 1, 3
    a = [a, (1d0, k = 1, n / 3)]
  end do
  !$omp parallel do schedule(static)
  do i = 1, size(a)
    a(i) = a(i) + i
  end do
  res = a(size(a))
end subroutine

! Apart, so that nothing is inlined into it when remarks are counted.
#ifdef MAIN
program main
  implicit none
  real(8) :: r(9)
  call assigned(700000, r(1))
  call by_pointer(700000, r(2))
  call collapsed(900, r(3))
  call never_parallel(700000, r(4))
  call never_part(700000, r(5))
  call never_serial(700000, r(6))
  call in_type(700000, r(7))
  call by_argument(700000, r(8))
  call never_grown(700000, r(9))
  print '(9F20.1)', r
end program
#endif
! CHECK: end
