// Lookups by an index are prefetched some iterations ahead, on every target, by indices that
// the loop reads in any case. Other loops stay as they are, with the reason.
// DEFINE: %{options} = prefetch-indirect=32,verify=on
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang -O2 -fno-unroll-loops -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -S %s -o %t.s
// RUN: %{cc} --target=x86_64-linux-gnu 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=warning:
// RUN: FileCheck %s --input-file=%t.s --check-prefix=ASM
// RUN: %{cc} --target=aarch64-linux-gnu 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: %{cc} --target=x86_64-linux-gnu -emit-llvm && FileCheck %s --input-file=%t.s --check-prefix=LANES
// REDEFINE: %{options} = prefetch-indirect=32,prefetch=far
// RUN: %{cc} --target=x86_64-linux-gnu 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: remark: prefetch=far has no effect: it is for AArch64 Linux only
// BOTH: remark: prefetches 1 lookup by an index
// RUN: %{cc} --target=aarch64-linux-gnu 2>&1 | FileCheck %s --check-prefix=FAR
// FAR-NOT: no effect
// REDEFINE: %{options} = verify=on
// RUN: %{cc} --target=x86_64-linux-gnu 2>&1 | FileCheck %s --check-prefix=OFF --allow-empty
// OFF-NOT: remark:
// ASM-LABEL: count:
// ASM: cmovb
// ASM: prefetcht0
// ASM-NOT: prefetcht0
void count(int *restrict a, const unsigned *restrict b, long n) {
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 32 iterations ahead
  for (long i = 0; i < n; i++) a[b[i]]++;
}
// A hash, and two members of one line.
// ASM-LABEL: probe:
// ASM: prefetcht0
// ASM-NOT: prefetcht0
struct Entry { unsigned key, value; };
long probe(const struct Entry *a, const unsigned *b, long n) {
  long sum = 0;
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index,
  for (long i = 0; i < n; i++) {
    const struct Entry *entry = &a[(b[i] * 2654435761u) >> 12];
    if (entry->key == b[i]) sum += entry->value;
  }
  return sum;
}
// ASM-LABEL: early:
// ASM-NOT: prefetch
long early(const double *a, const unsigned *b, long n) {
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: this loop gets no prefetches: it may end early
  for (long i = 0; i < n; i++)
    if (a[b[i]] > 1) return i;
  return n;
}
void leave(int);
void calls(int *a, const unsigned *b, long n) {
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: this loop gets no prefetches: it calls what may not return
  for (long i = 0; i < n; i++) leave(a[b[i]]);
}
double row(const int *start, const unsigned *b, const double *a, long rows) {
  double sum = 0;
  for (long i = 0; i < rows; i++)
    // CHECK: indirect.c:[[#@LINE+1]]:5: remark: this loop gets no prefetches: its rows may be shorter than the distance
    for (long k = start[i]; k < start[i + 1]; k++) sum += a[b[k]];
  return sum;
}
double shorter(const unsigned *b, const double *a) {
  double sum = 0;
  // CHECK: indirect.c:[[#@LINE+2]]:3: remark: this loop gets no prefetches: it is too short
#pragma clang loop unroll(disable)
  for (int i = 0; i < 64; i++) sum += a[b[i]];
  return sum;
}
// A cycle with two entries: LLVM sees no loop in it. Its iteration may never reach the lookup.
long waits(const int *a, const unsigned *b, long n, volatile int *flag) {
  long sum = 0;
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: this loop gets no prefetches: an iteration may not end
  for (long i = 0; i < n; i++) {
    if (*flag) goto second;
  first:
    sum += *flag;
  second:
    if (*flag) goto first;
    sum += a[b[i]];
  }
  return sum;
}
// ASM-LABEL: longer:
// ASM: prefetcht0
double longer(const unsigned *b, const double *a) {
  double sum = 0;
  // CHECK: indirect.c:[[#@LINE+2]]:3: remark: prefetches 1 lookup by an index,
#pragma clang loop unroll(disable)
  for (int i = 0; i < 65; i++) sum += a[b[i]];
  return sum;
}
// ASM-LABEL: bin:
// ASM: prefetcht0
void bin(int *restrict a, const double *restrict x, long n) {
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index,
  for (long i = 0; i < n; i++) a[(int)(x[i] * 0.3)]++;
}
// An iteration with more lookups, each of another line, than a core waits for at a time.
#define ONE(k) sum += a[b[i] + (k) * 100l];
#define EIGHT(k) ONE(k) ONE(k + 1) ONE(k + 2) ONE(k + 3) ONE(k + 4) ONE(k + 5) ONE(k + 6) ONE(k + 7)
long many(const int *a, const unsigned *b, long n) {
  long sum = 0;
  // CHECK: indirect.c:[[#@LINE+2]]:3: remark: prefetches 16 lookups by an index,
#pragma clang loop vectorize(disable)
  for (long i = 0; i < n; i++) { EIGHT(0) EIGHT(8) }
  // CHECK: indirect.c:[[#@LINE+2]]:3: remark: this loop gets no prefetches: it has more than 16 lookups
#pragma clang loop vectorize(disable)
  for (long i = 0; i < n; i++) { EIGHT(0) EIGHT(8) ONE(16) }
  return sum;
}
// Only the conversions that the loop does may trap.
// ASM-LABEL: some:
// ASM-NOT: prefetch
void some(int *restrict a, const double *restrict x, long n) {
  for (long i = 0; i < n; i++)
    if (x[i] < 1e9) a[(int)x[i]]++;
}
// Another file knows how large a table is.
// ASM-LABEL: other:
// ASM: prefetcht0
extern double unknown[];
void other(const unsigned *b, long n) {
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index,
  for (long i = 0; i < n; i++) unknown[b[i]] += 1;
}
// An iteration of vectors does 8 of the source, 4 by each load of indices.
// LANES-LABEL: @lanes(
// LANES: [[LATER:%.*]] = add i64 %{{.*}}, 4{{(,|$)}}
// LANES-NEXT: call i64 @llvm.umin.i64(i64 [[LATER]],
long lanes(const int *a, const unsigned *b, long n) {
  long sum = 0;
  // CHECK: indirect.c:[[#@LINE+2]]:3: remark: prefetches 8 lookups by an index, 32 iterations ahead
#pragma clang loop vectorize_width(4) interleave_count(2)
  for (long i = 0; i < n; i++) sum += a[b[i]];
  return sum;
}
// A jump to a computed address cannot be copied.
// LANES-LABEL: @jumps(
// LANES: indirectbr
// LANES-NOT: indirectbr
// LANES: {{^}}}
long jumps(const int *a, const unsigned *b, const unsigned char *way, long n) {
  static void *const places[] = {&&same, &&more};
  long sum = 0;
  // CHECK: indirect.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index,
  for (long i = 0; i < n; i++) {
    goto *places[way[i]];
  more:
    sum += 5;
  same:
    sum += a[b[i]];
  }
  return sum;
}
// Nothing to say: a small table, also of another file, a volatile index, one that few iterations read, a list, no index at all.
static double few[1000];
extern double known[1000];
// ASM-LABEL: none:
// ASM-NOT: prefetch
double none(const double *a, const unsigned *b, const volatile unsigned *c, const int *next, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) few[b[i]] += 1;
  for (long i = 0; i < n; i++) known[b[i]] += 1;
  for (long i = 0; i < n; i++) sum += a[c[i]];
  for (long i = 0; i < n; i++)
    if (next[i] > 7) sum += a[b[i]];
  int at = 0;
  for (long i = 0; i < n; i++) at = next[at];
  for (long i = 0; i < n; i++) sum += a[i];
  return sum + at + few[n];
}
