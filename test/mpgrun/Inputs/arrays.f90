! Allocatable arrays of a module and of the program.
module fields
implicit none
real(8), allocatable :: pressure(:)
contains
subroutine setup(n)
integer, intent(in) :: n
allocate(pressure(n))
pressure = 1
end subroutine
end module
program p
use fields
implicit none
integer, parameter :: n = 4*2**17
real(8), allocatable :: table(:), strm(:)
allocate(table(n), strm(n))
table = 1; strm = 2
call setup(n)
print *, table(5) + strm(6) + pressure(7)
end program
