! Fortran programs cannot say what mpgsim --sample is to record.
! REQUIRES: flang-22
! RUN: cd %t
! RUN: %sim-f -O2 %source/runtime/fortran/mpg.f90 %s -o app
! RUN: %status 0 %mpgsim --sample ./app 2>&1 | FileCheck %s
! CHECK: 4500.0
! CHECK: measured: {{15[0-3]|30[0-3]}}{{.}} loads and stores
! CHECK-NEXT: Sample: from mpg_sim_begin to mpg_sim_end, 3 times;
! CHECK: grid (heap
! RUN: %status 0 %mpgsim --sample=add ./app 2>&1 | FileCheck %s --check-prefix=NAMED
! NAMED: Sample: add, 3 times;
! Without --mpg-sim the calls do nothing.
! RUN: %plain-f -O2 %source/runtime/fortran/mpg.f90 %s -o plain && ./plain | FileCheck %s --check-prefix=PLAIN
! PLAIN: 4500.0
module state
  real(8), allocatable :: grid(:)
contains
  subroutine add(value)
    real(8), intent(in) :: value
    integer :: i
    do i = 1, size(grid)
      grid(i) = value
    end do
  end subroutine
end module
program sums
  use state
  use mpg
  implicit none
  integer :: round
  real(8) :: total
  allocate (grid(1000))
  total = 0
  do round = 1, 3
    call mpg_sim_begin()
    !dir$ noinline
    call add(round * 0.75d0)
    call mpg_sim_end()
    total = total + sum(grid)
  end do
  print '(f8.1)', total
end program
