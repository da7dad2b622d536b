// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a mapping that lies only partly in the range as much as fits is counted.

#include "pages/RangeUse.h"

#include "base/SelfMaps.h"

#include <string.h>

using namespace mpg;

/// The bytes of \p line if it is the field \p name, else 0.
static uint64_t fieldOf(const char *line, const char *name) {
  size_t length = strlen(name);
  if (strncmp(line, name, length) != 0)
    return 0;
  const char *at = line + length;
  while (*at == ' ')
    ++at;
  uint64_t kib = 0;
  parseNumber(at, 10, kib);
  return kib << 10;
}

RangeUse mpg::useOf(Range range) {
  LineReader lines("/proc/self/smaps");
  Mapping mapping;
  RangeUse use;
  uint64_t overlap = 0;
  auto add = [&](uint64_t &sum, uint64_t bytes) {
    sum += bytes < overlap ? bytes : overlap;
  };
  while (const char *line = lines.next()) {
    if (parseMapping(line, mapping)) {
      uintptr_t start =
          mapping.range.start > range.start ? mapping.range.start : range.start;
      uintptr_t end =
          mapping.range.end < range.end ? mapping.range.end : range.end;
      overlap = Range{start, end}.bytes();
      continue;
    }
    if (!overlap)
      continue;
    add(use.bytes, fieldOf(line, "Rss:")); // without pages of the pool
    add(use.thpBytes, fieldOf(line, "AnonHugePages:"));
    add(use.poolBytes, fieldOf(line, "Private_Hugetlb:"));
    add(use.poolBytes, fieldOf(line, "Shared_Hugetlb:"));
  }
  use.bytes += use.poolBytes;
  return use;
}
