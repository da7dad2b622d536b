module kinds
  integer, parameter :: rp = 8
  interface
    module subroutine work(n, x, y)
      integer, intent(in) :: n
      real(rp), intent(inout) :: x(n), y(n)
    end subroutine
  end interface
end module
