! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Allocatable arrays: growth, move_alloc, automatic reallocation, pointers.
module growing
  implicit none
contains
  subroutine append(list, used, value)
    integer, allocatable, intent(inout) :: list(:)
    integer, intent(inout) :: used
    integer, intent(in) :: value
    integer, allocatable :: bigger(:)
    if (used == size(list)) then
      allocate (bigger(2 * size(list) + 1))
      bigger(1:used) = list
      call move_alloc(bigger, list)
    end if
    used = used + 1
    list(used) = value
  end subroutine append

  function prefix(values) result(sums)
    integer, intent(in) :: values(:)
    integer, allocatable :: sums(:)
    integer :: i
    allocate (sums(size(values)), source=values)
    do i = 2, size(sums)
      sums(i) = mod(sums(i - 1) + values(i), 10007)
    end do
  end function prefix
end module growing

program allocatable_arrays
  use growing
  implicit none
  integer, allocatable :: list(:), other(:)
  integer, allocatable, target :: cube(:, :, :)
  integer, pointer :: plane(:, :), line(:)
  integer :: used = 0, i
  allocate (list(0))
  do i = 1, 1000
    call append(list, used, mod(i * i, 97))
  end do
  other = list(1:used:3)
  other = [other, prefix(list(1:used))]
  allocate (cube(0:11, -3:8, 10), source=0)
  do i = 1, 10
    cube(:, :, i) = spread(list(i:i + 11), 2, 12) * i
  end do
  plane => cube(:, 2, :)
  line => cube(5, ::2, 7)
  plane = plane + 1
  line = line(size(line):1:-1) - 2
  print *, size(list), size(other), sum(other), other(size(other))
  print *, sum(cube), sum(plane), sum(line), maxval(cube)
  if (size(other) /= 1334) stop 1
end program allocatable_arrays
