! Remarks about regions and loops in Fortran: too little work, a nested region, few
! iterations, counters in one cache line. Wrong: told. Repaired: silence.
! REQUIRES: flang
! RUN: %remarks-f %s | FileCheck %s
! RUN: %remarks-f -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
! RUN: %same-f -DMAIN %s | FileCheck %s --check-prefix=SAME
! RUN: %same-f -DMAIN -DREPAIRED %s | FileCheck %s --check-prefix=SAME
! SAME: same: 20 runs
! REPAIRED: end

! CHECK: tiny: calls 0, SmallParallelRegion@{{[0-9]+}}
subroutine tiny(a, b)
  implicit none
  integer, parameter :: n = 100
  real(8) :: a(n), b(n)
  integer :: i
#ifdef REPAIRED
  !$omp parallel do if(n > 8000)
#else
  !$omp parallel do
#endif
  do i = 1, n
    a(i) = b(i) + 1
  end do
end subroutine

! Inlined into its caller it is told there, with this line.
! CHECK: {{library|caller}}: calls 0, SmallParallelRegion@{{[0-9]+}}
subroutine library(a, n)
  use omp_lib
  implicit none
  integer :: n, i
  real(8) :: a(n)
#ifdef REPAIRED
  !$omp parallel do if(.not. omp_in_parallel())
#else
  !$omp parallel do
#endif
  do i = 1, n
    a(i) = a(i) + i
  end do
end subroutine

subroutine caller(rows, n)
  implicit none
  integer :: n, r
  real(8) :: rows(n, 256)
  !$omp parallel do
  do r = 1, 256
    call library(rows(:, r), n)
  end do
end subroutine

! CHECK: coarse: calls 0, CoarseLoop@{{[0-9]+}}
subroutine coarse(a, res)
  implicit none
  real(8) :: a(20000, 20), res
  integer :: l, k
  res = 0
#ifdef REPAIRED
  !$omp parallel do num_threads(8) schedule(static) reduction(+:res) collapse(2)
#else
  !$omp parallel do num_threads(8) schedule(static) reduction(+:res)
#endif
  do l = 1, 20
    do k = 1, 20000
      res = res + a(k, l)
    end do
  end do
end subroutine

! CHECK: counters: calls 0, FalseSharing@{{[0-9]+}}
subroutine counters(compute, n, total)
  use omp_lib
  implicit none
  interface
    integer function compute(i)
      integer, intent(in) :: i
    end function
  end interface
#ifdef REPAIRED
  integer, parameter :: apart = 64
#else
  integer, parameter :: apart = 1
#endif
  integer :: n, total, i, id
  integer :: array(0:64 * apart)
  array = 0
  !$omp parallel private(id)
  id = omp_get_thread_num()
  !$omp do
  do i = 1, n
    array(id * apart) = array(id * apart) + compute(i)
  end do
  !$omp end parallel
  total = sum(array)
end subroutine

integer function times7(i)
  implicit none
  integer, intent(in) :: i
  times7 = 7 * i
end function

! Apart, so that nothing is inlined into it when remarks are counted.
#ifdef MAIN
program main
  implicit none
  integer, external :: times7
  real(8), allocatable :: a(:), b(:), rows(:,:), grid(:,:)
  real(8) :: res
  integer :: total
  allocate(a(100), b(100), rows(512, 256), grid(20000, 20))
  b = 1
  rows = 2
  grid = 3
  call tiny(a, b)
  call caller(rows, 512)
  call coarse(grid, res)
  call counters(times7, 1000, total)
  print '(3F16.1, I10)', sum(a), sum(rows), res, total
end program
#endif
