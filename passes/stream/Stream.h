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

#ifndef MPG_PASSES_STREAM_H
#define MPG_PASSES_STREAM_H

#include "base/StoreStreams.h"
#include "tags/TagWriter.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"
#include <optional>

namespace llvm {
class GlobalVariable;
class Instruction;
class IRBuilderBase;
class Loop;
class Module;
class PHINode;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace mpg {

struct PassOptions;

// In front of the vectoriser (StreamMarker.cpp)

class StreamMarkerPass : public llvm::PassInfoMixin<StreamMarkerPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Whether the elements of \p loop differ in addresses and sums alone.
bool isMarkedAlone(const llvm::Loop &loop);

// One iteration (StreamBody.cpp)

/// A value of the loop's header, which grows with the elements.
struct ElementCounter {
  llvm::PHINode *phi;
  int64_t step; ///< for one element
};

/// An iteration of a vectorised loop that could begin at any element.
struct StreamBody {
  uint64_t elements = 0; ///< of one iteration
  size_t index = 0;      ///< of the counter of elements
  llvm::SmallVector<ElementCounter, 4> counters;
  StreamLoop known; ///< with elements for iterations
};

/// Nothing if \p loop has no such iterations, or stores other than in the
/// streams of \p known.
std::optional<StreamBody> findStreamBody(const llvm::Loop &loop,
                                         const StreamLoop &known,
                                         llvm::ScalarEvolution &scev);

/// Whether \p instruction, an OR, adds: perhaps only because iterations begin
/// at multiples of their elements.
bool isSum(const llvm::Instruction &instruction);

/// The value of \p counter \p elements after \p start.
llvm::Value *advance(const ElementCounter &counter, llvm::Value *start,
                     llvm::Value *elements, llvm::IRBuilderBase &builder);

// The last cache (LastCache.cpp)

/// Bytes of it, a variable of \p module's program. Until that has asked, no
/// loop writes so much.
llvm::GlobalVariable *getLastCache(llvm::Module &module);

// The loop in front (StreamLoop.cpp)

/// Puts the loop with stores past the caches in front of \p loop, an innermost
/// one with a preheader. \returns why not, or null; then all analyses of the
/// function are stale.
const char *writeStreamLoop(llvm::Loop &loop, const StreamLoop &known,
                            llvm::FunctionAnalysisManager &analyses,
                            const PassOptions &options);

// The pass (StreamPass.cpp)

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
