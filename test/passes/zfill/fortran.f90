! !OCL ZFILL and NOZFILL decide for the loop after them, and those in it. flang, which
! has no assembler, compiles the result.
! REQUIRES: flang-22, llvm-22
! DEFINE: %{flang} = %build/bin/mpg-flang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fopenmp -Rpass=mpg -Rpass-missed=mpg -c %s -o %t.o
! RUN: %{flang} 2>&1 | FileCheck %s
! RUN: llvm-objdump-22 -d %t.o | grep 'dc.*zva'
! RUN: %{flang} -Kzfill=20 2>&1 | FileCheck %s --check-prefix=ALL
subroutine f(a, b, m, n)
  integer, parameter :: lines = 12
  integer :: n, i, j
  real(8) :: a(n), b(n), m(n, n)
  ! CHECK-DAG: fortran.f90:[[#@LINE+2]]:0: remark: the hint of {{.*}} is honoured: 1 loop is marked
  ! CHECK-DAG: fortran.f90:[[#@LINE+2]]:3: remark: zeroes lines 18 ahead
!OCL ZFILL
  do i = 1, n
    a(i) = 3 * b(i)
  end do
  ! CHECK-DAG: fortran.f90:[[#@LINE+3]]:5: remark: zeroes lines 12 ahead
!OCL ZFILL(lines)
  do j = 1, n
    do i = 1, n
      m(i, j) = 4 * b(i)
    end do
  end do
  ! ALL-DAG: fortran.f90:[[#@LINE+2]]:3: remark: no lines are zeroed {{.*}} the source forbids it (nozfill)
!OCL NOZFILL
  do i = 1, n
    a(i) = 5 * b(i)
  end do
  ! CHECK-DAG: fortran.f90:[[#@LINE+1]]:12: warning: expected a number of lines from 1 to 100, not '0'; ZFILL is ignored
!OCL ZFILL(0), XFILL
  ! ALL-DAG: fortran.f90:[[#@LINE+1]]:3: remark: zeroes lines 20 ahead
  do i = 1, n
    a(i) = 6 * b(i)
  end do
  ! CHECK-DAG: fortran.f90:[[#@LINE+2]]:{{[0-9]+}}: remark: zeroes lines 18 ahead
!OCL ZFILL
!$omp parallel do
  do i = 1, n
    a(i) = 7 * b(i)
  end do
  ! CHECK-DAG: fortran.f90:[[#@LINE+1]]: zfill has no effect: no loop follows, or the lines have none
!OCL ZFILL
  b(2) = 4
end subroutine
