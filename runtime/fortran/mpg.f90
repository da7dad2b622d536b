! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Module mpg: the functions of libmpg that place data, for Fortran 2018. Compile
! this file with the compiler of the program (module files fit one compiler
! only) and link with -lmpgrt:
!
!   flang -c /usr/share/mpgtools/fortran/mpg.f90
!   flang -fopenmp app.f90 mpg.o -lmpgrt
!
! What each function does, what it returns, and who owns the memory stands in
! <mpg/mpg.h> and <mpg/pass.h>; the names are the same. Here are only the
! interfaces, and mpg_first_touch for arrays as Fortran sees them. Sizes are
! integer(c_size_t); a C pointer becomes an array with c_f_pointer.
module mpg
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: mpg_first_touch
  public :: mpg_where, mpg_print_where
  public :: mpg_replicate, mpg_local_copy, mpg_node_copy, mpg_replica_free
  public :: mpg_alloc_onnode, mpg_interleave, mpg_free_pages
  public :: mpg_move, mpg_moved, mpg_node_here, mpg_next_touch
  public :: mpg_move_start, mpg_move_wait
  public :: mpg_sim_begin, mpg_sim_end

  integer(c_int), parameter :: mpg_node_here = -1, mpg_next_touch = -2

  ! What became of the bytes, struct mpg_moved of <mpg/mpg.h>.
  type, bind(C) :: mpg_moved
    integer(c_int64_t) :: moved_bytes, there_bytes, left_bytes
    integer(c_int64_t) :: later_bytes, absent_bytes
    integer(c_int32_t) :: node, reason
  end type

  ! call mpg_first_touch(a, chunk, threads, collapse), all but `a` optional:
  ! the pages of array `a`, each by the thread that will work on it in a loop
  ! over its last dimension (its last `collapse` dimensions, collapsed) with
  ! schedule(static), or schedule(static, chunk) if there is one. Call it right
  ! after the allocate statement. `a` is contiguous, as allocatable arrays are;
  ! arrays of other types: the form with type(c_ptr), as in C.
  interface mpg_first_touch
    subroutine mpg_first_touch_c(p, bytes, sched, step, chunk, threads) &
        bind(C, name="mpg_first_touch")
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes, step, chunk
      integer(c_int32_t), value :: sched, threads
    end subroutine
    module procedure touch_real4, touch_real8, touch_complex4, touch_complex8
    module procedure touch_integer4, touch_integer8
  end interface

  interface
    ! bytes_on_node(n + 1) becomes the number of bytes on node n; c_size_t's -1
    ! is the error.
    function mpg_where(p, bytes, bytes_on_node, nodes) result(present_bytes) &
        bind(C)
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: p
      integer(c_size_t), value :: bytes
      integer(c_int), value :: nodes
      integer(c_size_t), intent(out) :: bytes_on_node(nodes)
      integer(c_size_t) :: present_bytes
    end function

    subroutine print_where_c(p, bytes, name) bind(C, name="mpg_print_where")
      import :: c_ptr, c_size_t, c_char
      type(c_ptr), value :: p
      integer(c_size_t), value :: bytes
      character(kind=c_char), intent(in) :: name(*)
    end subroutine

    ! 0, or a negative errno with nothing moved.
    function mpg_move(p, bytes, node, moved) result(error) bind(C)
      import :: c_ptr, c_size_t, c_int, mpg_moved
      type(c_ptr), value :: p
      integer(c_size_t), value :: bytes
      integer(c_int), value :: node
      type(mpg_moved), intent(out) :: moved
      integer(c_int) :: error
    end function

    ! A handle, or a negative errno with nothing started.
    function mpg_move_start(p, bytes, node) result(handle) bind(C)
      import :: c_ptr, c_size_t, c_int, c_int64_t
      type(c_ptr), value :: p
      integer(c_size_t), value :: bytes
      integer(c_int), value :: node
      integer(c_int64_t) :: handle
    end function

    ! As mpg_move, once for each handle.
    function mpg_move_wait(handle, moved) result(error) bind(C)
      import :: c_int, c_int64_t, mpg_moved
      integer(c_int64_t), value :: handle
      type(mpg_moved), intent(out) :: moved
      integer(c_int) :: error
    end function

    function mpg_replicate(p, bytes) result(replica) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: p
      integer(c_size_t), value :: bytes
      type(c_ptr) :: replica
    end function

    function mpg_local_copy(replica) result(p) bind(C)
      import :: c_ptr
      type(c_ptr), value :: replica
      type(c_ptr) :: p
    end function

    function mpg_node_copy(replica, node) result(p) bind(C)
      import :: c_ptr, c_int
      type(c_ptr), value :: replica
      integer(c_int), value :: node
      type(c_ptr) :: p
    end function

    subroutine mpg_replica_free(replica) bind(C)
      import :: c_ptr
      type(c_ptr), value :: replica
    end subroutine

    function mpg_alloc_onnode(bytes, node) result(p) bind(C)
      import :: c_ptr, c_size_t, c_int
      integer(c_size_t), value :: bytes
      integer(c_int), value :: node
      type(c_ptr) :: p
    end function

    function mpg_interleave(bytes) result(p) bind(C)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
      type(c_ptr) :: p
    end function

    ! What mpgsim --sample records is between these two.
    subroutine mpg_sim_begin() bind(C)
    end subroutine
    subroutine mpg_sim_end() bind(C)
    end subroutine

    subroutine mpg_free_pages(p, bytes) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: p
      integer(c_size_t), value :: bytes
    end subroutine
  end interface

