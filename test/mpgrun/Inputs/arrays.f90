! Allocatable arrays of a module and of the program, also in a nested procedure.
module fields
implicit none
real(8), allocatable :: pressure(:)
contains
subroutine setup(n)
integer, intent(in) :: n
allocate(pressure(n))
pressure = 1
end subroutine
recursive subroutine change(field, times)
real(8), allocatable, intent(inout) :: field(:)
integer, intent(in) :: times
field(times) = times
if (times > 1) call change(field, times - 1)
end subroutine
end module
program p
use fields
implicit none
integer, parameter :: n = 4*2**17
real(8), allocatable :: table(:), strm(:), nested(:)
real(8), allocatable, save :: kept(:)
allocate(table(n), strm(n))
table = 1; strm = 2
call setup(n)
call nest
call change(nested, 9)
print *, table(5) + strm(6) + pressure(7) + nested(8) + kept(9)
contains
subroutine nest
allocate(nested(n), kept(n))
nested = 3; kept = 4
end subroutine
end program
