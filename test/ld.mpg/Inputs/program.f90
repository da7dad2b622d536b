! Fortran: two COMMON blocks, one of them with initial values, and a SAVE array.
block data start
  integer :: table(500000)
  common /filled/ table
  data table /500000*3/
end block data

subroutine fill(step)
  integer, intent(in) :: step
  double precision :: field(700000)
  integer :: calls(400000) = 0
  save :: calls
  common /fields/ field
  integer :: i
  do i = 1, 700000
    field(i) = field(i) + step
  end do
  calls(400000) = calls(400000) + 1
  if (calls(400000) /= step) stop 2
end subroutine fill

program main
  integer :: table(500000)
  common /filled/ table
  double precision :: field(700000)
  common /fields/ field
  call fill(1)
  call fill(2)
  if (any(field /= 3.0d0) .or. any(table /= 3)) stop 1
  print '(a)', 'values are right'
end program main
