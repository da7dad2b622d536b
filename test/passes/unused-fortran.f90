! A line of Fortran may mean several variables of the compiler: in a parallel region, in an ENTRY.
! If one of them is tagged, the line changes something.
! REQUIRES: flang-22, llvm-22
! RUN: cd %t && cp %s unused.f90
! RUN: %build/bin/mpg-ocl unused.f90 -o hints.yaml
! RUN: env MPG_PASS_OPTIONS=hints=hints.yaml flang-22 --target=aarch64-linux-gnu -mcpu=a64fx -O3 -g -fopenmp -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -S unused.f90 -o unused.s 2> remarks
! RUN: FileCheck %s --input-file=remarks && not grep "changes nothing" remarks
! CHECK-COUNT-3: remark: tag 0x01
subroutine inside(n, x, y)
  integer, intent(in) :: n
  real(8), intent(in) :: x(:)
  real(8), intent(inout) :: y(n)
  integer :: i
!$omp parallel do
!OCL SCACHE_ISOLATE_ASSIGN(x)
  do i = 1, n
    y(i) = y(i) + x(i)
  end do
!OCL END_SCACHE_ISOLATE_ASSIGN
!$omp end parallel do
end subroutine
subroutine around(n, x, y)
  integer, intent(in) :: n
  real(8), intent(in) :: x(:)
  real(8), intent(inout) :: y(n)
  integer :: i
!OCL SCACHE_ISOLATE_ASSIGN(x)
!$omp parallel do
  do i = 1, n
    y(i) = y(i) + x(i)
  end do
!$omp end parallel do
!OCL END_SCACHE_ISOLATE_ASSIGN
end subroutine
subroutine first(n, x, y)
  integer :: n, i
  real(8) :: x(n), y(n), z(n)
  y(1) = 0
  return
entry second(n, x, z)
!OCL SCACHE_ISOLATE_ASSIGN(z)
  do i = 1, n
    x(i) = x(i) + z(i)
  end do
!OCL END_SCACHE_ISOLATE_ASSIGN
end subroutine
