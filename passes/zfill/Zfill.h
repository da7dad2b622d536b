// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-zfill: a store to a line that is in no cache first reads the line from
// memory. For stores that overwrite whole lines the reading is waste, and DC
// ZVA makes it unnecessary: it puts a line of zeros into L2. HW:a64fx-zero-fill
//
// The loop is made twice. The new one runs while the lines it zeroes are wholly
// among those that the rest of the loop overwrites; then the loop as it was
// does the last iterations. It does all of them if the arrays fit into the
// caches, if the machine has other blocks, or if the loop is short.
//
// Rules, each with a test that breaks it on purpose (ZfillRule):
//
//   the loop runs a number of iterations known before it, and nothing in it can
//   leave it sooner, or lets another thread see the memory in between
//   every iteration stores, and the stores of one leave no gap before the next
//   nothing in the loop reads a byte of them before it is stored
//   a counter shorter than an address does not wrap, which is asked before it
//   lines are zeroed ahead of all stores of the iteration, and up to the last
//   whole line that this loop overwrites: a team's threads share no such line
//
// Must be after all optimisations, which would not know what DC ZVA writes.

#ifndef MPG_PASSES_ZFILL_H
#define MPG_PASSES_ZFILL_H

#include "base/PassOptions.h"
#include "tags/TagWriter.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Instruction;
class Loop;
class LoopInfo;
class SCEV;
class SCEVAddRecExpr;
class SCEVPredicate;
class ScalarEvolution;
class StoreInst;
class Value;
} // namespace llvm

namespace mpg {

//===----------------------------------------------------------------------===//
// Loops that may be changed (StoreStreams.cpp)
//===----------------------------------------------------------------------===//

/// Bytes of the iterations of one loop that a stream must not overlap.
struct ReadRange {
  const llvm::SCEV *address; ///< of one access, in the loop
  const llvm::SCEV *step;    ///< 64 bits
  /// From the address; to be multiplied by vscale if isScalable.
  int64_t begin, end;
  bool isScalable;
};

/// Stores of one loop that together overwrite consecutive memory.
struct StoreStream {
  /// In the order of their addresses; stores[0] begins the stream.
  llvm::SmallVector<llvm::StoreInst *, 4> stores;
  llvm::SmallVector<int64_t, 4> offsets; ///< of each from the first
  const llvm::SCEVAddRecExpr *address;   ///< of the first
  const llvm::SCEV *step;                ///< bytes of an iteration, 64 bits
  uint64_t minStep; ///< bytes; to be multiplied by vscale if isScalable
  bool isScalable;
  /// Unless these are elsewhere in memory, which is asked in front of the loop.
  llvm::SmallVector<ReadRange, 2> reads;
  /// The innermost loop around it that reads the memory as well. Null: none,
  /// or StreamUse::overwritten.
  const llvm::Loop *readIn = nullptr;
};

/// The facts about a loop before it runs.
struct StreamLoop {
  llvm::SmallVector<StoreStream, 4> streams;
  const llvm::SCEV *times = nullptr; ///< iterations, 64 bits
  /// Assumptions of the addresses, to be checked in front of the loop.
  llvm::SmallVector<const llvm::SCEVPredicate *, 2> assumed;
  /// Why nothing can be zeroed; null: all streams can.
  const char *reason = nullptr;
};

/// Conditions on a stream's stores.
enum class StreamUse {
  overwritten, ///< the loop reads their memory only after it has stored
  unread       ///< the loop does not read their memory
};

/// Looks at \p loop, an innermost one with a preheader. No streams and no
/// reason: it has nothing to do with this pass.
StreamLoop findStoreStreams(llvm::Loop &loop,
                            llvm::FunctionAnalysisManager &analyses,
                            const PassOptions &options, StreamUse use);

//===----------------------------------------------------------------------===//
// The new loop (ZfillLoop.cpp)
//===----------------------------------------------------------------------===//

/// The smallest block of `auto`, which zeroes in such steps.
constexpr unsigned smallLineBytes = 64;

/// Puts a loop with DC ZVA in front of \p loop. \returns why not, or null; then
/// all analyses of the function are stale.
const char *writeZfillLoop(llvm::Loop &loop, const StreamLoop &known,
                           llvm::FunctionAnalysisManager &analyses,
                           const PassOptions &options);

/// The address whose line \p instruction zeroes, or would on AArch64; null: it
/// is no DC ZVA of ours.
llvm::Value *zeroedAddress(const llvm::Instruction &instruction);

//===----------------------------------------------------------------------===//
// The pass (ZfillPass.cpp)
//===----------------------------------------------------------------------===//

class ZfillPass : public llvm::PassInfoMixin<ZfillPass> {
public:
  explicit ZfillPass(TagWriterPass::Stage stage) : stage(stage) {}
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }

private:
  TagWriterPass::Stage stage;
};

} // namespace mpg

#endif // MPG_PASSES_ZFILL_H
