! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! The program of shapes.test in Fortran: both arrays are allocatable and of a
! module.
module fields
  implicit none
  integer, parameter :: tableSize = 4 * 2**17, streamSize = 4 * 2**20
  real(8), allocatable :: table(:), strm(:)
contains
  subroutine make(array, n)
    real(8), allocatable, intent(out) :: array(:)
    integer, intent(in) :: n
    allocate(array(n))
    array = 1
  end subroutine
end module
program shapes
  use fields
  implicit none
  real(8) :: total
  integer :: round, part, i
  call make(table, tableSize)
  call make(strm, streamSize)
  total = 0
  do round = 1, 2
    do part = 0, streamSize / tableSize - 1
      do i = 1, tableSize
        total = total + table(i) * strm(part * tableSize + i)
      end do
    end do
  end do
  print *, total
end program
