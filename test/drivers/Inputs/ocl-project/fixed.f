      subroutine fixed(n, x, y)
      integer n
      real*8 x(n), y(n)
*ocl  scache_isolate_assign(x)
      do 10 i = 1, n
   10 y(i) = y(i) + x(i)
cocl  end_scache_isolate_assign
      end
