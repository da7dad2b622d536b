! A Fortran program's arrays have no names, or it prints something else.
! REQUIRES: flang-22
! RUN: %sim-f -O2 -g %s -o %t.sim
! RUN: %status 0 %mpgsim %t.sim > %t.out 2> %t.txt
! RUN: FileCheck %s --check-prefix=SAID --input-file=%t.out
! SAID: 1497.0
! RUN: FileCheck %s --input-file=%t.txt
! CHECK: array accesses
! CHECK-DAG: field (global)
! CHECK-DAG: grid (heap, fortran.f90:[[#]])
! CHECK-DAG: work (heap, fortran.f90:[[#]])
! CHECK: fortran.f90:{{[0-9]+}} (
! CHECK: Not seen: {{.*}}_FortranA
module state
  real(8), allocatable :: grid(:)
end module
program sums
  use state
  implicit none
  real(8), save :: field(1000)
  integer :: i, round
  real(8), allocatable :: work(:)
  allocate (grid(1000), work(1000))
  do round = 1, 3
    do i = 1, 1000
      work(i) = i * round
      grid(i) = work(i)
      field(i) = mod(i, 2) + round * 0.5d0 + field(i) * 0
    end do
  end do
  print '(f8.1)', sum(field) - 503 + sum(grid) - sum(work)
end program
