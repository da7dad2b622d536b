! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Derived types with components, type-bound procedures, inheritance, lists.
module shapes
  implicit none
  type, abstract :: shape
    real(8) :: at(3) = 0
    character(8) :: name = ''
  contains
    procedure(measure), deferred :: volume
    procedure :: shift
  end type shape
  abstract interface
    real(8) function measure(self)
      import shape
      class(shape), intent(in) :: self
    end function measure
  end interface
  type, extends(shape) :: box
    real(8) :: sides(3) = 1
  contains
    procedure :: volume => boxVolume
  end type box
  type, extends(shape) :: cloud
    real(8), allocatable :: points(:, :)
  contains
    procedure :: volume => cloudVolume
  end type cloud
  type :: holder
    class(shape), allocatable :: item
  end type holder
  type :: node
    integer :: value
    type(node), pointer :: next => null()
  end type node
contains
  subroutine shift(self, by)
    class(shape), intent(inout) :: self
    real(8), intent(in) :: by(3)
    self%at = self%at + by
  end subroutine shift
  real(8) function boxVolume(self)
    class(box), intent(in) :: self
    boxVolume = product(self%sides)
  end function boxVolume
  real(8) function cloudVolume(self)
    class(cloud), intent(in) :: self
    integer :: i
    cloudVolume = 1
    do i = 1, 3
      cloudVolume = cloudVolume * &
        (maxval(self%points(i, :)) - minval(self%points(i, :)))
    end do
  end function cloudVolume
end module shapes

program derived_types
  use shapes
  implicit none
  type(holder) :: items(40)
  type(cloud) :: one
  type(node), pointer :: list, fresh
  integer :: i, k, total
  real(8) :: volumes(40), places(3)
  nullify (list)
  do i = 1, 40
    if (mod(i, 2) == 0) then
      allocate (items(i)%item, source=box(sides=[1d0 * i, 2d0, 0.5d0]))
    else
      one%points = reshape([(mod(k * i, 13) * 0.5d0, k = 1, 30)], [3, 10])
      allocate (items(i)%item, source=one)
    end if
    call items(i)%item%shift([1d0, i * 1d0, -0.5d0])
    allocate (fresh)
    fresh%value = i
    fresh%next => list
    list => fresh
  end do
  places = 0
  do i = 1, 40
    volumes(i) = items(i)%item%volume()
    places = places + items(i)%item%at
  end do
  total = 0
  do while (associated(list))
    total = 3 * mod(total, 100003) + list%value
    list => list%next
  end do
  print '(2f16.6, 3f10.2, i8)', sum(volumes), volumes(39), places, total
  if (abs(places(2) - 820) > 1e-12) stop 1
end program derived_types
