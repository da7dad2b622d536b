! Two COMMON blocks, one of them with initial values.
block data start
  integer :: table(700000)
  common /filled/ table
  data table /700000*3/
end block data

program main
  integer :: table(700000)
  common /filled/ table
  double precision :: field(700000)
  common /fields/ field
  field = field + 1.0d0
  if (any(field /= 1.0d0) .or. any(table /= 3)) stop 1
  print '(a)', 'values are right'
end program main
