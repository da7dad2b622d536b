! The example that Fujitsu's guide solves with a threshold of malloc: eight allocatable
! arrays of 256 x 256 reals. Their bounds are known only through descriptors in memory.
! REQUIRES: flang-22, llvm-22
! RUN: cd %t && cp %s f.f90
! RUN: flang-22 --target=aarch64-linux-gnu -mcpu=a64fx -O2 -g -fopenmp -fpass-plugin=%passes -Rpass-missed=mpg -c f.f90 -o f.o 2>&1 | grep remark: | sort -t: -k2n > remarks
! RUN: FileCheck %s --implicit-check-not="loop goes" --input-file=remarks
module arrays
  implicit none
  integer, parameter :: n = 256
contains
  subroutine allocated()
    real(8), allocatable, dimension(:, :) :: a, b, c, d, e, f, g, h
    integer :: i, j
    allocate (a(n, n), b(n, n), c(n, n), d(n, n), e(n, n), f(n, n), g(n, n), h(n, n))
    call fill(a, b, c, d, e, f, g, h)
    !$omp parallel do private(i)
    do j = 1, n
      ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} loop traverses 8 places at once{{.*}}link libmpg
      do i = 1, n
        a(i, j) = b(i, j) + c(i, j) * d(i, j) + e(i, j) * f(i, j) + g(i, j) * h(i, j)
      end do
    end do
    call fill(a, b, c, d, e, f, g, h)
  end subroutine
  ! Sizes that are not known.
  subroutine any_size(k)
    integer, intent(in) :: k
    real(8), allocatable, dimension(:, :) :: a, b, c, d, e
    integer :: i, j
    allocate (a(k, k), b(k, k), c(k, k), d(k, k), e(k, k))
    call fill(a, b, c, d, e, a, b, c)
    !$omp parallel do private(i)
    do j = 1, k
      do i = 1, k
        a(i, j) = b(i, j) + c(i, j) * d(i, j) + e(i, j)
      end do
    end do
    call fill(a, b, c, d, e, a, b, c)
  end subroutine
end module
