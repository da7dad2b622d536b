! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Each kernel from Fortran, against what Fortran itself computes. Numbers are
! chosen so that no rounding is involved. Calls stand alone: a compiler may look at
! an array before it calls the function beside it in one expression.
program main
  use, intrinsic :: iso_c_binding
  use mpg_kernels
  implicit none
  integer(c_int64_t), parameter :: n = 1000
  real(c_double) :: a(n), b(n), c(n)
  real(c_float) :: x(n), y(n), z(n)
  integer(c_int) :: error
  integer :: i
  logical :: right = .true.

  b = [(real(i, c_double), i=1, int(n))]
  c = 2 * b
  y = real(b)
  z = real(c)
  call stream
  call embedding
  call probes
  if (right) print '(a)', 'right'

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    right = .false.
    print '(a)', 'wrong: '//what
  end subroutine

  subroutine stream
    type(mpg_stream_tuning) :: tuning
    tuning%struct_bytes = int(c_sizeof(tuning), c_int32_t)
    call expect(mpg_stream_tuning_default(tuning) == 0, 'tuning')
    tuning%non_temporal_bytes = 0
    tuning%prefetch_bytes = 512
    tuning%zero_fill_bytes = 1024
    error = mpg_stream_copy(a, b, 0_8, n)
    call expect(error == 0 .and. all(a == b), 'copy')
    error = mpg_stream_scale(a, b, 3d0, 0_8, n, tuning)
    call expect(error == 0 .and. all(a == 3 * b), 'scale')
    error = mpg_stream_add(a, b, c, 0_8, n)
    call expect(error == 0 .and. all(a == b + c), 'add')
    a = -1
    error = mpg_stream_triad(a, b, c, 0.5d0, 10_8, 20_8, tuning)
    call expect(error == 0 .and. all(a(11:20) == b(11:20) + 0.5d0 * &
        c(11:20)) .and. all(a(:10) == -1) .and. all(a(21:) == -1), 'triad')
    error = mpg_stream_copy(x, y, 0_8, n)
    call expect(error == 0 .and. all(x == y), 'copy 4')
    error = mpg_stream_scale(x, y, 3.0, 0_8, n)
    call expect(error == 0 .and. all(x == 3 * y), 'scale 4')
    error = mpg_stream_add(x, y, z, 0_8, n, tuning)
    call expect(error == 0 .and. all(x == y + z), 'add 4')
    error = mpg_stream_triad(x, y, z, 2.0, 0_8, n)
    call expect(error == 0 .and. all(x == y + 2 * z), 'triad 4')
    tuning%struct_bytes = 3
    error = mpg_stream_copy(a, b, 0_8, n, tuning)
    call expect(error /= 0, 'struct_bytes')
    error = mpg_stream_copy(a, b, -5_8, n)
    call expect(error /= 0, 'negative')
    call expect(mpg_kernel_error() == 'begin is -5; it must not be negative', &
      'sentence')
    call expect(len(mpg_kernel_variant()) > 2, 'variant')
  end subroutine

  subroutine embedding
    integer, parameter :: dim = 7, rows = 11, count = 5
    real(c_float), target :: table(dim, rows), out(dim, count)
    integer(c_int32_t), target :: indices(count) = [3, 0, 10, 3, 7]
    type(mpg_embedding) :: e
    table = reshape([(real(i), i=1, dim * rows)], [dim, rows])
    e = mpg_embedding_default(int(rows, c_int64_t), int(dim, c_int64_t), &
        4_c_int32_t, 4_c_int32_t)
    e%table = c_loc(table)
    e%indices = c_loc(indices)
    e%out = c_loc(out)
    error = mpg_embedding_lookup(e, 0_8, int(count, c_int64_t))
    call expect(error == 0 .and. all(out == table(:, indices + 1)), 'lookup')
    indices(2) = 11
    error = mpg_embedding_lookup(e, 0_8, int(count, c_int64_t))
    call expect(error /= 0, 'index')
    print '(a)', mpg_kernel_error()
  end subroutine

  subroutine probes
    integer(c_int64_t), target :: cells(4096), table(256)
    type(c_ptr) :: first
    x = y
    error = mpg_saxpy(x, z, 2.0, 0_8, n / 4, 4_8)
    call expect(error == 0 .and. all(x(1::4) == y(1::4) + 2 * z(1::4)) .and. &
        all(x(2::4) == y(2::4)), 'saxpy')
    first = mpg_chase_fill(c_loc(cells), c_sizeof(cells), 64_c_size_t, 9_8)
    call expect(c_associated(first), 'chase fill')
    call expect(c_associated(mpg_chase(first, 512_8), first), 'chase')
    table = 4
    error = mpg_random_update(table, 256_8, 0_8, 999_8)
    call expect(error == 0 .and. any(table /= 4), 'update')
    error = mpg_random_update(table, 256_8, 0_8, 999_8)
    call expect(error == 0 .and. all(table == 4), 'update back')
  end subroutine
end program
