! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Module mpg_kernels: the kernels of libmpg for Fortran 2018. Compile this file
! with the compiler of the program (module files fit one compiler only) and link
! with -lmpgrt:
!
!   flang -c /usr/share/mpgtools/fortran/mpg_kernels.f90
!   flang app.f90 mpg_kernels.o -lmpgrt
!
! What each function does and returns stands in <mpg/kernels.h>; the names are
! the same. Ranges are C's as well: begin counts from 0 and end is after the
! last one, so all of array a(n) is 0, n. They are integer(c_int64_t). Loops over
! the threads of a team are the program's: !$omp parallel do over ranges.
module mpg_kernels
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: mpg_kernel_variant, mpg_kernel_error
  public :: mpg_stream_tuning, mpg_stream_tuning_default
  public :: mpg_stream_copy, mpg_stream_scale, mpg_stream_add, mpg_stream_triad
  public :: mpg_embedding, mpg_embedding_default, mpg_embedding_lookup
  public :: mpg_saxpy, mpg_chase_fill, mpg_chase, mpg_random_update

  ! -1 in non_temporal_bytes: never.
  type, bind(C) :: mpg_stream_tuning
    integer(c_int32_t) :: struct_bytes, prefetch_bytes, zero_fill_bytes
    integer(c_int64_t) :: non_temporal_bytes
  end type

  ! Rows are C's: table(dim, rows), out(dim, count); indices count from 0.
  type, bind(C) :: mpg_embedding
    integer(c_int32_t) :: struct_bytes, element_bytes, index_bytes, table_tag
    type(c_ptr) :: table
    integer(c_int64_t) :: rows, dim, table_stride
    type(c_ptr) :: indices, out
    integer(c_int64_t) :: out_stride
  end type

  ! error = mpg_stream_triad(a, b, c, s, begin, end, tuning): double precision or
  ! single, as the arrays are; without tuning: the defaults.
  interface mpg_stream_copy
    function stream_copy_f64(a, b, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_copy_f64")
      import
      real(c_double), intent(inout), target :: a(*)
      real(c_double), intent(in), target :: b(*)
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
    function stream_copy_f32(a, b, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_copy_f32")
      import
      real(c_float), intent(inout), target :: a(*)
      real(c_float), intent(in), target :: b(*)
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
  end interface

  interface mpg_stream_scale
    function stream_scale_f64(a, b, s, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_scale_f64")
      import
      real(c_double), intent(inout), target :: a(*)
      real(c_double), intent(in), target :: b(*)
      real(c_double), value :: s
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
    function stream_scale_f32(a, b, s, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_scale_f32")
      import
      real(c_float), intent(inout), target :: a(*)
      real(c_float), intent(in), target :: b(*)
      real(c_float), value :: s
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
  end interface

  interface mpg_stream_add
    function stream_add_f64(a, b, c, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_add_f64")
      import
      real(c_double), intent(inout), target :: a(*)
      real(c_double), intent(in), target :: b(*), c(*)
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
    function stream_add_f32(a, b, c, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_add_f32")
      import
      real(c_float), intent(inout), target :: a(*)
      real(c_float), intent(in), target :: b(*), c(*)
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
  end interface

  interface mpg_stream_triad
    function stream_triad_f64(a, b, c, s, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_triad_f64")
      import
      real(c_double), intent(inout), target :: a(*)
      real(c_double), intent(in), target :: b(*), c(*)
      real(c_double), value :: s
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
    function stream_triad_f32(a, b, c, s, begin, end, tuning) result(error) &
        bind(C, name="mpg_stream_triad_f32")
      import
      real(c_float), intent(inout), target :: a(*)
      real(c_float), intent(in), target :: b(*), c(*)
      real(c_float), value :: s
      integer(c_int64_t), value :: begin, end
      type(mpg_stream_tuning), intent(in), optional :: tuning
      integer(c_int) :: error
    end function
  end interface

  interface
    ! struct_bytes is c_sizeof(tuning), as in C.
    function mpg_stream_tuning_default(tuning) result(error) bind(C)
      import
      type(mpg_stream_tuning), intent(inout) :: tuning
      integer(c_int) :: error
    end function

    function mpg_embedding_default(rows, dim, element_bytes, index_bytes) &
        result(embedding) bind(C)
      import
      integer(c_int64_t), value :: rows, dim
      integer(c_int32_t), value :: element_bytes, index_bytes
      type(mpg_embedding) :: embedding
    end function

    function mpg_embedding_lookup(embedding, begin, end) result(error) bind(C)
      import
      type(mpg_embedding), intent(in) :: embedding
      integer(c_int64_t), value :: begin, end
      integer(c_int) :: error
    end function

    ! y(i * stride + 1), i from begin, below end.
    function mpg_saxpy(y, x, a, begin, end, stride) result(error) &
        bind(C, name="mpg_saxpy_f32")
      import
      real(c_float), intent(inout), target :: y(*)
      real(c_float), intent(in), target :: x(*)
      real(c_float), value :: a
      integer(c_int64_t), value :: begin, end, stride
      integer(c_int) :: error
    end function

    function mpg_chase_fill(buffer, bytes, stride_bytes, seed) result(cell) &
        bind(C)
      import
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes, stride_bytes
      integer(c_int64_t), value :: seed
      type(c_ptr) :: cell
    end function

    function mpg_chase(cell, steps) result(reached) bind(C)
      import
      type(c_ptr), value :: cell
      integer(c_int64_t), value :: steps
      type(c_ptr) :: reached
    end function

    function mpg_random_update(table, words, begin, end) result(error) &
        bind(C, name="mpg_random_update_u64")
      import
      integer(c_int64_t), intent(inout) :: table(*)
      integer(c_int64_t), value :: words, begin, end
      integer(c_int) :: error
    end function

    function kernel_variant_c() result(text) bind(C, name="mpg_kernel_variant")
      import
      type(c_ptr) :: text
    end function

    function kernel_error_c() result(text) bind(C, name="mpg_kernel_error")
      import
      type(c_ptr) :: text
    end function

    function strlen(text) result(length) bind(C)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  function from_c(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(text, letters, [strlen(text)])
    allocate (character(size(letters)) :: copy)
    do i = 1, size(letters)
      copy(i:i) = letters(i)
    end do
  end function

  function mpg_kernel_variant() result(text)
    character(:), allocatable :: text
    text = from_c(kernel_variant_c())
  end function

  function mpg_kernel_error() result(text)
    character(:), allocatable :: text
    text = from_c(kernel_error_c())
  end function
end module
