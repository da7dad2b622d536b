! The examples in Fortran: the simple case, matrix times vector by rows of the result and
! by parts of a column, module arrays, dynamic schedule, look-up by index. Wrong: told.
! Repaired: silence.
! REQUIRES: flang
! RUN: %remarks-f %s | FileCheck %s
! RUN: %remarks-f -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
! RUN: %same-f -DMAIN %s | FileCheck %s --check-prefix=SAME
! RUN: %same-f -DMAIN -DREPAIRED %s | FileCheck %s --check-prefix=SAME
! SAME: same: 20 runs
! REPAIRED: end
module fields
  implicit none
  real(8) :: field(2000000)
end module

! CHECK: simple: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine simple(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: a(:), b(:)
  allocate(a(n), b(n))
#ifdef REPAIRED
  !$omp parallel do schedule(static)
#endif
  do i = 1, n
    a(i) = i
  end do
  !$omp parallel do schedule(static)
  do i = 1, n
    b(i) = 3 * a(i) + 1
  end do
  res = sum(b)
end subroutine

! In Fortran the columns are what lies together: one per iteration.
! CHECK: dmvm: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine dmvm(n, m, res)
  implicit none
  integer :: n, m, r, c
  real(8) :: res
  real(8), allocatable :: mat(:,:), lhs(:), rhs(:)
  allocate(mat(m, n), lhs(n), rhs(m))
#ifdef REPAIRED
  !$omp parallel do schedule(static)
#endif
  do r = 1, n
    do c = 1, m
      mat(c, r) = mod(r, 7) + mod(c, 5)
    end do
  end do
  !$omp parallel do schedule(static)
  do r = 1, n
    lhs(r) = 0
  end do
  do c = 1, m
    rhs(c) = mod(c, 3)
  end do
  !$omp parallel do schedule(static)
  do r = 1, n
    do c = 1, m
      lhs(r) = lhs(r) + mat(c, r) * rhs(c)
    end do
  end do
  res = sum(lhs)
end subroutine

#ifndef REPAIRED
! CHECK: inner: calls 0, {{.*}}PlacementTooFine@{{.*}}
subroutine inner(n, m, res)
  implicit none
  integer :: n, m, r, c
  real(8) :: res
  real(8), allocatable :: mat(:,:), lhs(:), rhs(:)
  allocate(mat(20000, n), lhs(20000), rhs(n))
  do r = 1, n
    do c = 1, 20000
      mat(c, r) = mod(r, 7) + mod(c, 5)
    end do
  end do
  lhs = 0
  do r = 1, n
    rhs(r) = mod(r, 3)
  end do
  do r = 1, n
    !$omp parallel do schedule(static)
    do c = 1, 20000
      lhs(c) = lhs(c) + mat(c, r) * rhs(r)
    end do
  end do
  res = sum(lhs)
end subroutine
#endif

! CHECK: global: calls 1, {{.*}}SerialFirstTouch@{{.*}}
subroutine global(res)
  use fields
  implicit none
  integer :: i
  real(8) :: res
#ifdef REPAIRED
  !$omp parallel do schedule(static)
#endif
  do i = 1, 2000000
    field(i) = i
  end do
  !$omp parallel do schedule(static)
  do i = 1, 2000000
    field(i) = field(i) + 1
  end do
  res = sum(field)
end subroutine

! CHECK: changing: calls 0, {{.*}}NonStaticSchedule@{{.*}}
subroutine changing(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: a(:)
  allocate(a(n))
#ifdef REPAIRED
  !$omp parallel do schedule(static)
#endif
  do i = 1, n
    a(i) = i
  end do
#ifdef REPAIRED
  !$omp parallel do schedule(static)
#else
  !$omp parallel do schedule(dynamic, 100)
#endif
  do i = 1, n
    a(i) = a(i) * 2
  end do
  res = sum(a)
end subroutine

#ifndef REPAIRED
! CHECK: lookup: calls 0, {{.*}}SharedRead@{{.*}}
subroutine lookup(n, res)
  implicit none
  integer :: n, i
  real(8) :: res
  real(8), allocatable :: table(:), out(:)
  integer, allocatable :: index(:)
  allocate(table(n), out(n), index(n))
  do i = 1, n
    table(i) = i
  end do
  !$omp parallel do schedule(static)
  do i = 1, n
    index(i) = 1 + mod(i, n)
    out(i) = 0
  end do
  !$omp parallel do schedule(static)
  do i = 1, n
    out(i) = table(index(i))
  end do
  res = sum(out)
end subroutine
#endif

! Apart, so that nothing is inlined into it when remarks are counted.
#ifdef MAIN
program main
  implicit none
  real(8) :: r(6)
  r = 0
  call simple(1000000, r(1))
  call dmvm(1000, 800, r(2))
  call global(r(3))
  call changing(700000, r(4))
#ifndef REPAIRED
  call inner(200, 20000, r(5))
  call lookup(700000, r(6))
#endif
  print '(6F18.1)', r
end program
#endif
