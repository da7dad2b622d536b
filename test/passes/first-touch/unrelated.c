// Two unrelated numbers of the program are not taken for the same length: otherwise a
// partly written array gets a call and a wrong remark.
// RUN: %remarks %s | FileCheck %s --match-full-lines --implicit-check-not="{{.*}}calls{{.*}}"
// CHECK: end
// RUN: %remarks -DRELATED %s | FileCheck %s --check-prefix=RELATED
// RELATED-COUNT-256: calls 1
// RELATED: end
#include <stdlib.h>
#ifdef RELATED
#define WRITTEN size
#else
#define WRITTEN written
#endif
#define FILL(k)                                                                \
  double *fill_##k(const long *size, const long *written) {                    \
    double *a = malloc(size[0x##k] * sizeof(double));                          \
    for (long i = 0; i < WRITTEN[0x##k]; ++i) a[i] = 1;                        \
    _Pragma("omp parallel for schedule(static)")                               \
    for (long i = 0; i < size[0x##k]; ++i) a[i] += 2;                          \
    return a;                                                                  \
  }
#define FILL4(k) FILL(k##0) FILL(k##1) FILL(k##2) FILL(k##3)
#define FILL16(k)                                                              \
  FILL4(k) FILL(k##4) FILL(k##5) FILL(k##6) FILL(k##7) FILL(k##8) FILL(k##9)   \
  FILL(k##a) FILL(k##b) FILL(k##c) FILL(k##d) FILL(k##e) FILL(k##f)
#define FILL64(k)                                                              \
  FILL16(k##0) FILL16(k##1) FILL16(k##2) FILL16(k##3)
FILL64(0) FILL64(1) FILL64(2) FILL64(3)
