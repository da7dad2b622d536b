// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimArrays.h.

#include "SimRun/SimArrays.h"
#include <algorithm>
#include <map>

using namespace mpg::sim;

SimArrays::SimArrays() : arrays(1) { arrays[0].name = "other memory"; }

void SimArrays::erase(std::map<uint64_t, Block>::iterator block) {
  SimArray &array = arrays[block->second.array];
  array.liveBytes -= block->second.end - block->first;
  --array.liveBlocks;
  blocks.erase(block);
}

/// Forgets blocks in [begin, end): code that is not seen has freed them.
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
  array.maxBlocks = std::max(array.maxBlocks, ++array.liveBlocks);
}

void SimArrays::split(uint64_t begin, uint64_t bytes) {
  for (uint64_t border : {begin, begin + bytes}) {
    auto block = blocks.upper_bound(border);
    if (block == blocks.begin())
      continue;
    --block;
    if (block->first == border || block->second.end <= border)
      continue;
    blocks[border] = block->second;
    block->second.end = border;
    ++arrays[block->second.array].liveBlocks;
  }
}

void SimArrays::remove(uint64_t begin) {
  auto block = blocks.find(begin);
  if (block == blocks.end() ||
      arrays[block->second.array].kind != SimArray::heap)
    return;
  ++changeCount;
  erase(block);
}

void SimArrays::distinguish(unsigned number, const std::string &key,
                            const std::string &distinction) {
  arrays[number].key = key;
  arrays[number].distinction = distinction;
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

// Pages of arrays

void SimPageUse::find(unsigned array, uint64_t hugeFrame, Recent &one) {
  if (array >= used.size())
    used.resize(array + 1);
  one = {hugeFrame, array, &used[array][hugeFrame]};
}

void SimPageUse::addRange(unsigned array, uint64_t begin, uint64_t end) {
  for (uint64_t page = begin >> pageBits; page << pageBits < end; ++page)
    add(array, page << pageBits);
}

/// A stream that moves by a page or less touches every page.
void SimPageUse::addStream(unsigned array, const Stream &stream, uint64_t times,
                           Walked &last) {
  if (stream.stride == last.stride && times <= last.times &&
      stream.begin - last.begin <= last.room)
    return;
  if (!times)
    return;
  uint64_t end = stream.begin + uint64_t(stream.stride) * (times - 1);
  last = {stream.begin, std::min(roomAt(stream.begin), roomAt(end)), times,
          stream.stride};
  if (stream.stride >= -4096 && stream.stride <= 4096)
    return addRange(array, std::min(stream.begin, end),
                    std::max(stream.begin, end) + 1);
  uint64_t address = stream.begin;
  for (uint64_t at = 0; at < times; ++at, address += uint64_t(stream.stride)) {
    add(array, address);
    last.room = std::min(last.room, roomAt(address));
  }
}

std::vector<PageUse> SimPageUse::byArray() const {
  std::vector<PageUse> all;
  for (const auto &hugeFrames : used) {
    PageUse use;
    for (const auto &[number, pages] : hugeFrames) {
      ++use.of2M;
      use.of4K += pages.count();
      for (unsigned first = 0; first < pagesEach; first += 16) {
        bool isUsed = false;
        for (unsigned page = first; page < first + 16; ++page)
          isUsed |= pages[page];
        use.of64K += isUsed;
      }
    }
    all.push_back(use);
  }
  return all;
}

PageHeat SimPageUse::computeHeat(unsigned array, unsigned maxRows) const {
  PageHeat heat;
  if (array >= used.size() || used[array].empty())
    return heat;
  std::map<uint64_t, const Pages *> byAddress;
  for (const auto &[number, pages] : used[array])
    byAddress[number] = &pages;
  static constexpr unsigned each = pagesEach / PageHeat::parts;
  heat.pagesEach = (byAddress.size() + maxRows - 1) / maxRows;
  std::vector<uint64_t> sums(PageHeat::parts);
  uint64_t inRow = 0, left = byAddress.size();
  for (const auto &[number, pages] : byAddress) {
    for (unsigned page = 0; page < pagesEach; ++page)
      sums[page / each] += (*pages)[page];
    --left;
    if (++inRow < heat.pagesEach && left)
      continue;
    std::vector<uint8_t> row;
    // A used page never rounds down to nothing.
    for (uint64_t &sum : sums) {
      row.push_back(uint8_t((100 * sum + inRow * each - 1) / (inRow * each)));
      sum = 0;
    }
    heat.rows.push_back(row);
    inRow = 0;
  }
  return heat;
}
