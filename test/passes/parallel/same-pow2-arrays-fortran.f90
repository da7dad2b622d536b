! Fortran's arrays of 256 x 256 reals, in a common block or saved in a module, meet in
! the L1 cache like those of C.
! REQUIRES: flang-22, llvm-22
! RUN: cd %t && cp %s f.f90
! RUN: flang-22 --target=aarch64-linux-gnu -mcpu=a64fx -O2 -g -fopenmp -fpass-plugin=%passes -Rpass-missed=mpg -c f.f90 -o f.o 2>&1 | grep remark: | sort -t: -k2n > remarks
! RUN: FileCheck %s --implicit-check-not=remark: --input-file=remarks
module arrays
  implicit none
  integer, parameter :: n = 256
  real(8), save :: m1(n, n), m2(n, n), m3(n, n), m4(n, n), m5(n, n)
  real(8), save :: p1(n, n + 1), p2(n, n + 1), p3(n, n + 1), p4(n, n + 1), p5(n, n + 1)
contains
  subroutine in_module()
    integer :: i, j
    !$omp parallel do private(i)
    do j = 1, n
      ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} traverses 5 places at once
      do i = 1, n
        m1(i, j) = m2(i, j) + m3(i, j) + m4(i, j) * m5(i, j)
      end do
    end do
  end subroutine
  subroutine in_common()
    real(8) :: c1(n, n), c2(n, n), c3(n, n), c4(n, n), c5(n, n)
    common /block/ c1, c2, c3, c4, c5
    integer :: i, j
    !$omp parallel do private(i)
    do j = 1, n
      ! CHECK: f.f90:[[#@LINE+1]]:{{.*}} traverses 5 places at once
      do i = 1, n
        c1(i, j) = c2(i, j) + c3(i, j) + c4(i, j) * c5(i, j)
      end do
    end do
  end subroutine

  ! A column more; four arrays.
  subroutine padded()
    integer :: i, j
    !$omp parallel do private(i)
    do j = 1, n
      do i = 1, n
        p1(i, j) = p2(i, j) + p3(i, j) + p4(i, j) * p5(i, j)
      end do
    end do
  end subroutine
  subroutine four()
    integer :: i, j
    !$omp parallel do private(i)
    do j = 1, n
      do i = 1, n
        m1(i, j) = m2(i, j) + m3(i, j) * m4(i, j)
      end do
    end do
  end subroutine
end module
