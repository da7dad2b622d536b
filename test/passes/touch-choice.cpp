// The user's choice for an array must survive until the search for arrays: after
// inlining, and on exactly the right allocations. A forgotten "off" would move
// memory although the user forbade it.
// RUN: cd %t
// DEFINE: %{ir} = %clangxx -I%source/runtime/include -DMPG_HINTS -fpass-plugin=%passes -Werror -S -emit-llvm %s -o out.ll
// RUN: %{ir} --target=x86_64-linux-gnu -O2 && FileCheck %s --input-file=out.ll
// RUN: FileCheck %s --check-prefix=ZERO --input-file=out.ll
// RUN: %{ir} --target=x86_64-linux-gnu -O1 && FileCheck %s --input-file=out.ll
// RUN: %{ir} --target=x86_64-linux-gnu -O3 -g && FileCheck %s --input-file=out.ll
// RUN: %{ir} --target=aarch64-linux-gnu -mcpu=a64fx -O3 -g && FileCheck %s --input-file=out.ll
// Nothing is left of the annotations themselves.
// RUN: not grep -E 'mpg:1:|annotation' out.ll
// Without a request, nothing is marked.
// RUN: %clangxx -O2 -I%source/runtime/include -fpass-plugin=%passes -S -emit-llvm %s -o out.ll && not grep -E 'mpg:1:|annotation|mpg_' out.ll
#include <mpg/hints.h>

// Declarations of the target's headers, which may be missing.
extern "C" {
using size = __SIZE_TYPE__;
void *malloc(size);
void *memset(void *, int, size);
void *aligned_alloc(size, size);
int posix_memalign(void **, size, size);
void take(void *);
}

// CHECK-DAG: @_ZL5table ={{.*}} [[OFF:#[0-9]+]]
MPG_FIRST_TOUCH_OFF static double table[1000000];
// CHECK-DAG: @wanted ={{.*}} [[ON:#[0-9]+]]
MPG_FIRST_TOUCH double wanted[1000000];
// CHECK-DAG: @pointer ={{.*}} [[OFF]]
MPG_FIRST_TOUCH_OFF double *pointer;
// CHECK-DAG: @other ={{.*}} align 8{{(, !dbg ![0-9]+)?$}}
double *other;
void *tables() { return table; }

// CHECK-LABEL: define {{.*}}@_Z5localm(
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC_OFF:#[0-9]+]]
// CHECK-NOT: @malloc({{.*}}) [[MALLOC_OFF]]
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC:#[0-9]+]]
void local(size n) {
  MPG_FIRST_TOUCH_OFF double *p = static_cast<double *>(malloc(n));
  double *q = static_cast<double *>(malloc(n));
  take(p);
  take(q);
}

// One that is set in two ways, and one that is copied from another.
// CHECK-LABEL: define {{.*}}@_Z4eachmb(
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC_OFF]]
// CHECK: call {{.*}}@aligned_alloc({{.*}}) [[ALIGNED_OFF:#[0-9]+]]
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC_ON:#[0-9]+]]
void each(size n, bool c) {
  MPG_FIRST_TOUCH_OFF void *p;
  if (c)
    p = malloc(n);
  else
    p = aligned_alloc(64, n);
  take(p);
  MPG_FIRST_TOUCH void *q = ({ // as macros do it
    void *result = malloc(n + 1);
    if (!result)
      __builtin_trap();
    result;
  });
  take(q);
}

// CHECK-LABEL: define {{.*}}@_Z5posixm(
// CHECK: call {{.*}}@posix_memalign({{.*}}) [[OFF]]
// CHECK: call {{.*}}@posix_memalign({{.*}}){{( #[0-9]+)?(, !dbg ![0-9]+)?$}}
void posix(size n) {
  MPG_FIRST_TOUCH_OFF void *p;
  void *q;
  if (posix_memalign(&p, 64, n) || posix_memalign(&q, 64, n))
    return;
  take(p);
  take(q);
}

