! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Module variables, COMMON, SAVE, EQUIVALENCE, optional and assumed-size arguments.
module field
  implicit none
  integer, parameter :: n = 40
  real(8), save :: now(0:n + 1, 0:n + 1) = 0, next(0:n + 1, 0:n + 1)
  integer, protected :: sweeps = 0
contains
  subroutine sweep(weight)
    real(8), intent(in), optional :: weight
    real(8) :: w
    integer :: i, j
    w = 0.25d0
    if (present(weight)) w = weight
    do j = 1, n
      do i = 1, n
        next(i, j) = w * (now(i - 1, j) + now(i + 1, j) &
                          + now(i, j - 1) + now(i, j + 1))
      end do
    end do
    now(1:n, 1:n) = next(1:n, 1:n)
    sweeps = sweeps + 1
  end subroutine sweep
end module field

real(8) function total(values, count)
  implicit none
  integer, intent(in) :: count
  real(8), intent(in) :: values(*)
  integer :: i
  integer, save :: calls = 0
  calls = calls + 1
  total = 0
  do i = 1, count
    total = total + values(i) * calls
  end do
end function total

subroutine shared(step)
  implicit none
  integer, intent(in) :: step
  integer :: counts(100), i
  real(4) :: work(200)
  common /block/ work, counts
  do i = 1, 100
    counts(i) = counts(i) + mod(i * step, 11)
    work(2 * i) = work(2 * i - 1) + counts(i)
  end do
end subroutine shared

program module_data
  use field
  implicit none
  real(8), external :: total
  real(4) :: work(200)
  integer :: counts(100), step, bits(2)
  real(8) :: pun
  common /block/ work, counts
  equivalence (pun, bits)
  work = 1
  counts = 0
  now(0, :) = 100
  now(:, 0) = 50
  do step = 1, 25
    call sweep()
    if (mod(step, 5) == 0) call sweep(0.2d0)
    call shared(step)
  end do
  pun = 1.5d0
  print '(3f16.8)', total(now, (n + 2)**2), total(next(5, 5), 200), now(3, 4)
  print *, sweeps, sum(counts), int(sum(work)), ieor(bits(1), bits(2))
  if (sweeps /= 30 .or. sum(counts) <= 0) stop 1
end program module_data
