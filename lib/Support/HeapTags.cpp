// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapTags.h.

#include "Support/HeapTags.h"

using namespace llvm;

bool mpg::tagsHeap(StringRef tunables) {
  bool tags = false;
  while (!tunables.empty()) {
    auto [item, rest] = tunables.split(':');
    unsigned value;
    if (item.consume_front("glibc.mem.tagging=") &&
        !item.getAsInteger(0, value))
      tags = value & 1;
    tunables = rest;
  }
  return tags;
}
