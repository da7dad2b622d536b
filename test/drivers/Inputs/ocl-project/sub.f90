submodule (kinds) implementation
contains
  module subroutine work(n, x, y)
    integer, intent(in) :: n
    real(rp), intent(inout) :: x(n), y(n)
    integer :: i
    !OCL SCACHE_ISOLATE_ASSIGN(x)
    do i = 1, n
      y(i) = y(i) + x(i)
    end do
    !OCL END_SCACHE_ISOLATE_ASSIGN
  end subroutine
end submodule
