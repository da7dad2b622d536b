! A shared library with large COMMON blocks, called from program.f90: /fields/ is
! the program's and must be one and the same here, /owned/ and the SAVE array
! are the library's.

block data libraryStart
  integer :: owned(600000)
  common /owned/ owned
  data owned /600000*6/
end block data libraryStart

subroutine libraryFill(step)
  integer, intent(in) :: step
  double precision :: field(700000)
  common /fields/ field
  integer :: owned(600000)
  common /owned/ owned
  integer, save :: kept(500000) = 0
  double precision, allocatable :: copy(:)
  copy = field
  kept(500000) = kept(500000) + owned(600000)
  field = copy + step
  if (kept(500000) /= 6 .or. any(owned /= 6)) stop 20
end subroutine libraryFill
