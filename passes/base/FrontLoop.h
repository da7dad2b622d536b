// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of passes that change loops which write much: in front of them, or
// around them. It asks whether the nest writes enough, and whether the loop
// reads elsewhere in memory.

#pragma once

#include "base/LLVM.h"
#include "base/StoreStreams.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace mpg {

/// Whether a team runs \p function.
bool isRegionBody(const Function &function);

class FrontLoop {
protected:
  FrontLoop(Loop &loop, const StreamLoop &known,
            FunctionAnalysisManager &analyses, const char *name);

  /// Where, as far outside as it is known, and from what it is decided.
  struct Decision {
    Instruction *place;
    const SCEV *bytes; ///< that all streams write in the nest
  };
  Decision findDecision(Instruction &end) const;
  /// At most so many bytes are written in the nest: by \p bytes, a Decision's,
  /// and the sizes of the variables.
  uint64_t getMaxBytes(const SCEV *bytes) const;
  /// Whether all that must be known is known at \p end.
  bool canExpand(Instruction &end) const;
  /// Whether nothing that the loop reads is among what \p stream overwrites in
  /// \p times iterations from \p start on. Null: nothing is asked.
  Value *isApart(const StoreStream &stream, Value *start, Value *times,
                 Instruction &end);
  /// Whether the assumptions about addresses hold. Null: there are none.
  Value *areAssumptionsTrue(Instruction &end);

  Loop &loop;
  Function &function;
  const StreamLoop &known;
  ScalarEvolution &scev;
  SCEVExpander expander;
  IntegerType *number; ///< of 64 bits

private:
  const SCEV *footprint(const StoreStream &stream) const;
  Value *scaled(int64_t bytes, bool isScalable, Instruction &end);
  Value *isElsewhere(const ReadRange &range, Value *begin, Value *bytes,
                     Instruction &end);
};

} // namespace mpg
