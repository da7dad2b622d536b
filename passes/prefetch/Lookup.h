// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses by an index that a loop has read, which its prefetches are for.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/BasicBlock.h"
#include <cstdint>

namespace mpg {

/// Instructions from an index to an address that are worth doing twice.
constexpr unsigned maxSteps = 16;
/// Of an iteration. A core waits for about as many lines at a time, and needs
/// no prefetches for that.
constexpr unsigned maxLookups = 16;
/// Smaller tables are in the first caches anyway.
constexpr uint64_t minTableBytes = 1 << 20;
constexpr const char *tooManyLookups = "it has more than 16 lookups";

struct Lookup {
  Instruction *access;
  Value *address;
  const SCEV *place; ///< the address, the first one in inner loops
  bool isWritten;
};

/// The address of \p access if it may need a prefetch: it is a plain access,
/// and not to a variable that the first caches hold anyway. Else null.
Value *getPrefetchable(Instruction &access);

/// Whether one of \p lookups is so near \p place that it gets the same line. It
/// then counts as written if \p access writes.
bool joinNear(MutableArrayRef<Lookup> lookups, const SCEV *place,
              const Instruction &access, ScalarEvolution &scev);

/// Whether \p step computes with floating point, which a program may have asked
/// to trap.
bool isFloating(const Instruction &step);

/// A copy of \p step for other operands: without what is known of its result.
Instruction *copyStep(const Instruction &step);

/// Whether the addresses are more than so many \p bytes apart.
Value *areApart(Value *now, Value *then, uint64_t bytes,
                IRBuilderBase &builder);

/// Makes a block in front of \p at for a rare \p condition. \returns its end.
Instruction *splitUnlikely(Value *condition, BasicBlock::iterator at,
                           LoopInfo &loops);

} // namespace mpg
