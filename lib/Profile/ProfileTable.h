// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libmpg wrote down of large blocks (<mpg/profile.h>), copied out of the
// file and made sure of: a program may have written anything there.

#ifndef MPG_PROFILE_PROFILETABLE_H
#define MPG_PROFILE_PROFILETABLE_H

#include "mpg/profile.h"
#include <vector>

namespace mpg {

struct ProfileTable {
  std::vector<mpg_profile_site> sites;
  /// In use, or given back not long ago; \p site is an index, not a number.
  std::vector<mpg_profile_block> blocks;
  uint64_t blocksLost = 0; ///< for these there was no room
};

/// Makes the file \p fd of makeStateFile() longer. False: there is no room for
/// it (RLIMIT_FSIZE).
bool addProfileTable(int fd);

/// Has libmpg make 2 MiB frames of blocks mappings of their own. pre: the file
/// has a table.
void askForFrames(int fd);

/// What the file \p fd has at this moment.
ProfileTable readProfileTable(int fd);

/// The blocks of it alone.
std::vector<mpg_profile_block> readProfileBlocks(int fd);

/// How many sites there are: changes when one is added.
unsigned countSites(int fd);

} // namespace mpg

#endif // MPG_PROFILE_PROFILETABLE_H
