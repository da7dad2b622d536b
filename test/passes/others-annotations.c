// Annotations of other tools stay in the module; ours are erased at every level:
// leftovers would hinder the optimiser, and at -O0 they change nothing.
// DEFINE: %{ir} = %hinted-c -Rpass-missed=mpg -S -emit-llvm %s -o %t/ir.ll
// RUN: %{ir} -O0 2> %t/remarks && FileCheck %s --input-file=%t/ir.ll
// RUN: FileCheck %s --check-prefix=O0 --input-file=%t/remarks --implicit-check-not=remark:
// RUN: not grep -E 'inttoptr|mmra|note.mpg|nontemporal|call void @llvm.var.annotation' %t/ir.ll
// O0: remark: no hint is applied in fields: this is -O0; compile with -O1 or more [-Rpass-missed=mpg]
// RUN: %{ir} -O1 && FileCheck %s --input-file=%t/ir.ll && not grep mpg:1: %t/ir.ll
// RUN: grep inttoptr %t/ir.ll
// RUN: %{ir} -O2 && FileCheck %s --input-file=%t/ir.ll && not grep mpg:1: %t/ir.ll
// RUN: %{ir} -O3 && FileCheck %s --input-file=%t/ir.ll && not grep mpg:1: %t/ir.ll
// RUN: %{ir} -Os && FileCheck %s --input-file=%t/ir.ll && not grep mpg:1: %t/ir.ll
// RUN: %{ir} -Oz && FileCheck %s --input-file=%t/ir.ll && not grep mpg:1: %t/ir.ll
// At -O0 the code is that of a file without hints.
// RUN: %hinted-c -O0 -fno-ident -S %s -o %t/hinted.s && %plain-c -O0 -fno-ident -S %s -o %t/plain.s
// RUN: cmp %t/hinted.s %t/plain.s
// Theirs in front of ours or behind: the field is tagged all the same.
// RUN: %hinted-c -O1 -S %s -o %t/o1.s && %count %t/o1.s --function fields --tag 0x01 | FileCheck %s --check-prefix=COUNT
// COUNT: 2 of {{.*}} accesses chosen
#include <mpg/hints.h>

struct order {
  MPG_STREAM __attribute__((annotate("theirs behind"))) long *behind;
  __attribute__((annotate("theirs in front"))) MPG_STREAM long *front;
};
long fields(struct order *o, int i) { return o->behind[i] + o->front[i]; }

struct record {
  MPG_STREAM __attribute__((annotate("theirs on a field"))) long *data;
};
// CHECK-DAG: theirs on a function
// CHECK-DAG: theirs on a global
// CHECK-DAG: @llvm.global.annotations = appending global [2 x {{.*}}section "llvm.metadata"
MPG_STREAM __attribute__((annotate("theirs on a global"))) long table[64];
MPG_STREAM __attribute__((annotate("theirs on a function"))) long
tables(struct record *r, MPG_STREAM long *a, int i) {
  return r->data[i] + table[i] + a[i];
}
