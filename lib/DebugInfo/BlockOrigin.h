// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one identity of a block of the heap: the calls on which it was allocated,
// named by the first line outside of the C and C++ libraries and of functions
// that only pass on what they allocate. mpgrun --profile, mpgsim and mpgaudit
// --recommend name blocks by it.

#pragma once

#include "DebugInfo/DebugInfo.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace mpg {

/// Where a call returns to: an address in a file.
struct CallAddress {
  std::string path;
  uint64_t address;
};

struct BlockOrigin {
  /// "grid.c:12"; where lines are not known "solve+0x4d", "libfoo.so.1+0x1f00";
  /// empty: not known.
  std::string place;
  std::string file; ///< program or library of the place, without its folder
  bool hasLine = false;
  std::string sourceFile; ///< of the place, as the compiler wrote it
  unsigned line = 0;
  std::string variable; ///< that gets the block; empty: not known
  /// "solve (grid.c:12)": from the inside out, without those of libraries.
  std::vector<std::string> callers;
  std::vector<std::string> callerPlaces; ///< "grid.c:12", of callers
  /// What other blocks of this variable and place do not have: " from
  /// grid.c:40", " #2"; empty: there are none.
  std::string distinction;

  /// "table (grid.c:12)", "table (grid.c:12 from grid.c:40)".
  std::string name() const;
  /// Whether \p wanted, which may name a caller that disambiguate() would not,
  /// names this block. \p number: of the blocks of this variable and place.
  bool isNamed(llvm::StringRef wanted, size_t number) const;
};

class BlockNamer {
public:
  /// \p calls: from the inside out.
  BlockOrigin origin(llvm::ArrayRef<CallAddress> calls);

  /// The call that allocates a block, of \p recording, which reports it right
  /// after that.
  CallAddress findAllocating(const CallAddress &recording);

private:
  DebugInfo &getInfo(const std::string &path);
  std::string findObject(llvm::ArrayRef<CallAddress> calls,
                         const CallAddress &call, size_t number);
  std::map<std::string, std::unique_ptr<DebugInfo>> files;
};

/// Sets the distinction of those of \p origins that have one variable and line:
/// the callers that tell them apart, or else numbers.
void disambiguate(llvm::MutableArrayRef<BlockOrigin> origins);

} // namespace mpg
