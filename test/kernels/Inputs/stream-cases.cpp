// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cases of test/unit/kernels/StreamCases.h as a separate program for
// emulated processors. Prints the variant, the length of its vectors, the block
// of DC ZVA, and `right`, or the first error with status 1.

#include "KernelTable.h"
#include "StreamCases.h"

#include <cstdio>

using namespace streamcases;

#ifdef __aarch64__
static unsigned vectorBits() {
  unsigned long bytes = 0;
  // Not svcntb: the program must also run where there is no SVE.
  if (strcmp(mpg_kernel_variant(), "sve") == 0)
    __asm__ volatile(".arch armv8.2-a+sve\n\tcntb %0" : "=r"(bytes));
  return unsigned(8 * bytes);
}

/// An array is the same array whatever tag its address has: zeroing ahead would
/// destroy what is still to be read.
static bool keepsTaggedSource() {
  alignas(256) static double x[2048], wanted[2048];
  for (int i = 0; i < 2048; ++i) {
    x[i] = i;
    wanted[i] = 3.0 * i;
  }
  auto *tagged =
      reinterpret_cast<double *>(uintptr_t(x) | uintptr_t(0x41) << 56);
  mpg_stream_tuning tuning = makeTuning(0, 256, 0);
  return mpg_stream_scale_f64(x, tagged, 3.0, 0, 2048, &tuning) == 0 &&
         memcmp(x, wanted, sizeof(x)) == 0;
}
#else
static unsigned vectorBits() { return 0; }
static bool keepsTaggedSource() { return true; }
#endif

int main() {
  printf("%s, %u bits, zeroes %zu bytes\n", mpg_kernel_variant(), vectorBits(),
         mpg::zeroFillBlockBytes());
  mpg_stream_tuning tuning = makeTuning(0, 0, 0);
  mpg_stream_tuning_default(&tuning);
  printf("prefetch %u, zero fill %u\n", tuning.prefetchBytes,
         tuning.zeroFillBytes);
  for (const Runner &runner : allRunners())
    for (const Case &test : allCases) {
      std::string wrong = test.check(runner);
      if (!wrong.empty()) {
        printf("%s: %s\n", test.name, wrong.c_str());
        return 1;
      }
    }
  if (!keepsTaggedSource()) {
    puts("a tagged source was overwritten");
    return 1;
  }
  puts("right");
}
