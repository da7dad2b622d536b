// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimRun/SimArrays.h"
#include <algorithm>

using namespace mpg::sim;

SimArrays::SimArrays() : arrays(1) { arrays[0].name = "other memory"; }

void SimArrays::erase(std::map<uint64_t, Block>::iterator block) {
  SimArray &array = arrays[block->second.array];
  array.liveBytes -= block->second.end - block->first;
  blocks.erase(block);
}

/// Memory that was given back by code that nobody saw is used again.
void SimArrays::makeRoom(uint64_t begin, uint64_t end) {
  auto block = blocks.upper_bound(begin);
  if (block != blocks.begin() && std::prev(block)->second.end > begin)
    --block;
  while (block != blocks.end() && block->first < end)
    erase(block++);
}

unsigned SimArrays::add(const SimArray &array, uint64_t begin, uint64_t bytes) {
  arrays.push_back(array);
  unsigned number = count() - 1;
  addBlock(number, begin, bytes);
  return number;
}

void SimArrays::addBlock(unsigned number, uint64_t begin, uint64_t bytes) {
  if (!bytes || begin + bytes < begin)
    return;
  ++changeCount;
  makeRoom(begin, begin + bytes);
  blocks[begin] = {begin + bytes, number};
  SimArray &array = arrays[number];
  array.liveBytes += bytes;
  array.bytes = std::max(array.bytes, array.liveBytes);
}

void SimArrays::remove(uint64_t begin) {
  auto block = blocks.find(begin);
  if (block == blocks.end() ||
      arrays[block->second.array].kind != SimArray::heap)
    return;
  ++changeCount;
  erase(block);
}

SimArrays::Range SimArrays::find(uint64_t address) const {
  auto next = blocks.upper_bound(address);
  uint64_t end = next == blocks.end() ? ~uint64_t(0) : next->first;
  if (next == blocks.begin())
    return {0, end, 0};
  auto block = std::prev(next);
  if (address < block->second.end)
    return {block->first, block->second.end, block->second.array};
  return {block->second.end, end, 0};
}
