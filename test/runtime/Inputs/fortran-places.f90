! Module mpg as a program uses it. Prints where the columns of each thread lie,
! in percent on nodes 0 to 3, and `right`, or what is wrong, with status 1.
program fortran_places
  use, intrinsic :: iso_c_binding
  use omp_lib
  use mpg
  implicit none
  integer, parameter :: n = 1024, m = 12000
  integer(c_size_t), parameter :: mib = 2_c_size_t**20

  call places()
  call touches()
  call replicates()
  call allocates()
  print '(a)', 'right'

contains

  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    print '(2a)', 'wrong: ', what
    stop 1
  end subroutine

  subroutine places()
    real(c_double), allocatable, target :: a(:, :)
    integer :: j, thread, threads, first(0:63), last(0:63)
    integer(c_size_t) :: on_node(4), bytes, present_bytes
    allocate (a(n, m))
    call mpg_first_touch(a)
    ! Serial, as the programs are that need this.
    a = 1
    first = m + 1
    last = 0
    !$omp parallel private(thread)
    thread = omp_get_thread_num()
    !$omp single
    threads = omp_get_num_threads()
    !$omp end single
    !$omp do schedule(static)
    do j = 1, m
      a(:, j) = a(:, j) + thread
      first(thread) = min(first(thread), j)
      last(thread) = max(last(thread), j)
    end do
    !$omp end do
    !$omp end parallel
    do thread = 0, threads - 1
      bytes = (last(thread) - first(thread) + 1) * n * 8_c_size_t
      present_bytes = mpg_where(c_loc(a(1, first(thread))), bytes, on_node, 4)
      call check(present_bytes == bytes, 'mpg_where')
      print '(a, i0, a, 4(1x, i0))', 'thread ', thread, ':', &
        (on_node * 100) / bytes
      call check(all(a(:, last(thread)) == 1 + thread), 'the contents')
    end do
    call mpg_print_where(c_loc(a), size(a, kind=c_size_t) * 8, 'array a   ')
  end subroutine

  ! Every type and rank, every optional argument; contents stay.
  subroutine touches()
    real(c_float), allocatable :: r4(:)
    real(c_double), allocatable, target :: r8(:, :, :)
    complex(c_float), allocatable :: c4(:)
    complex(c_double), allocatable :: c8(:, :)
    integer(c_int32_t), allocatable :: i4(:)
    integer(c_int64_t), allocatable :: i8(:, :)
    real(c_double) :: scalar
    allocate (r4(3000000), r8(300, 400, 50), c4(2000000), c8(1000, 1000))
    allocate (i4(2000000), i8(2000, 1000))
    call mpg_first_touch(r4)
    r4 = 2
    call mpg_first_touch(r4, threads=3)
    call mpg_first_touch(r8, collapse=2)
    r8 = 3
    call mpg_first_touch(r8, chunk=7, collapse=3)
    call mpg_first_touch(c_loc(r8), size(r8, kind=c_int64_t) * 8, 0, 8_c_int64_t, &
      0_c_int64_t, 0)
    call mpg_first_touch(c4, chunk=1000)
    c4 = (1, 2)
    call mpg_first_touch(c8)
    c8 = (3, 4)
    call mpg_first_touch(i4, collapse=9)
    i4 = 5
    call mpg_first_touch(i8)
    i8 = 6
    scalar = 7
    call mpg_first_touch(scalar)
    call mpg_first_touch(r4(1:0))
    call mpg_first_touch(i4, chunk=0)
    call mpg_first_touch(i4, chunk=-5)
    call mpg_first_touch(i4, threads=-1)
    call check(all(r4 == 2) .and. all(r8 == 3) .and. all(c4 == (1, 2)) .and. &
      all(c8 == (3, 4)) .and. all(i4 == 5) .and. all(i8 == 6) .and. &
      scalar == 7, 'contents after mpg_first_touch')
  end subroutine

  subroutine replicates()
    real(c_float), allocatable, target :: table(:, :)
    real(c_float), pointer :: copy(:, :), buffer(:)
    type(c_ptr) :: tables, buffers
    integer :: i, wrong
    allocate (table(256, 1000))
    do i = 1, 1000
      table(:, i) = real(i)
    end do
    tables = mpg_replicate(c_loc(table), size(table, kind=c_size_t) * 4)
    buffers = mpg_replicate(c_null_ptr, 1000 * 4_c_size_t)
    call check(c_associated(tables) .and. c_associated(buffers), &
      'mpg_replicate')
    wrong = 0
    !$omp parallel private(copy, buffer) reduction(+:wrong)
    call c_f_pointer(mpg_local_copy(tables), copy, shape(table))
    call c_f_pointer(mpg_local_copy(buffers), buffer, [1000])
    !$omp do schedule(static)
    do i = 1, 1000
      buffer(i) = sum(copy(:, i))
      if (buffer(i) /= 256 * real(i)) wrong = wrong + 1
    end do
    !$omp end do
    !$omp end parallel
    call check(wrong == 0, 'a row of the local copy')
    call check(c_associated(mpg_node_copy(tables, 0)) .and. &
      .not. c_associated(mpg_node_copy(tables, -1)), 'mpg_node_copy')
    call mpg_replica_free(tables)
    call mpg_replica_free(buffers)
    call mpg_replica_free(c_null_ptr)
  end subroutine

  subroutine allocates()
    integer(c_size_t) :: on_node(1)
    type(c_ptr) :: memory
    type(mpg_moved) :: moved
    integer(c_int64_t) :: handle
    memory = mpg_alloc_onnode(8 * mib, 0)
    call check(c_associated(memory), 'mpg_alloc_onnode')
    call check(mpg_where(memory, 8 * mib, on_node, 1) == 8 * mib .and. &
      on_node(1) == 8 * mib, 'memory of node 0')
    call check(mpg_move(memory, 8 * mib, mpg_node_here, moved) == 0 .and. &
      moved%moved_bytes + moved%there_bytes == 8 * mib .and. &
      moved%reason == 0, 'mpg_move')
    call check(mpg_move(memory, 8 * mib, 0, moved) == 0, 'mpg_move to node 0')
    call check(mpg_move(memory, 8 * mib, 1000, moved) < 0, 'mpg_move to node 1000')
    handle = mpg_move_start(memory, 8 * mib, 0)
    call check(handle > 0, 'mpg_move_start')
    call check(mpg_move_wait(handle, moved) == 0 .and. &
      moved%there_bytes == 8 * mib, 'mpg_move_wait')
    call check(mpg_move_wait(handle, moved) < 0, 'mpg_move_wait, twice')
    call mpg_free_pages(memory, 8 * mib)
    call check(mpg_where(memory, 8 * mib, on_node, 1) == -1, 'mpg_free_pages')
    call check(.not. c_associated(mpg_alloc_onnode(mib, 1000)), 'node 1000')
    memory = mpg_interleave(8 * mib)
    call check(c_associated(memory), 'mpg_interleave')
    call mpg_free_pages(memory, 8 * mib)
  end subroutine
end program