contains

  ! `name` without its trailing blanks.
  subroutine mpg_print_where(p, bytes, name)
    type(c_ptr), intent(in) :: p
    integer(c_size_t), intent(in) :: bytes
    character(*), intent(in) :: name
    call print_where_c(p, bytes, trim(name)//c_null_char)
  end subroutine

  ! `extents` of an array of elements of `bits` bits. Rank 0 and arrays of size
  ! zero: nothing to do.
  subroutine touch(p, extents, bits, chunk, threads, collapse)
    type(c_ptr), intent(in) :: p
    integer(c_int64_t), intent(in) :: extents(:)
    integer, intent(in) :: bits
    integer, intent(in), optional :: chunk, threads, collapse
    integer(c_int64_t) :: step, iterations, chunk_iterations
    integer(c_int32_t) :: sched, team
    integer :: inner
    inner = size(extents) - 1
    if (present(collapse)) inner = max(0, size(extents) - collapse)
    step = product(extents(:inner)) * (bits / 8)
    iterations = product(extents(inner + 1:))
    if (size(extents) == 0 .or. step * iterations == 0) return
    sched = 0
    chunk_iterations = 0
    if (present(chunk)) then
      sched = 1
      chunk_iterations = chunk
    end if
    team = 0
    if (present(threads)) team = threads
    call mpg_first_touch_c(p, step * iterations, sched, step, &
      chunk_iterations, team)
  end subroutine

  ! One for each type: Fortran tells the size of an element only of a type that
  ! it knows.
  subroutine touch_real4(a, chunk, threads, collapse)
    real(c_float), intent(inout), target, contiguous :: a(..)
    integer, intent(in), optional :: chunk, threads, collapse
    call touch(c_loc(a), shape(a, c_int64_t), storage_size(a), &
      chunk, threads, collapse)
  end subroutine

  subroutine touch_real8(a, chunk, threads, collapse)
    real(c_double), intent(inout), target, contiguous :: a(..)
    integer, intent(in), optional :: chunk, threads, collapse
    call touch(c_loc(a), shape(a, c_int64_t), storage_size(a), &
      chunk, threads, collapse)
  end subroutine

  subroutine touch_complex4(a, chunk, threads, collapse)
    complex(c_float), intent(inout), target, contiguous :: a(..)
    integer, intent(in), optional :: chunk, threads, collapse
    call touch(c_loc(a), shape(a, c_int64_t), storage_size(a), &
      chunk, threads, collapse)
  end subroutine

  subroutine touch_complex8(a, chunk, threads, collapse)
    complex(c_double), intent(inout), target, contiguous :: a(..)
    integer, intent(in), optional :: chunk, threads, collapse
    call touch(c_loc(a), shape(a, c_int64_t), storage_size(a), &
      chunk, threads, collapse)
  end subroutine

  subroutine touch_integer4(a, chunk, threads, collapse)
    integer(c_int32_t), intent(inout), target, contiguous :: a(..)
    integer, intent(in), optional :: chunk, threads, collapse
    call touch(c_loc(a), shape(a, c_int64_t), storage_size(a), &
      chunk, threads, collapse)
  end subroutine

  subroutine touch_integer8(a, chunk, threads, collapse)
    integer(c_int64_t), intent(inout), target, contiguous :: a(..)
    integer, intent(in), optional :: chunk, threads, collapse
    call touch(c_loc(a), shape(a, c_int64_t), storage_size(a), &
      chunk, threads, collapse)
  end subroutine
end module
