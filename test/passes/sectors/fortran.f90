! Fortran: an allocatable array of a module has its size in its descriptor; one of the
! procedure in its allocation; an array of a number of rows in its bounds.
! REQUIRES: flang-22, llvm-22
! RUN: %build/bin/mpg-flang --target=aarch64-linux-gnu -mcpu=a64fx -O3 --mpg-sector=auto --mpg-verify=on -Rpass=mpg -Rpass-missed=mpg -c %s -o %t.o 2> %t.said
! RUN: FileCheck %s < %t.said
! RUN: llvm-nm-22 %t.o | grep -w 'w mpg_sector_begin'
module data
  real(8), allocatable :: table(:), values(:)
  integer, allocatable :: at(:)
contains
  function gather() result(s)
    real(8) :: s
    integer :: i
    s = 0
    ! CHECK-DAG: fortran.f90:[[#@LINE+1]]:5: remark: sector 1 gets 1 of 14 ways of L2 for {{at, values|values, at}}, used once, beside table, if the sizes fit
    do i = 1, size(values)
      s = s + table(at(i)) * values(i)
    end do
  end function
end module
subroutine product(n, m, a, x, y)
  integer :: n, m, i, j
  real(8) :: a(m, n), x(m), y(n)
  do i = 1, n
    y(i) = 0
    ! CHECK-DAG: fortran.f90:{{[0-9]+}}:{{[0-9]+}}: remark: sector 1 gets 1 of 14 ways of L2 for a, used once, beside x, if the sizes fit
    do j = 1, m
      y(i) = y(i) + a(j, i) * x(j)
    end do
  end do
end subroutine
subroutine own(n, m, at, s)
  integer :: n, m, i
  integer :: at(m)
  real(8) :: s
  real(8), allocatable :: table(:), v(:)
  allocate(table(n), v(m))
  call fill(table, v)
  s = 0
  ! CHECK-DAG: fortran.f90:[[#@LINE+1]]:3: remark: sector 1 gets 1 of 14 ways of L2 for at and 1 array, used once, beside 1 array, if
  do i = 1, m
    s = s + table(at(i)) * v(i)
  end do
  deallocate(table, v)
end subroutine
subroutine unknown(n, at, v, x, s)
  integer :: n, i
  integer :: at(n)
  real(8) :: v(n), x(*), s
  s = 0
  ! CHECK-DAG: fortran.f90:[[#@LINE+1]]:3: remark: {{.*}}: the size of what is used again is not known in front of it
  do i = 1, n
    s = s + x(at(i)) * v(i)
  end do
end subroutine
