// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y += a * x with a stride: how much of each cache line a program throws away.
// Plain loops for any machine. With stride 1 the compiler makes vectors of
// them; with others it must not gather, or it would no longer be what it
// measures: one load and one store an element.

#include "ArgumentChecks.h"

using namespace mpg;

/// Pointers of the caller need no alignment.
typedef float UnalignedFloat __attribute__((aligned(1), may_alias));

static int check(const float *y, const float *x, int64_t begin, int64_t end,
                 int64_t stride) {
  if (int error = checkElements(begin, end))
    return error;
  if (stride < 1)
    return kernelError(EINVAL, "stride is %" PRId64 "; it must be at least 1",
                       stride);
  if (begin == end)
    return 0;
  int64_t last;
  if (__builtin_mul_overflow(end - 1, stride, &last))
    return kernelError(EOVERFLOW,
                       "element %" PRId64 " with stride %" PRId64
                       " lies outside of the address space",
                       end - 1, stride);
  if (int error = checkReach("y", y, uint64_t(last), sizeof(float)))
    return error;
  return checkReach("x", x, uint64_t(last), sizeof(float));
}

/// x may be y, which is why there is no `restrict`; the compiler looks for
/// overlap before it takes vectors.
static void runDense(UnalignedFloat *y, const UnalignedFloat *x, float a,
                     size_t count) {
  for (size_t i = 0; i < count; ++i)
    y[i] += a * x[i];
}

static void runStrided(UnalignedFloat *y, const UnalignedFloat *x, float a,
                       size_t count, size_t stride) {
  for (; count; --count, y += stride, x += stride)
    *y += a * *x;
}

int mpg_saxpy_f32(float *y, const float *x, float a, int64_t begin, int64_t end,
                  int64_t stride) {
  int error = check(y, x, begin, end, stride);
  if (error || begin == end)
    return error;
  size_t count = size_t(end - begin);
  if (stride == 1)
    runDense(y + begin, x + begin, a, count);
  else
    runStrided(y + begin * stride, x + begin * stride, a, count,
               size_t(stride));
  return 0;
}
