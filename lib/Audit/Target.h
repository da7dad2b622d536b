// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What shall put the program on large pages: the same file is judged
// differently for Fujitsu's library, ours, libhugetlbfs, and the kernel alone.

#ifndef MPG_AUDIT_TARGET_H
#define MPG_AUDIT_TARGET_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mpg {

enum class Target : uint8_t {
  fugaku,       ///< Fujitsu's libmpg.so.1
  mpg,          ///< our libmpg
  libhugetlbfs, ///< libhugetlbfs with HUGETLB_ELFMAP
  thp,          ///< transparent huge pages, no library
};
constexpr unsigned targetCount = 4;

llvm::StringRef targetName(Target target);
std::optional<Target> parseTarget(llvm::StringRef name);

} // namespace mpg

#endif // MPG_AUDIT_TARGET_H
