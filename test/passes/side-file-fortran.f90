! Fortran has no attributes: a side file by names, out of debug information, is the way
! for its users, and that information must be gone from the object if they have not
! asked for it.
! REQUIRES: flang-22, llvm-22
! RUN: split-file %s %t && cd %t
! DEFINE: %{flang} = env MPG_PASS_OPTIONS=hints=hints.yaml,strip-debug=on flang-22 --target=aarch64-linux-gnu -mcpu=a64fx -O2 -g -fpass-plugin=%passes
! RUN: %{flang} -c kernels.f90 -o kernels.o 2> messages && count 0 < messages
! RUN: llvm-readelf -S kernels.o | FileCheck %s --check-prefix=SECTIONS --implicit-check-not=.debug
! SECTIONS: .note.mpg.hints
! RUN: llvm-objdump -d kernels.o > kernels.s
! RUN: %count kernels.s --function _QMkernelsPscale --loops --tag 0x01 --at-least 1
! RUN: %count kernels.s --function _QMkernelsPscale --loops --tag 0x02 --at-least 1
! RUN: %count kernels.s --function triad_ --loops --tag 0x43 --at-least 1
! RUN: %count kernels.s --function triad_ --loops --tag 0x01 --at-most 0
! RUN: %count kernels.s --function lines_ --loops --tag 0x20 --at-least 1
! RUN: %count kernels.s --function lines_ --tag 0x03 --at-most 0
! RUN: %count kernels.s --function shared_array_ --loops --tag 0x61 --at-least 1
! RUN: %count kernels.s --function plain_ --at-most 0
!
! A name that is not there, with the file's line.
! RUN: env MPG_PASS_OPTIONS=hints=wrong.yaml flang-22 --target=aarch64-linux-gnu -O2 -g -fpass-plugin=%passes -Rpass-missed=mpg -c kernels.f90 -o kernels.o 2>&1 | FileCheck %s --check-prefix=WRONG
! WRONG-DAG: warning: wrong.yaml:1: there is no variable 'z' in 'triad'
! WRONG-DAG: remark: {{.*}}wrong.yaml:2: there is no function 'absent' in this file
!--- wrong.yaml
triad/z: stream
absent/a: stream
!--- hints.yaml
scale/a: stream
scale/b: sector=2
triad/x: sector=3, no_l1_hwpf
lines/a@36-38: no_l2_hwpf
lines/a@1-9: sector=3
table: stream, no_hwpf
!--- kernels.f90
module kernels
  real(8), save :: table(1000)
contains
  subroutine scale(a, b)
    real(8), intent(inout) :: a(:)
    real(8), intent(in) :: b(:)
    integer :: i
    do i = 1, size(a)
      a(i) = a(i) * b(i)
    end do
  end subroutine
end module

subroutine triad(x, y, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  real(8), intent(in) :: y(n)
  integer :: i
  do i = 1, n
    x(i) = x(i) + 3 * y(i)
  end do
end subroutine

subroutine lines(a, b, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n), b(n)
  integer :: i
  do i = 1, n
    a(i) = b(i) + 1
  end do
  call barrier()
  ! The hint is for these lines.
  ! One more.
  ! One more.
  do i = 1, n
    a(i) = a(i) * b(i)
  end do
end subroutine

subroutine shared_array(n)
  use kernels
  integer, intent(in) :: n
  integer :: i
  do i = 1, n
    table(i) = table(i) + 2
  end do
end subroutine

subroutine plain(x, y, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  real(8), intent(in) :: y(n)
  integer :: i
  do i = 1, n
    x(i) = x(i) + 3 * y(i)
  end do
end subroutine
