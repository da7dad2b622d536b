// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both machines need to look for many addresses at once: those that lie
// close together become one span, because each span costs a pass over the code.

#include "Code/MachineCode.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

void mpg::addSpans(std::vector<AddressSpan> &spans,
                   ArrayRef<uint64_t> addresses) {
  bool isFirst = true;
  for (uint64_t address : addresses) {
    if (!isFirst && address - spans.back().first <= AddressSpan::maxBytes)
      spans.back().last = address;
    else
      spans.push_back({address, address});
    isFirst = false;
  }
}

bool mpg::containsAddress(ArrayRef<uint64_t> sorted, uint64_t address) {
  return std::binary_search(sorted.begin(), sorted.end(), address);
}
