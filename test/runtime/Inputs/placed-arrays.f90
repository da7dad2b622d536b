! Allocatable arrays, assigned to as a whole before the parallel use.
!
!   placed-arrays MIB

program placed_arrays
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine placed_begin(threads, heap_bytes) bind(c)
      import :: c_int, c_long
      integer(c_int), value :: threads
      integer(c_long), value :: heap_bytes
    end subroutine
    subroutine placed_end() bind(c)
    end subroutine
    subroutine placed_where(name, array, iterations, step, chunk) bind(c)
      import :: c_char, c_double, c_long
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: array(*)
      integer(c_long), value :: iterations, step, chunk
    end subroutine
    subroutine placed_result(array, bytes) bind(c)
      import :: c_double, c_long
      real(c_double), intent(in) :: array(*)
      integer(c_long), value :: bytes
    end subroutine
  end interface
  real(c_double), allocatable :: a(:), b(:)
  character(len=16) :: argument
  integer(c_long) :: i, n, mib

  call get_command_argument(1, argument)
  read (argument, *) mib
  n = mib * 131072
  call placed_begin(0, 2 * n * 8)
  allocate (a(n), b(n))
  a = 3.0d0
  b = 0.0d0
  !$omp parallel do schedule(static)
  do i = 1, n
    b(i) = b(i) + 2 * a(i) + mod(i, 1000_c_long)
  end do
  !$omp end parallel do
  call placed_end()
  call placed_where("a" // c_null_char, a, n, 8_c_long, 0_c_long)
  call placed_where("b" // c_null_char, b, n, 8_c_long, 0_c_long)
  call placed_result(b, 8 * n)
  deallocate (a, b)
end program
