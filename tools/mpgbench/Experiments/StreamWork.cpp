// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StreamWork.h.

#include "mpgbench/Experiments/StreamWork.h"

using namespace mpg;

uint64_t mpg::readBlocks(const Block *begin, const Block *end) {
  // As many sums as find room in registers: none waits for the one before.
  constexpr unsigned count = 8;
  uint64_t sums[count] = {};
  for (const Block *block = begin; block < end; ++block)
    for (unsigned i = 0; i < 32; i += count)
      for (unsigned j = 0; j < count; ++j)
        sums[j] += block->words[i + j];
  uint64_t sum = 0;
  for (uint64_t part : sums)
    sum += part;
  return sum;
}

void mpg::touchBlocks(Block *begin, Block *end) {
  for (Block *block = begin; block < end; ++block)
    block->words[0] = uint64_t(block - begin);
}
