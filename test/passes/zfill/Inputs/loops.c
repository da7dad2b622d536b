/* The kernels, under the names that -DNAME gives. */
#include "kernels.h"

static inline void one(double *to, const double *from) { *to = *from + 1; }
/* In one call they are apart, and over the calls they are not. */
static inline void one_restrict(double *restrict to, const double *restrict from) {
  *to = *from + 1;
}
#define DEFINE(kernel, any, ...) KERNEL(kernel) { __VA_ARGS__ }
KERNELS(DEFINE)
