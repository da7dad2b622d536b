// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-stream-stores, for x86-64: a store to a line that is in no cache first
// reads the line from memory. A non-temporal store of a whole line does not,
// and displaces nothing from the caches. HW:x86-non-temporal
//
// In front of the vectoriser the loop gets two copies beside it:
//
//   isLarge = the nest writes more than the last cache holds
//   if (isLarge && times > first + min && all streams can be aligned)
//     the edge: first iterations, up to a border of 64 bytes
//     the middle: whole blocks of iterations, marked, for the vectoriser
//     the edge once more, for the iterations that are left
//     sfence                             or, if possible, after the nest
//   else
//     the loop as it was
//
// A loop around it that has no other loop in it is made twice before, for
// isLarge and for !isLarge.
//
// After the last optimisation the aligned vector stores of marked loops become
// non-temporal, and their reads are prefetched. A loop that the vectoriser has
// left alone stays as it is.
//
// Rules: those of zero fill (zfill/Zfill.h), and that the loop, and the nest as
// far as its bytes are counted, does not read what it stores.

#ifndef MPG_PASSES_STREAM_H
#define MPG_PASSES_STREAM_H

#include "tags/TagWriter.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Loop;
} // namespace llvm

namespace mpg {

struct PassOptions;
struct StreamLoop;

/// Of the loop whose vector stores become non-temporal, as metadata.
constexpr char streamMark[] = "mpg.stream";

/// Puts the loops beside \p loop, an innermost one with a preheader.
/// \returns why not, or null; then all analyses of the function are stale.
const char *writeStreamLoop(llvm::Loop &loop, const StreamLoop &known,
                            llvm::FunctionAnalysisManager &analyses,
                            const PassOptions &options);

/// Before the vectoriser.
class StreamLoopsPass : public llvm::PassInfoMixin<StreamLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// After all optimisations.
class StreamStoresPass : public llvm::PassInfoMixin<StreamStoresPass> {
public:
  explicit StreamStoresPass(TagWriterPass::Stage stage) : stage(stage) {}
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }

private:
  TagWriterPass::Stage stage;
};

} // namespace mpg

#endif // MPG_PASSES_STREAM_H
