! A region of lines that a RETURN leaves gives its ways back there; one RETURN before it
! and one inside do not refuse them.
! REQUIRES: flang-22, llvm-22, aarch64-linux-gnu-gcc, qemu-aarch64
! RUN: split-file %s %t && cd %t
! RUN: env MPG_PASS_OPTIONS=hints=hints.yaml,strip-debug=on flang-22 --target=aarch64-linux-gnu -fpass-plugin=%passes -O2 -g -c app.f90 -o app.o 2>&1 | count 0
! RUN: aarch64-linux-gnu-gcc -I%source/runtime/include -static app.o main.c %inputs/sector_calls.c -o app
! RUN: %run512 ./app 2>&1 | FileCheck %s
! CHECK:      begin 255 255 255 255 10 4: 0
! CHECK-NEXT: say 1
! CHECK-NEXT: end 0
! CHECK-NEXT: begin 255 255 255 255 10 4: 0
! CHECK-NEXT: say 2
! CHECK-NEXT: say 3
! CHECK-NEXT: end 0
! CHECK-NEXT: say 4
! CHECK-NOT: {{.}}
!--- hints.yaml
work@4-6: ways:l2=4
!--- app.f90
subroutine work(n)
  integer :: n
  if (n == 0) return
  call say(n)
  if (n == 1) return
  call say(n + 1)

  call say(n + 2)
end subroutine
!--- main.c
#include <stdio.h>
void work_(int *);
void say_(int *n) { fprintf(stderr, "say %d\n", *n); }
int main(void) {
  for (int n = 0; n != 3; n++)
    work_(&n);
}
