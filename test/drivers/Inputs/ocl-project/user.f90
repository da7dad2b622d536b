subroutine user(n, x, y)
  use kinds
  integer :: n
  real(rp) :: x(n), y(n)
!ocl noalias
!ocl scache_isolate_assign(x) ! comment
  do i = 1, n
    y(i) = y(i) + &
    !ocl unroll(4)
      x(i)
  end do
!ocl end_scache_isolate_assign
end
