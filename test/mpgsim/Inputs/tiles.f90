! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Allocatable members of a member of the elements of an allocatable member, as
! CloverLeaf has them.
module definitions
  implicit none
  type fields
    real(8), allocatable :: density(:), energy(:)
  end type
  type tile
    integer :: count = 0
    type(fields) :: field
  end type
  type chunks
    integer :: first = 0
    type(tile), allocatable :: tiles(:)
  end type
  type(chunks) :: chunk
end module

subroutine build(n)
  use definitions
  implicit none
  integer, intent(in) :: n
  integer :: t
  do t = 1, size(chunk%tiles)
    allocate(chunk%tiles(t)%field%density(n))
    allocate(chunk%tiles(t)%field%energy(n))
  end do
end subroutine

program tiles
  use definitions
  implicit none
  integer :: t
  allocate(chunk%tiles(2))
  call build(10000)
  do t = 1, 2
    chunk%tiles(t)%field%density = t
    chunk%tiles(t)%field%energy = chunk%tiles(t)%field%density * 2
  end do
  print *, sum(chunk%tiles(2)%field%energy)
end program
