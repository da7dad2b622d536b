// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProfileTable.h.

#include "Profile/ProfileTable.h"
#include "mpg/state.h"
#include <algorithm>
#include <cstddef>
#include <sys/resource.h>
#include <unistd.h>

using namespace mpg;

bool mpg::addProfileTable(int fd) {
  constexpr uint64_t all = MPG_STATE_PROFILE + sizeof(mpg_profile);
  rlimit limit = {};
  // To be over it is SIGXFSZ.
  if (fd < 0 || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < all)
    return false;
  // A hole: only what is written takes memory.
  return ftruncate(fd, all) == 0;
}

void mpg::askForFrames(int fd) {
  uint32_t wanted = 1;
  (void)!pwrite(fd, &wanted, sizeof wanted,
                MPG_STATE_PROFILE + offsetof(mpg_profile, wantsFrames));
}

template <typename Value>
static bool readAt(int fd, uint64_t offset, Value *values, size_t count) {
  return pread(fd, values, count * sizeof(Value),
               off_t(MPG_STATE_PROFILE + offset)) ==
         ssize_t(count * sizeof(Value));
}

unsigned mpg::countSites(int fd) {
  uint32_t count;
  static_assert(offsetof(mpg_profile, siteCount) == 0);
  if (fd < 0 || !readAt(fd, 0, &count, 1))
    return 0;
  return std::min<uint32_t>(count, MPG_PROFILE_SITES);
}

std::vector<mpg_profile_block> mpg::readProfileBlocks(int fd) {
  uint32_t counts[2];
  static_assert(offsetof(mpg_profile, blockCount) == sizeof(uint32_t));
  if (fd < 0 || !readAt(fd, 0, counts, 2))
    return {};
  std::vector<mpg_profile_block> blocks(
      std::min<uint32_t>(counts[1], MPG_PROFILE_BLOCKS));
  if (!readAt(fd, offsetof(mpg_profile, blocks), blocks.data(), blocks.size()))
    return {};
  uint32_t sites = std::min<uint32_t>(counts[0], MPG_PROFILE_SITES);
  auto isWrong = [&](mpg_profile_block &block) {
    --block.site;
    return block.site >= sites || block.bytes == 0 ||
           block.start + block.bytes < block.start;
  };
  blocks.erase(std::remove_if(blocks.begin(), blocks.end(), isWrong),
               blocks.end());
  return blocks;
}

ProfileTable mpg::readProfileTable(int fd) {
  ProfileTable table;
  // The blocks first: their sites are there.
  table.blocks = readProfileBlocks(fd);
  table.sites.resize(countSites(fd));
  if (fd < 0 || !readAt(fd, offsetof(mpg_profile, sites), table.sites.data(),
                        table.sites.size()))
    return {};
  (void)!readAt(fd, offsetof(mpg_profile, blocksLost), &table.blocksLost, 1);
  return table;
}
