// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The short table that a user reads first: of each region of the program, how
// much is eligible for large pages, and which findings stand in the way. The
// auditor never says "is on large pages": what the kernel gives is seen only
// at run time.

#ifndef MPG_AUDIT_REGIONS_H
#define MPG_AUDIT_REGIONS_H

#include "Audit/Finding.h"
#include "Elf/Image.h"

namespace mpg {

struct Subject;

struct Region {
  llvm::StringRef name; ///< text data bss heap stack thread-stack
  uint64_t bytes;       ///< 0 where atRunTime
  uint64_t eligibleBytes;
  /// All of it is; where atRunTime, nothing stands in the way.
  bool eligible;
  std::vector<FindingId> because;
  /// The target can put this region on large pages at all.
  bool reachable = true;
  /// Heap and stacks: the size is known only at run time.
  bool atRunTime = false;
};

/// Six regions of a program, none for any other kind of file.
std::vector<Region> collectRegions(const Subject &subject,
                                   llvm::ArrayRef<Finding> findings);

struct LargeSymbol {
  std::string name;
  std::string section; ///< ".data" or ".bss"
  uint64_t bytes;
};

/// The \p count largest objects of .data and .bss together, largest first;
/// empty when the symbol table was stripped.
std::vector<LargeSymbol> findLargestSymbols(Image &image, unsigned count);

} // namespace mpg

#endif // MPG_AUDIT_REGIONS_H
