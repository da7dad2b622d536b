! !OCL PREFETCH and its kin decide for the loop after them.
! REQUIRES: flang-22, llvm-22
! DEFINE: %{flang} = %build/bin/mpg-flang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -Rpass=mpg -Rpass-missed=mpg -c %s -o %t.o
! RUN: %{flang} --mpg-prefetch=user 2>&1 | FileCheck %s
! RUN: llvm-objdump-22 -d %t.o | grep prfm
! RUN: %{flang} -Kprefetch_sequential=soft 2>&1 | FileCheck %s --check-prefix=ALL
subroutine f(a, b, n)
  integer, parameter :: lines = 12
  integer :: n, i
  real(8) :: a(n), b(n)
  ! CHECK-DAG: fortran.f90:[[#@LINE+2]]:0: remark: the hint of {{.*}} is honoured: 1 loop is marked
  ! CHECK-DAG: fortran.f90:[[#@LINE+2]]:3: remark: prefetches 2 streams, 9 lines ahead into L1, 70 lines
!OCL PREFETCH_SEQUENTIAL(SOFT)
  do i = 1, n
    a(i) = 3 * b(i)
  end do
  ! CHECK-DAG: fortran.f90:[[#@LINE+3]]:3: remark: prefetches 2 streams, 12 lines ahead into L1, 80 lines
!OCL PREFETCH_LINE(lines)
!OCL PREFETCH_LINE_L2(80)
  do i = 1, n
    a(i) = 4 * b(i)
  end do
  ! ALL-DAG: fortran.f90:[[#@LINE+2]]:3: remark: this loop gets no prefetches: the source forbids it (noprefetch)
!OCL NOPREFETCH
  do i = 1, n
    a(i) = 5 * b(i)
  end do
  ! CHECK-DAG: fortran.f90:[[#@LINE+1]]:20: warning: expected a number of lines from 0 to 100, not '101'; PREFETCH_LINE is ignored
!OCL PREFETCH_LINE(101)
  ! ALL-DAG: fortran.f90:[[#@LINE+1]]:3: remark: prefetches 2 streams, 9 lines
  do i = 1, n
    a(i) = 6 * b(i)
  end do
end subroutine
