// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instruments one function: first sums up its loops (SimLoops.cpp), then gives
// each block the records of the remaining accesses, in program order.

#pragma once

#include "base/LLVM.h"
#include "sim/SimRecords.h"
#include "sim/SimTable.h"
#include <optional>

namespace mpg {

// Loops that are summed up (SimLoops.cpp)

// Innermost loops whose accesses are known before they begin: how often it
// runs, and for each access its first address and how far it moves.

struct SimStream {
  Instruction *access;
  Value *begin, *stride;
};

struct SimLoop {
  Instruction *place; ///< in front of the loop: where all of it is known
  Value *times;
  SmallVector<SimStream, 8> streams; ///< in the order of the accesses
};

/// In the order in which they run: rounds of a loop are several.
using SimLoops = SmallVector<SimLoop, 1>;

/// The address operand of an access. Null: \p instruction is not a plain or
/// atomic load or store, a prefetch, or DC ZVA of --mpg-zfill.
const Value *simAddress(const Instruction &instruction);

/// Gives innermost loops that can be summed up a dedicated block in front: the
/// optimiser has folded it into a branch where it was empty.
void addPreheaders(LoopInfo &loops, DominatorTree &dominators);

/// \p loop summed up, or the rounds of zero fill and prefetches around it; its
/// values have been computed in front of it. Nothing if not every iteration
/// does the same: several exits, accesses under conditions, calls, addresses
/// that depend on data.
SimLoops sumUp(const Loop &loop, ScalarEvolution &scev, SCEVExpander &expander,
               const DominatorTree &dominators);

// One function

class SimFunction {
public:
  /// \p checks: accesses of loops that are summed up are recorded as well, for
  /// the test that compares both.
  SimFunction(SimTable &table, LoopInfo &loops, ScalarEvolution &scev,
              const TargetLibraryInfo &library, const DataLayout &layout,
              bool checks)
      : table(table), loops(loops), scev(scev), library(library),
        layout(layout), checks(checks) {}
  void run(Function &function, const DominatorTree &dominators);

private:
  /// Bytes of one access that is recorded as several, where it begins.
  struct Piece {
    uint64_t offset, bytes;
  };

  void addBlock(BasicBlock &block);
  void addInstruction(Instruction &instruction);
  void addAccess(Instruction &instruction);
  void addSummary(const SimLoop &loop);
  bool addIntrinsic(IntrinsicInst &call);
  void addMasked(IntrinsicInst &call);
  void addLanes(IntrinsicInst &call, Value *addresses, Value *mask, Type *type,
                bool store);
  void addCopy(Instruction &call, Value *to, Value *from, Value *bytes);
  bool addCopyCall(CallBase &call);
  void addCall(CallBase &call);
  bool isMathCall(const CallBase &call) const;
  void addAllocated(CallBase &call);
  void addFreed(CallBase &call, Value *address);
  void addNotSeen(Instruction &call, StringRef name);
  void writeBefore(Instruction &place);
  SmallVector<Piece, 2> splitType(Type *type) const;
  unsigned getPlace(const Instruction &instruction, const Value &address,
                    bool store, uint64_t bytes);

  SimTable &table;
  LoopInfo &loops;
  ScalarEvolution &scev;
  const TargetLibraryInfo &library;
  const DataLayout &layout;
  bool checks;
  SimRecords records; ///< not yet written, of the block at hand
  DenseMap<Instruction *, SimLoops> summaries;
  DenseMap<Instruction *, const SCEV *> addresses;
  /// Accesses of loops that are summed up, and the places of their pieces.
  DenseMap<Instruction *, SmallVector<unsigned, 2>> summedUp;
};

} // namespace mpg
