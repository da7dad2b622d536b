// The remarks are how a user learns which hint had an effect, and why another had
// none: every hint has one, with its line, its variable's access and the reason.
// RUN: cd %t && cp %s remarks.c
// RUN: %hinted-c -O2 -fno-unroll-loops -Rpass=mpg -Rpass-missed=mpg -S remarks.c -o out.s 2> remarks
// RUN: FileCheck %s --input-file=remarks
//
// Only the requested remarks, and none unless requested.
// RUN: %hinted-c -O2 -Rpass=mpg -S remarks.c -o out.s 2>&1 | FileCheck %s --check-prefix=PASSED --implicit-check-not=Rpass-missed
// RUN: %hinted-c -O2 -Rpass-missed=mpg -S remarks.c -o out.s 2>&1 | FileCheck %s --check-prefix=MISSED --implicit-check-not=-Rpass=
// RUN: %hinted-c -O2 -S remarks.c -o out.s 2>&1 | count 0
// RUN: %hinted-c -UMPG_HINTS -O2 -Rpass=mpg -Rpass-missed=mpg -S remarks.c -o out.s 2>&1 | count 0
// PASSED: tag 0x01
// MISSED: changes nothing
//
// The code is the same with remarks.
// RUN: %hinted-c -O2 -fno-ident -S remarks.c -o plain.s
// RUN: %hinted-c -O2 -fno-ident -Rpass=mpg -Rpass-missed=mpg -c remarks.c -o told.o 2> remarks
// RUN: %hinted-c -O2 -fno-ident -c remarks.c -o plain.o
// RUN: llvm-objcopy -O binary -j .text told.o told.bin && llvm-objcopy -O binary -j .text plain.o plain.bin
// RUN: cmp told.bin plain.bin
//
// For tools, as YAML.
// RUN: %hinted-c -O2 -fno-unroll-loops -fsave-optimization-record -foptimization-record-passes=mpg -c remarks.c -o out.o
// RUN: FileCheck %s --check-prefix=YAML --input-file=out.opt.yaml
// RUN: FileCheck %s --check-prefix=UNUSED --input-file=out.opt.yaml
#include <mpg/hints.h>

// CHECK-DAG: remarks.c:[[#@LINE+3]]:{{[0-9]+}}: remark: tag 0x01: sector 1 [-Rpass=mpg]
// CHECK-DAG: remarks.c:[[#@LINE+2]]:{{[0-9]+}}: remark: tag 0x62: sector 2, no hardware prefetch [-Rpass=mpg]
long inserted(MPG_STREAM long *a, MPG_HINT(sector=2, no_hwpf) long *b) {
  return a[1] + b[2]; }
// YAML: --- !Passed
// YAML-NEXT: Pass: mpg
// YAML-NEXT: Name: TagInserted
// YAML-NEXT: DebugLoc: { File: remarks.c, Line: [[#@LINE-4]], Column: {{[0-9]+}} }
// YAML-NEXT: Function: inserted
// YAML-NEXT: Args:
// YAML-NEXT:   - String: 'tag '
// YAML-NEXT:   - Tag: '0x01: sector 1'

// The base is computed in the innermost loop: a tag would cost an instruction there.
// CHECK-DAG: remarks.c:[[#@LINE+4]]:{{[0-9]+}}: remark: the hint is not applied here: its base is loaded or computed in the innermost loop, where a tag would cost an instruction [-Rpass-missed=mpg]
long skipped(MPG_STREAM long **rows, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) { MPG_STREAM long *row = rows[i];
    sum += row[3]; }
  return sum;
}
// YAML: --- !Missed
// YAML: Name: TagSkipped
// YAML: Reason: {{.*}}its base is loaded or computed in the innermost

// CHECK-DAG: remarks.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint of {{.*}}:[[#@LINE+1]] changes nothing: it is volatile, which is never tagged [-Rpass-missed=mpg]
long unused(MPG_STREAM volatile long *a) { return a[1]; }
// UNUSED: Name: HintUnused
// UNUSED: Line: '[[#@LINE-2]]'
// CHECK-DAG: remarks.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint of {{.*}}:[[#@LINE+1]] changes nothing: nothing is loaded or stored through it [-Rpass-missed=mpg]
long *nothing(MPG_STREAM long *a) { return a + 1; }

// A local variable with a hint that is set from one with another hint: its own counts.
// CHECK-DAG: remarks.c:[[#@LINE+3]]:{{[0-9]+}}: remark: tag 0x02: sector 2 [-Rpass=mpg]
long own(MPG_STREAM long *a) {
  MPG_SECTOR(2) long *b = a;
  return b[1]; }
