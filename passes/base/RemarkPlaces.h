// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remarks about the user's source: each is said once for a place, however many
// copies of its code templates, inlining and outlining have made.

#ifndef MPG_PASSES_REMARKPLACES_H
#define MPG_PASSES_REMARKPLACES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include <set>
#include <string>
#include <tuple>

namespace mpg {

/// The remarks of one module. Not for several threads.
class RemarkPlaces {
public:
  using AddText = llvm::function_ref<void(llvm::OptimizationRemarkMissed &)>;

  /// Emits the missed remark \p name, with what \p addText puts into it, at
  /// \p location of code in \p block; nothing if the place has one already.
  void missed(llvm::StringRef name, const llvm::DebugLoc &location,
              const llvm::BasicBlock &block, AddText addText);
  void missed(llvm::StringRef name, const llvm::Instruction &at,
              AddText addText);

  /// Whether nothing was said as \p name at \p location of code in \p block
  /// about \p subject; from now on something was.
  bool isNew(llvm::StringRef name, const llvm::DebugLoc &location,
             const llvm::BasicBlock &block, llvm::StringRef subject = "");

private:
  using Place =
      std::tuple<std::string, std::string, unsigned, unsigned, std::string>;
  std::set<Place> places;
};

} // namespace mpg

#endif // MPG_PASSES_REMARKPLACES_H
