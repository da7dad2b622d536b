// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nest around a loop with stores past the caches: whether it writes enough,
// and the fence behind it.

#pragma once

#include "base/FrontLoop.h"
#include "base/LLVM.h"

namespace mpg {

/// Lets all threads see the stores past the caches before what follows.
void addStoreFence(IRBuilderBase &builder);

class StreamNest : protected FrontLoop {
protected:
  StreamNest(Loop &loop, const StreamLoop &known,
             FunctionAnalysisManager &analyses, bool isAlways);

  /// Fewer bytes than any last cache, or part of one, holds.
  uint64_t minBytes() const;
  /// Whether the nest writes more than the last cache holds, which is asked
  /// only where it writes much. Moves \p end there, if it is the place.
  Value *decide(const Decision &decision, Instruction *&end);
  /// The outermost loop around this one, with \p place in front of it, that
  /// lets no other thread see the memory. Null: none.
  Loop *findNest(const Instruction &place) const;
  /// Adds a fence where \p nest is left, if \p isLarge: better than after each
  /// run, because a fence waits for all stores.
  void addFences(const Loop &nest, Value &isLarge);

  LoopInfo &loops;
  DominatorTree &dominators;
  const bool isAlways; ///< for tests: small nests count as large

private:
  Value *exceedsCache(Value *bytes, Instruction &place);
  Loop *findCopied(const Instruction &place) const;
};

} // namespace mpg
