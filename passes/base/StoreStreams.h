// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops overwrite consecutive memory that they do not read: for passes
// that save such stores the reading of their lines (zfill/, stream/).

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

struct PassOptions;

/// Bytes of the iterations of one loop that a stream must not overlap.
struct ReadRange {
  const SCEV *address; ///< of one access, in the loop
  const SCEV *step;    ///< 64 bits
  /// From the address; to be multiplied by vscale if isScalable.
  int64_t begin, end;
  bool isScalable;
};

/// Stores of one loop that together overwrite consecutive memory.
struct StoreStream {
  /// In the order of their addresses; stores[0] begins the stream.
  SmallVector<StoreInst *, 4> stores;
  SmallVector<int64_t, 4> offsets; ///< of each from the first
  const SCEVAddRecExpr *address;   ///< of the first
  const SCEV *step;                ///< bytes of an iteration, 64 bits
  uint64_t minStep; ///< bytes; to be multiplied by vscale if isScalable
  bool isScalable;
  /// Unless these are elsewhere in memory, which is asked in front of the loop.
  SmallVector<ReadRange, 2> reads;
  /// The innermost loop around it that reads the memory as well. Null: none,
  /// or StreamUse::overwritten.
  const Loop *readIn = nullptr;
};

/// The facts about a loop before it runs.
struct StreamLoop {
  SmallVector<StoreStream, 4> streams;
  const SCEV *times = nullptr; ///< iterations, 64 bits
  /// Assumptions of the addresses, to be checked in front of the loop.
  SmallVector<const SCEVPredicate *, 2> assumed;
  /// Why nothing can be zeroed; null: all streams can.
  const char *reason = nullptr;
};

/// Conditions on a stream's stores.
enum class StreamUse {
  overwritten, ///< the loop reads their memory only after it has stored
  unread       ///< the loop neither reads nor otherwise stores to it
};

/// Looks at \p loop, an innermost one with a preheader. No streams and no
/// reason: it has nothing to do with this pass.
StreamLoop findStoreStreams(Loop &loop, FunctionAnalysisManager &analyses,
                            const PassOptions &options, StreamUse use);

} // namespace mpg
