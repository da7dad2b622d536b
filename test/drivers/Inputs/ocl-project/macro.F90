#include "cfg.h"
subroutine macro(n, x, y)
  use kinds
  integer :: n
  real(rp) :: x(n), y(n)
#if defined(FROM_HEADER) && SECTOR == 4
!OCL SCACHE_ISOLATE_ASSIGN(x)
#else
!OCL NOSUCH
#endif
#include "loop.inc"
#ifdef FROM_HEADER
!OCL END_SCACHE_ISOLATE_ASSIGN
#endif
end
