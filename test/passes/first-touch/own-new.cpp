// A program with its own operator new, here one that reuses a pool: its memory is not
// fresh, and stays untouched.
// RUN: %remarks-cxx %s | %expect %s
// RUN: %same-cxx %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// SAME: same: 20 runs
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

static char pool[64 << 20] = {1};
static size_t taken;
__attribute__((noinline)) void *operator new(size_t bytes) {
  if (taken == 0)
    memset(pool, 0x5a, sizeof pool);
  void *memory = pool + taken;
  taken += (bytes + 63) / 64 * 64;
  return memory;
}
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}

int main(int argc, char **) {
  const long n = 700000L * argc;
  std::vector<double> x(n, 1);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) x[i] += i;
  unsigned char *raw = static_cast<unsigned char *>(operator new(n * 8));
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n * 8; ++i) raw[i] += 1;
  printf("%.1f %d\n", x[n - 1], raw[n]);
}
