# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serial initialisation in disguise, in Fortran. See first_touch_disguises."""

from first_touch_disguises import Disguise

SHOW = """
  print '(a,i0,a,i0)', 'array ', int(@n, 8) * 8, ' ', 8
  print '(f20.0)', sum(@a)
"""


def fortran(name: str, text: str, **expected: int) -> Disguise:
    return Disguise(name, "fortran",
                    text.replace("<show>", SHOW.strip("\n")), **expected)


FORTRAN = [
    fortran("allocatable", """
program @f
  implicit none
  @r8, allocatable :: @a(:)
  integer :: @i, @n
  @n = @constant
  allocate(@a(@n)) !=a
-  @a = 1 !=a
+!$omp parallel do schedule(static)
+  do @i = 1, @n
+    @a(@i) = 1
+  end do
!$omp parallel do@sched
  do @i = 1, @n
    @a(@i) = @a(@i) + 3
  end do
<show>
end program
"""),
    fortran("allocatable-loop", """
program @f
  implicit none
  @r8, allocatable :: @a(:)
  integer :: @i, @n
  @n = @constant
  if (command_argument_count() > 7) @n = 10
  allocate(@a(@n)) !=a
+!$omp parallel do schedule(static)
  do @i = 1, @n           !=a
    @a(@i) = mod(@i, 5)   !=a
  end do
!$omp parallel do@sched
  do @i = 1, @n
    @a(@i) = @a(@i) @fop
  end do
<show>
end program
"""),
    fortran("module-variable", """
module @m
  implicit none
  @r8, allocatable :: @a(:)
  integer :: @n
contains
  subroutine @g()
    integer :: @i
    allocate(@a(@n)) !=a
+!$omp parallel do schedule(static)
    do @i = 1, @n         !=a
      @a(@i) = @value     !=a
    end do
  end subroutine
  subroutine @h()
    integer :: @i
!$omp parallel do@sched
    do @i = 1, @n
      @a(@i) = @a(@i) @fop
    end do
  end subroutine
end module
program @f
  use @m
  implicit none
  @n = @constant
  call @g()
  call @h()
<show>
end program
"""),
    fortran("derived-type", """
module @m
  implicit none
  type @S
    integer :: @n
    @r8, allocatable :: @a(:), @b(:)
  end type
contains
  subroutine @g(@p)
    type(@S), intent(inout) :: @p
    integer :: @i
    allocate(@p%@a(@p%@n)) !=a
+!$omp parallel do schedule(static)
    do @i = 1, @p%@n      !=a
      @p%@a(@i) = @value  !=a
    end do
  end subroutine
  subroutine @h(@p)
    type(@S), intent(inout) :: @p
    integer :: @i
!$omp parallel do@sched
    do @i = 1, @p%@n
      @p%@a(@i) = @p%@a(@i) @fop
    end do
  end subroutine
end module
program @f
  use @m
  implicit none
  type(@S) :: @q
  @q%@n = @constant
  call @g(@q)
  call @h(@q)
  print '(a,i0,a,i0)', 'array ', int(@q%@n, 8) * 8, ' ', 8
  print '(f20.0)', sum(@q%@a)
end program
"""),
    fortran("assumed-shape-argument", """
module @m
  implicit none
contains
  subroutine @g(@p)
    @r8, intent(out) :: @p(:)
-    @p = 2 !=a
+    integer :: @i
+!$omp parallel do schedule(static)
+    do @i = 1, size(@p)
+      @p(@i) = 2
+    end do
  end subroutine
  subroutine @h(@p)
    @r8, intent(inout) :: @p(:)
    integer :: @i
!$omp parallel do@sched
    do @i = 1, size(@p)
      @p(@i) = @p(@i) @fop
    end do
  end subroutine
end module
program @f
  use @m
  implicit none
  @r8, allocatable :: @a(:)
  integer :: @n
  @n = @constant
  allocate(@a(@n)) !=a
  call @g(@a)
  call @h(@a)
<show>
end program
"""),
    fortran("explicit-shape-argument", """
subroutine @h(@p, @n)
  implicit none
  integer :: @n, @i
  @r8 :: @p(@n)
!$omp parallel do@sched
  do @i = 1, @n
    @p(@i) = @p(@i) @fop
  end do
end subroutine
program @f
  implicit none
  @r8, allocatable :: @a(:)
  integer :: @n, @i
  @n = @constant
  allocate(@a(@n)) !=a
+!$omp parallel do schedule(static)
  do @i = 1, @n      !=a
    @a(@i) = @value  !=a
  end do
  call @h(@a, @n)
<show>
end program
"""),
    fortran("matrix", """
program @f
  implicit none
  @r8, allocatable :: @b(:, :)
  integer :: @i, @j, @n, @m
  @n = @columns
  @m = @rows
  allocate(@b(@n, @m)) !=a
+!$omp parallel do private(@i) schedule(static)
  do @j = 1, @m         !=a
    do @i = 1, @n       !=a
      @b(@i, @j) = 1    !=a
    end do
  end do
!$omp parallel do private(@i)@sched
  do @j = 1, @m
    do @i = 1, @n
      @b(@i, @j) = @b(@i, @j) @fop
    end do
  end do
  print '(a,i0,a,i0)', 'array ', int(@n, 8) * @m * 8, ' ', @n * 8
  print '(f20.0)', sum(@b)
end program
"""),
]
