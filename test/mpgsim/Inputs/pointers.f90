! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! The program of shapes.test with pointers in derived types, which Flang's
! runtime allocates. A scratch block comes first and goes: the memory that one
! of the two gets in its place has its name.
module fields
  implicit none
  integer, parameter :: tableSize = 4 * 2**17, streamSize = 4 * 2**20
  type field
    real(8), pointer :: values(:) => null()
  end type
  type state
    type(field) :: table, strm
  end type
contains
  subroutine make(one, n)
    type(field), intent(inout) :: one
    integer, intent(in) :: n
    allocate(one%values(n))
    one%values = 1
  end subroutine
end module
program pointers
  use fields
  implicit none
  type(state) :: all
  real(8), pointer :: scratch(:)
  real(8) :: total
  integer :: round, part, i
  allocate(scratch(tableSize))
  scratch = 2
  total = sum(scratch)
  deallocate(scratch)
  call make(all%table, tableSize)
  call make(all%strm, streamSize)
  do round = 1, 2
    do part = 0, streamSize / tableSize - 1
      do i = 1, tableSize
        total = total + all%table%values(i) * all%strm%values(part * tableSize + i)
      end do
    end do
  end do
  print *, total
end program
