! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Dense kernels by hand: blocked product, Cholesky, substitution, power method.
module dense
  implicit none
contains
  subroutine multiply(a, b, c, n, block)
    integer, intent(in) :: n, block
    real(8), intent(in) :: a(n, n), b(n, n)
    real(8), intent(out) :: c(n, n)
    integer :: i, j, k, jj, kk
    c = 0
    do jj = 1, n, block
      do kk = 1, n, block
        do j = jj, min(jj + block - 1, n)
          do k = kk, min(kk + block - 1, n)
            do i = 1, n
              c(i, j) = c(i, j) + a(i, k) * b(k, j)
            end do
          end do
        end do
      end do
    end do
  end subroutine multiply

  subroutine cholesky(a)
    real(8), intent(inout) :: a(:, :)
    integer :: j, k
    do j = 1, size(a, 1)
      do k = 1, j - 1
        a(j:, j) = a(j:, j) - a(j:, k) * a(j, k)
      end do
      a(j:, j) = a(j:, j) / sqrt(a(j, j))
      a(:j - 1, j) = 0
    end do
  end subroutine cholesky

  recursive function determinant(a) result(d)
    real(8), intent(in) :: a(:, :)
    real(8) :: d
    integer :: j, n, k
    n = size(a, 1)
    if (n == 1) then
      d = a(1, 1)
      return
    end if
    d = 0
    do j = 1, n
      d = d + (-1)**(j + 1) * a(1, j) &
          * determinant(a(2:, [(k, k = 1, j - 1), (k, k = j + 1, n)]))
    end do
  end function determinant
end module dense

program linear_algebra
  use dense
  implicit none
  integer, parameter :: n = 60
  real(8) :: a(n, n), b(n, n), c(n, n), x(n), y(n), worst
  integer :: i, j
  do j = 1, n
    do i = 1, n
      a(i, j) = 1d0 / (i + j) + merge(3d0, 0d0, i == j)
      b(i, j) = mod(i * j, 7)
    end do
  end do
  call multiply(a, b, c, n, 16)
  worst = maxval(abs(c - matmul(a, b)))
  b = a
  call cholesky(b)
  call multiply(b, transpose(b), c, n, 7)
  worst = max(worst, maxval(abs(c - a)))
  x = 1
  do i = 1, 50
    y = matmul(a, x)
    x = y / maxval(abs(y))
  end do
  print '(3f14.8)', maxval(abs(y)), b(n, n), determinant(a(1:6, 1:6))
  if (worst > 1e-10) stop 1
end program linear_algebra
