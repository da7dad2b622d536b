// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caches that data go through, as sysfs describes those of the first CPU.

#ifndef MPG_NODE_DATACACHES_H
#define MPG_NODE_DATACACHES_H

#include "Node/SysTree.h"

namespace mpg {

/// One cache; a number is 0 and a text empty where sysfs does not tell, as on
/// many AArch64 machines.
struct DataCache {
  uint64_t level = 0;
  std::string size; ///< "48K"
  uint64_t sets = 0, ways = 0, lineBytes = 0;
};

/// From the first level on.
std::vector<DataCache> readDataCaches(const SysTree &tree);

} // namespace mpg

#endif // MPG_NODE_DATACACHES_H
