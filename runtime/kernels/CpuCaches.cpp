// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CpuCaches.h.

#include "CpuCaches.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace mpg;

#if defined(__x86_64__)

uint64_t mpg::readCacheBytes(unsigned level, unsigned &sharers) {
  constexpr unsigned leafAmd = 0x8000001d, leafIntel = 4, largestIndex = 8;
  constexpr unsigned leaves[] = {leafAmd, leafIntel};
  for (unsigned leaf : leaves)
    for (unsigned index = 0; index < largestIndex; ++index) {
      unsigned a, b, c, d;
      if (!__get_cpuid_count(leaf, index, &a, &b, &c, &d) || (a & 31) == 0)
        break;
      if ((a >> 5 & 7) != level)
        continue;
      uint64_t line = (b & 0xfff) + 1, parts = (b >> 12 & 0x3ff) + 1,
               ways = (b >> 22) + 1, sets = uint64_t(c) + 1;
      sharers = (a >> 14 & 0xfff) + 1;
      return line * parts * ways * sets;
    }
  return 0;
}

#endif

uint64_t mpg::readOnce(uint64_t &known, uint64_t (*read)()) {
  uint64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!bytes) {
    bytes = read();
    __atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
  }
  return bytes;
}
