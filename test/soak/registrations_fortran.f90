! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!
! Arrays of a Fortran program that come and go around messages, and temporary
! copies of sections that the compiler makes; registrations.c counts.
program arrays
  use mpi
  implicit none
  integer, parameter :: rounds = 12
  real(8), allocatable :: mine(:), theirs(:), square(:, :), grown(:)
  real(8) :: total
  integer :: rank, other, n, round, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  do round = 1, rounds
    n = 8192 * 2**mod(round * 5, 6)
    allocate(mine(n), theirs(n), square(64, n / 64))
    mine = round + rank
    theirs = 0
    call swap(mine, theirs, n)
    if (any(theirs /= round + other)) call MPI_Abort(MPI_COMM_WORLD, 1, error)
    square = round + rank
    call swap(square(1:64:2, :), theirs, n / 2)
    if (any(theirs(:n / 2) /= round + other)) call MPI_Abort(MPI_COMM_WORLD, 2, error)
    call MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE_PRECISION, MPI_SUM, &
                       MPI_COMM_WORLD, error)
    total = sum(mine)
    if (total /= (2d0 * round + 1) * n) call MPI_Abort(MPI_COMM_WORLD, 3, error)
    grown = [theirs, mine] ! allocated anew
    call swap([mine, theirs], grown, 2 * n)
    if (any(grown(:n) /= mine)) call MPI_Abort(MPI_COMM_WORLD, 4, error)
    deallocate(mine, theirs, square)
  end do
  call MPI_Finalize(error)
  if (rank == 0) print '(a)', 'all messages right'

contains
  subroutine swap(from, to, count)
    integer, intent(in) :: count
    real(8) :: from(count), to(count)
    call MPI_Sendrecv(from, count, MPI_DOUBLE_PRECISION, other, 0, to, count, &
                      MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine
end program
