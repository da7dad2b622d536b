// Each thread has its own of these, but a hint on the variable is for all of them.
// RUN: %hinted-c -O1 -S %s -o %t.s
// RUN: %count %t.s > %t.txt && FileCheck %s --input-file=%t.txt
// RUN: %hinted-c -O2 -fPIC -S %s -o %t.s
// RUN: %count %t.s --function array --tag 0x01 --at-least 1
#include <mpg/hints.h>

_Thread_local MPG_STREAM long table[64];
_Thread_local MPG_SECTOR(2) long *pointer;
_Thread_local long plain[64];

// CHECK: array: 1 of {{.*}} tagged, {{.*}}; 1 with 0x01
long array(int i) { return table[i] + plain[i]; }
// CHECK: pointed: 1 of {{.*}} tagged, {{.*}}; 1 with 0x02
long pointed(int i) { return pointer[i]; }
