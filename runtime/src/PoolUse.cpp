// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PoolUse.h.

#include "PoolUse.h"
#include "SelfMaps.h"

using namespace mpg;

uint64_t mpg::poolBytesInUse() {
  static const char key[] = "HugetlbPages:";
  LineReader lines("/proc/self/status");
  while (const char *line = lines.next()) {
    if (__builtin_strncmp(line, key, sizeof(key) - 1) != 0)
      continue;
    const char *text = line + sizeof(key) - 1;
    while (*text == ' ' || *text == '\t')
      ++text;
    uint64_t kib = 0;
    return parseNumber(text, 10, kib) ? kib << 10 : 0;
  }
  return 0;
}
