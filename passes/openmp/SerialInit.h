// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who writes to an array outside of parallel regions, and whether that is all
// of it: then one thread touches every page, and all of them land on its node.

#ifndef MPG_PASSES_SERIALINIT_H
#define MPG_PASSES_SERIALINIT_H

#include "openmp/Sampler.h"

namespace mpg {

struct SerialWrite {
  llvm::Instruction *at;
  llvm::Value *pointer; ///< where it writes to
  const MemoryObject *object;
  const CallFrame *frame; ///< the way on which it is reached
  /// Bytes [low, high) of the array; for each set of samples.
  int64_t low[sampleSets], high[sampleSets];
  /// Every page in between is written whenever the code runs.
  bool isDense;
};

/// Writes in loops, and memset, memcpy, fread, to objects whose origin is in
/// \p origins.
std::vector<SerialWrite>
findSerialWrites(const llvm::DenseSet<const llvm::Value *> &origins,
                 Sampler &sampler);

/// The same in \p function alone, reached by \p way.
std::vector<SerialWrite>
findSerialWrites(llvm::Function &function, const CallFrame *way,
                 const llvm::DenseSet<const llvm::Value *> &origins,
                 Sampler &sampler);

/// The outermost loop around the write, in its function, in which it moves on;
/// null if there is none.
llvm::Loop *writingLoop(const SerialWrite &write, Sampler &sampler);

enum class Order {
  never, ///< the second is not reached from the first
  maybe,
  always ///< the second is reached only through the first
};

/// Whether \p second (reached by \p secondFrame) runs behind \p first.
Order orderOf(const llvm::Instruction &first, const CallFrame *firstFrame,
              const llvm::Instruction &second, const CallFrame *secondFrame,
              llvm::FunctionAnalysisManager &analyses);

/// Whether code that is not seen may be given the memory of \p write before it,
/// or have it anyway. What is known of libraries starts no team.
bool isHandedOver(const SerialWrite &write,
                  llvm::FunctionAnalysisManager &analyses);

} // namespace mpg

#endif // MPG_PASSES_SERIALINIT_H
