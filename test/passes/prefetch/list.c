// A loop around others prefetches what it looks up by a list: the bounds of a row, nearer ahead the
// row's begin, and then what elements of the row look up. It may end early, call anything and
// change the list.
// DEFINE: %{options} = prefetch-indirect=32,verify=on
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang -O2 -fno-unroll-loops -fno-vectorize -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -S %s -o %t.s
// RUN: %{cc} --target=x86_64-linux-gnu 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t.s --check-prefix=ASM
// RUN: %{cc} --target=aarch64-linux-gnu -mcpu=a64fx 2>&1 | FileCheck %s
// RUN: %{cc} --target=aarch64-linux-gnu 2>&1 | FileCheck %s --check-prefix=TAGGED
// TAGGED: list.c:[[#]]:3: remark: this loop gets no prefetches: its machine may tag memory: name one with -mcpu=
// TAGGED-NOT: remark: prefetches {{.*}} row
// REDEFINE: %{options} = prefetch-indirect=1,verify=on
// RUN: %{cc} --target=x86_64-linux-gnu 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: remark: prefetches 1 lookup by an index, 2 iterations ahead; 1 row, 1 iteration ahead

// ASM-LABEL: visit:
// ASM-COUNT-3: prefetcht0
// ASM-NOT: prefetcht0
// ASM: {{^}}.Lfunc_end0:
long visit(const int *queue, long n, const long *row, const int *next, int *seen) {
  long count = 0;
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead; 1 row, 8 iterations ahead; what its elements look up, 4 iterations ahead
  for (long i = 0; i < n; i++)
    for (long k = row[queue[i]]; k < row[queue[i] + 1]; k++)
      if (!seen[next[k]]++) count++;
  return count;
}
// A row may begin with elements that the loop does not read.
void some(const int *queue, long n, const long *row, const int *next, const char *isUsed, int *seen) {
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead; 2 rows, 8 iterations ahead [-Rpass
  for (long i = 0; i < n; i++)
    for (long k = row[queue[i]]; k < row[queue[i] + 1]; k++)
      if (isUsed[k]) seen[next[k]]++;
}
int stops(int);
// The list is known to be there until the row begins, or may be freed.
void after(const int *queue, long n, const long *row, const int *next, int *seen) {
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 2 lookups by an index, 16 iterations ahead; 1 row, 8 iterations ahead; what
  for (long i = 0; i < n; i++) {
    int u = queue[i];
    if (!seen[u])
      for (long k = row[u]; k < row[u + 1]; k++) seen[next[k]]++;
  }
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead [-Rpass
  for (long i = 0; i < n; i++) {
    int u = queue[i];
    if (!stops(u))
      for (long k = row[u]; k < row[u + 1]; k++) seen[next[k]]++;
  }
}
// Where the elements are is loaded only after the comparison of the bounds.
void moved(const long *queue, long n, const long *row, const long *shift, const int *next, int *seen) {
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 2 lookups by an index, 16 iterations ahead; 1 row, 8 iterations ahead [-Rpass
  for (long i = 0; i < n; i++)
    for (long u = queue[i], k = row[u], end = row[u + 1]; k < end; k++) seen[next[k + shift[u]]]++;
}
struct Graph { long *row; };
long early(const unsigned *queue, const struct Graph *graph, const int *next, long n) {
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead; 1 row, 8 iterations ahead
  for (long i = 0; i < n; i++) {
    unsigned u = queue[i];
    for (long k = graph->row[u]; k < graph->row[u + 1]; k++)
      if (stops(next[k])) return i;
  }
  return 0;
}
struct Node { struct Node *next; long key; };
long probe(struct Node *const *bucket, const unsigned *key, long n) {
  long found = 0;
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead; 1 row, 8 iterations ahead
  for (long i = 0; i < n; i++)
    for (struct Node *node = bucket[key[i] * 2654435761u >> 8]; node; node = node->next)
      found += node->key == key[i];
  return found;
}
// The pointers of the list are to different objects: nothing is loaded from these ahead.
long objects(struct Node **const *list, long n) {
  long sum = 0;
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead [-Rpass
  for (long i = 0; i < n; i++)
    for (struct Node *node = list[i][3]; node; node = node->next) sum += node->key;
  return sum;
}
// The loop does not read the next bound: the rows are not in order, but lists of different objects.
long chains(struct Node *const *head, long n) {
  long sum = 0;
  // CHECK: list.c:[[#@LINE+2]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead [-Rpass
#pragma clang loop unroll(disable)
  for (long i = 0; i < n; i++)
    for (struct Node *node = head[i]; node; node = node->next) sum += node->key;
  return sum;
}
// A garbage index may be too large for a shift, and lead to no element.
// RUN: %{cc} --target=x86_64-linux-gnu -emit-llvm && FileCheck %s --input-file=%t.s --check-prefix=IR
// IR-LABEL: define {{.*}}@shifted(
// IR: = freeze i64 %{{.*}}
// IR: [[AT:%.*]] = freeze i64 %
// IR-NEXT: call i64 @llvm.umax.i64(i64 [[AT]],
// IR: load i64, ptr %{{.*}}, align 1
long shifted(const int *list, const long *row, const int *next, long n) {
  long sum = 0;
  // CHECK: list.c:[[#@LINE+1]]:3: remark: prefetches 1 lookup by an index, 16 iterations ahead; 1 row, 8 iterations ahead
  for (long i = 0; i < n; i++)
    for (long at = 1l << list[i], k = row[at]; k < row[at + 1]; k++) sum += next[k] ^ sum;
  return sum;
}
// Nothing to say of loops around: rows in order, a volatile list, one that is itself linked, an index
// by floating point, which may trap, and a list that is what is looked up.
// Nor where the program may come back from a later place, and has freed memory there.
// CHECK-NOT: :3: remark:
__attribute__((returns_twice)) int save(void);
void again(const int *queue, long n, const long *row, const int *next, int *seen) {
  for (long i = 0; i < n; i++)
    if (!save())
      for (long k = row[queue[i]]; k < row[queue[i] + 1]; k++) seen[next[k]]++;
}
double none(const int *start, const unsigned *column, const double *x, const volatile int *list, const int *link, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    for (int k = start[i]; k < start[i + 1]; k++) sum += x[column[k]];
  for (long i = 0; i < n; i++)
    for (int u = list[i], k = start[u]; k < start[u + 1]; k++) sum += x[column[k]];
  for (int at = 0; at >= 0; at = link[at])
    for (int k = start[at]; k < start[at + 1]; k++) sum += x[column[k]];
  for (long i = 0; i < n; i++)
    for (int u = (int)(link[i] * 0.3), k = start[u]; k < start[u + 1]; k++) sum += x[column[k]];
  return sum;
}
void compress(int *root, long n) {
  for (long i = 0; i < n; i++)
    while (root[i] != root[root[i]]) root[i] = root[root[i]];
}
