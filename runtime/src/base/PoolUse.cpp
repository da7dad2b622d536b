// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PoolUse.h.

#include "base/PoolUse.h"
#include "base/SelfMaps.h"

using namespace mpg;

uint64_t mpg::poolBytesInUse() {
  LineReader lines("/proc/self/status");
  uint64_t bytes = 0;
  while (const char *line = lines.next())
    if (parseSize(line, "HugetlbPages:", bytes))
      return bytes;
  return 0;
}
