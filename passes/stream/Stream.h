// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-stream-stores, for x86-64: a store to a line that is in no cache first
// reads the line from memory. A non-temporal store of a whole line does not,
// and displaces nothing from the caches. HW:x86-non-temporal
//
// After all optimisations, in front of a vectorised loop:
//
//   isLarge = the nest writes more than the last cache holds
//   if (isLarge && times >= min && all streams can be aligned)
//     the first iterations, as they are
//     from the first border of a line on, whole lines past the caches
//     sfence                             or, if possible, after the nest
//     go on where these have stopped
//   the loop
//
// The border lies within the first iterations, so some elements are computed
// twice, and so are some of the last ones: the loop must compute each element
// from its number alone (StreamMarker.cpp, StreamBody.cpp).
//
// Rules: those of zero fill (zfill/Zfill.h), and that the loop, and the nest as
// far as its bytes are counted, does not read what it stores.

#pragma once

#include "base/StagePass.h"
#include "base/StoreStreams.h"
#include <optional>

namespace mpg {

struct PassOptions;

// In front of the vectoriser (StreamMarker.cpp)

struct StreamMarkerPass : RequiredPass<StreamMarkerPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

/// Whether the elements of \p loop differ in addresses and sums alone.
bool isMarkedAlone(const Loop &loop);

// One iteration (StreamBody.cpp)

/// A value of the loop's header, which grows with the elements.
struct ElementCounter {
  PHINode *phi;
  int64_t step; ///< for one element
};

/// An iteration of a vectorised loop that could begin at any element.
struct StreamBody {
  uint64_t elements = 0; ///< of one iteration
  size_t index = 0;      ///< of the counter of elements
  SmallVector<ElementCounter, 4> counters;
  StreamLoop known; ///< with elements for iterations
};

/// Nothing if \p loop has no such iterations, or stores other than in the
/// streams of \p known.
std::optional<StreamBody> findStreamBody(const Loop &loop,
                                         const StreamLoop &known,
                                         ScalarEvolution &scev);

/// Whether \p instruction, an OR, adds: perhaps only because iterations begin
/// at multiples of their elements.
bool isSum(const Instruction &instruction);

/// The value of \p counter \p elements after \p start.
Value *advance(const ElementCounter &counter, Value *start, Value *elements,
               IRBuilderBase &builder);

// The last cache (LastCache.cpp)

/// Bytes of it, a variable of \p module's program. Until that has asked, no
/// loop writes so much.
GlobalVariable *getLastCache(Module &module);

// The loop in front (StreamLoop.cpp)

/// Puts the loop with stores past the caches in front of \p loop, an innermost
/// one with a preheader. \returns why not, or null; then all analyses of the
/// function are stale.
const char *writeStreamLoop(Loop &loop, const StreamLoop &known,
                            FunctionAnalysisManager &analyses,
                            const PassOptions &options);

// The pass (StreamPass.cpp)

struct StreamStoresPass : StagePass<StreamStoresPass> {
  using StagePass::StagePass;
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};

} // namespace mpg
