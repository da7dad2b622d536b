// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-prefetch: one prefetch into L1 and one into L2 for each line that a
// loop walks along, so many lines ahead. The hardware's prefetchers reach a few
// lines and must see a stream before they follow it; LLVM's own prefetches are
// for strides of 1 KiB and more. HW:a64fx-prefetch-queue
//
// Where an iteration needs less than a line, the loop becomes two: the outer
// one prefetches, the inner one does the iterations that a line has room for.
// An address is a value from in front of the loop plus a counter of bytes,
// which all streams with one step share.
//
// --mpg-prefetch-indirect: a[b[i]], by b some iterations ahead, on every
// target; and rows that b names.
//
// A prefetch changes no value and cannot fault, so the addresses beyond the end
// of an array need no check.

#pragma once

#include "base/PassOptions.h"
#include "base/StagePass.h"

namespace mpg {

/// The outcome for a loop.
struct PrefetchVerdict {
  unsigned streams = 0; ///< none, and no reason: it has none to prefetch
  PrefetchLines lines;  ///< as they are in this loop
  unsigned ahead = 0;   ///< iterations; then the streams are lookups
  const char *reason = nullptr; ///< why not; null: all analyses are stale
  unsigned rows = 0;            ///< begins of rows that lookups name
  unsigned rowsAhead = 0;       ///< iterations
  unsigned elementsAhead = 0;   ///< those of what elements of rows look up
};

/// Puts prefetches into \p loop, an innermost one with a preheader.
PrefetchVerdict writePrefetches(Loop &loop, PrefetchLines lines,
                                FunctionAnalysisManager &analyses);

/// Which loops prefetch what they look up.
enum class IndirectUse {
  far,    ///< no rows of another loop, and only where lookups are far apart
  always, ///< for tests: as far, wherever the lookups are
  asked   ///< by the loop's own directive: rows as well
};

/// Puts prefetches of what \p loop looks up by an index into it, \p distance
/// iterations of the source ahead (1 to maxIndirect).
PrefetchVerdict writeIndirectPrefetches(Loop &loop, unsigned distance,
                                        IndirectUse use,
                                        FunctionAnalysisManager &analyses);

/// Puts prefetches of what \p loop, which has loops in it, looks up by a list
/// into it. \p distance is in iterations of short loops as these are.
PrefetchVerdict writeListPrefetches(Loop &loop, unsigned distance,
                                    IndirectUse use,
                                    FunctionAnalysisManager &analyses);

struct PrefetchPass : StagePass<PrefetchPass> {
  using StagePass::StagePass;
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};

} // namespace mpg