// The optimiser makes a calloc of the two.
// CHECK-LABEL: define {{.*}}@_Z4zerom(
// ZERO-LABEL: define {{.*}}@_Z4zerom(
// ZERO: call {{.*}}@calloc({{.*}}) [[CALLOC_OFF:#[0-9]+]]
// ZERO: attributes [[CALLOC_OFF]] = { {{.*}}"mpg-first-touch"="off"
void zero(size n) {
  MPG_FIRST_TOUCH_OFF void *p = malloc(n);
  memset(p, 0, n);
  take(p);
}

struct Grid {
  long size;
  MPG_FIRST_TOUCH_OFF double *cells;
  double *border;
};
// CHECK-LABEL: define {{.*}}@_Z5fieldP4Gridm(
// CHECK: call {{.*}}@_Zna{{[jm]}}({{.*}}) [[NEW_OFF:#[0-9]+]]
// CHECK-NOT: @_Zna{{[jm]}}({{.*}}) [[NEW_OFF]]
// CHECK: call {{.*}}@_Zna{{[jm]}}({{.*}})
void field(Grid *grid, size n) {
  grid->cells = new double[n];
  grid->border = new double[n];
}

// The pointer lies after the count of elements.
struct Counted {
  double value;
  ~Counted();
};
// CHECK-LABEL: define {{.*}}@_Z6behindm(
// CHECK: call {{.*}}@_Zna{{[jm]}}({{.*}}) [[NEW_OFF]]
void behind(size n) {
  MPG_FIRST_TOUCH_OFF Counted *p = new Counted[n];
  take(p);
}

// CHECK-LABEL: define {{.*}}@_Z6globalm(
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC_OFF]]
// CHECK-NOT: @malloc({{.*}}) [[MALLOC_OFF]]
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC]]
void global(size n) {
  pointer = static_cast<double *>(malloc(n));
  other = static_cast<double *>(malloc(n));
}

// CHECK-LABEL: define {{.*}}@_Z9parameterPdS_(
// CHECK-SAME: "mpg-first-touch"="off"
// CHECK-NOT: "mpg-first-touch"
// CHECK: {
void parameter(MPG_FIRST_TOUCH_OFF double *p, double *q) { p[1] = q[1]; }

// A variable is stronger than the function.
// CHECK-LABEL: define {{.*}}@_Z8functionm(
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC_ON]]
// CHECK: call {{.*}}@malloc({{.*}}) [[MALLOC_OFF]]
MPG_FIRST_TOUCH_OFF void function(size n) {
  MPG_FIRST_TOUCH double *p = static_cast<double *>(malloc(n));
  take(p);
  take(malloc(n));
}

// Inlined into a function without a choice: by a class, as std::vector.
struct Array {
  void *data;
  explicit Array(size n) : data(::operator new(n)) {}
  ~Array() { ::operator delete(data); }
};
MPG_FIRST_TOUCH_OFF static void filled(size n) {
  Array array(n);
  take(array.data);
}
// CHECK-LABEL: define {{.*}}@_Z6callerm(
// CHECK: call {{.*}}@_Znw{{[jm]}}({{.*}}) [[MALLOC_OFF]]
// CHECK-NOT: @_Znw{{[jm]}}({{.*}}) [[MALLOC_OFF]]
// CHECK: {{call|invoke}} {{.*}}@_Znw{{[jm]}}({{.*}})
void caller(size n) {
  filled(n);
  Array array(n + 1);
  take(array.data);
}

// CHECK-DAG: attributes [[OFF]] = { "mpg-first-touch"="off" }
// CHECK-DAG: attributes [[ON]] = { "mpg-first-touch"="on" }
// CHECK-DAG: attributes [[MALLOC_OFF]] = { {{.*}}"mpg-first-touch"="off"
// CHECK-DAG: attributes [[MALLOC_ON]] = { {{.*}}"mpg-first-touch"="on"
// CHECK-DAG: attributes [[ALIGNED_OFF]] = { {{.*}}"mpg-first-touch"="off"
// CHECK-DAG: attributes [[NEW_OFF]] = { {{.*}}"mpg-first-touch"="off"
