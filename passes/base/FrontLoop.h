// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of passes that change loops which write much: in front of them, or
// around them. It asks whether the nest writes enough, and whether the loop
// reads elsewhere in memory.

#ifndef MPG_PASSES_FRONTLOOP_H
#define MPG_PASSES_FRONTLOOP_H

#include "base/StoreStreams.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace llvm {
class Function;
class IntegerType;
class Value;
} // namespace llvm

namespace mpg {

/// Whether a team runs \p function.
bool isRegionBody(const llvm::Function &function);

class FrontLoop {
protected:
  FrontLoop(llvm::Loop &loop, const StreamLoop &known,
            llvm::FunctionAnalysisManager &analyses, const char *name);

  /// Where, as far outside as it is known, and from what it is decided.
  struct Decision {
    llvm::Instruction *place;
    const llvm::SCEV *bytes; ///< that all streams write in the nest
  };
  Decision findDecision(llvm::Instruction &end) const;
  /// At most so many bytes are written in the nest: by \p bytes, a Decision's,
  /// and the sizes of the variables.
  uint64_t getMaxBytes(const llvm::SCEV *bytes) const;
  /// Whether all that must be known is known at \p end.
  bool canExpand(llvm::Instruction &end) const;
  /// Whether nothing that the loop reads is among what \p stream overwrites in
  /// \p times iterations from \p start on. Null: nothing is asked.
  llvm::Value *isApart(const StoreStream &stream, llvm::Value *start,
                       llvm::Value *times, llvm::Instruction &end);
  /// Whether the assumptions about addresses hold. Null: there are none.
  llvm::Value *areAssumptionsTrue(llvm::Instruction &end);

  llvm::Loop &loop;
  llvm::Function &function;
  const StreamLoop &known;
  llvm::ScalarEvolution &scev;
  llvm::SCEVExpander expander;
  llvm::IntegerType *number; ///< of 64 bits

private:
  const llvm::SCEV *footprint(const StoreStream &stream) const;
  llvm::Value *scaled(int64_t bytes, bool isScalable, llvm::Instruction &end);
  llvm::Value *isElsewhere(const ReadRange &range, llvm::Value *begin,
                           llvm::Value *bytes, llvm::Instruction &end);
};

} // namespace mpg

#endif // MPG_PASSES_FRONTLOOP_H
