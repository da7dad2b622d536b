! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Array expressions, sections with strides, overlap, masks and reductions.
program array_sections
  implicit none
  integer, parameter :: n = 500
  real(8) :: a(n), b(n), c(n / 2), m(30, 40), t(40, 30)
  integer :: i, j, index(n)
  logical :: mask(n)

  a = [(real(mod(i * 7, 23), 8), i = 1, n)]
  b = a(n:1:-1) * 2 - a
  c = a(1:n:2) + b(2:n:2)
  a(2:n) = a(1:n-1) + 1          ! the right-hand side is read first
  b(3:n:3) = b(1:n-2:3)
  index = [(mod(i * 77, n) + 1, i = 1, n)]
  mask = a > 10
  where (mask)
    b = a / 4
  elsewhere
    b = -b
  end where
  a(index) = b                   ! a permutation
  forall (i = 1:30, j = 1:40) m(i, j) = i * 100 + j + a(i + j)
  t = transpose(m)
  m(:, 5) = m(:, 6) + t(7, :)
  m = cshift(m, 3, dim=2)
  print '(5f14.4)', sum(a), sum(b, mask), maxval(c), sum(m), dot_product(a, b)
  print '(4i6)', count(mask), maxloc(a), minloc(m)
  print '(2f14.4)', sum(matmul(m, t)) / 1e6, norm2(t) / 1e3
  if (sum(t) < 0 .or. abs(sum(a) - sum(b)) > 1e-9) stop 1
end program array_sections
