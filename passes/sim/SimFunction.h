// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instruments one function: first sums up its loops (SimLoops.cpp), then gives
// each block the records of the remaining accesses, in program order.

#ifndef MPG_PASSES_SIMFUNCTION_H
#define MPG_PASSES_SIMFUNCTION_H

#include "sim/SimRecords.h"
#include "sim/SimTable.h"
#include <optional>

namespace llvm {
class BasicBlock;
class DataLayout;
class DominatorTree;
class IntrinsicInst;
class LoopInfo;
class SCEVExpander;
class Type;
} // namespace llvm

namespace mpg {

// Loops that are summed up (SimLoops.cpp)

// Innermost loops whose accesses are known before they begin: how often it
// runs, and for each access its first address and how far it moves.

struct SimStream {
  llvm::Instruction *access;
  llvm::Value *begin, *stride;
};

struct SimLoop {
  llvm::Instruction *place; ///< in front of the loop: where all of it is known
  llvm::Value *times;
  llvm::SmallVector<SimStream, 8> streams; ///< in the order of the accesses
};

/// In the order in which they run: rounds of a loop are several.
using SimLoops = llvm::SmallVector<SimLoop, 1>;

/// The address operand of an access. Null: \p instruction is not a plain or
/// atomic load or store, a prefetch, or DC ZVA of --mpg-zfill.
const llvm::Value *simAddress(const llvm::Instruction &instruction);

/// Gives innermost loops that can be summed up a dedicated block in front: the
/// optimiser has folded it into a branch where it was empty.
void addPreheaders(llvm::LoopInfo &loops, llvm::DominatorTree &dominators);

/// \p loop summed up, or the rounds of zero fill and prefetches around it; its
/// values have been computed in front of it. Nothing if not every iteration
/// does the same: several exits, accesses under conditions, calls, addresses
/// that depend on data.
SimLoops sumUp(const llvm::Loop &loop, llvm::ScalarEvolution &scev,
               llvm::SCEVExpander &expander,
               const llvm::DominatorTree &dominators);

// One function

class SimFunction {
public:
  /// \p checks: accesses of loops that are summed up are recorded as well, for
  /// the test that compares both.
  SimFunction(SimTable &table, llvm::LoopInfo &loops,
              llvm::ScalarEvolution &scev, const llvm::DataLayout &layout,
              bool checks)
      : table(table), loops(loops), scev(scev), layout(layout), checks(checks) {
  }
  void run(llvm::Function &function, const llvm::DominatorTree &dominators);

private:
  /// Bytes of one access that is recorded as several, where it begins.
  struct Piece {
    uint64_t offset, bytes;
  };

  void addBlock(llvm::BasicBlock &block);
  void addInstruction(llvm::Instruction &instruction);
  void addAccess(llvm::Instruction &instruction);
  void addSummary(const SimLoop &loop);
  bool addIntrinsic(llvm::IntrinsicInst &call);
  void addMasked(llvm::IntrinsicInst &call);
  void addLanes(llvm::IntrinsicInst &call, llvm::Value *addresses,
                llvm::Value *mask, llvm::Type *type, bool store);
  void addCopy(llvm::Instruction &call, llvm::Value *to, llvm::Value *from,
               llvm::Value *bytes);
  bool addCopyCall(llvm::CallBase &call);
  void addCall(llvm::CallBase &call);
  void addAllocated(llvm::CallBase &call);
  void addFreed(llvm::CallBase &call, llvm::Value *address);
  void addNotSeen(llvm::Instruction &call, llvm::StringRef name);
  void writeBefore(llvm::Instruction &place);
  llvm::SmallVector<Piece, 2> splitType(llvm::Type *type) const;
  unsigned getPlace(const llvm::Instruction &instruction,
                    const llvm::Value &address, bool store, uint64_t bytes);

  SimTable &table;
  llvm::LoopInfo &loops;
  llvm::ScalarEvolution &scev;
  const llvm::DataLayout &layout;
  bool checks;
  SimRecords records; ///< not yet written, of the block at hand
  llvm::DenseMap<llvm::Instruction *, SimLoops> summaries;
  llvm::DenseMap<llvm::Instruction *, const llvm::SCEV *> addresses;
  /// Accesses of loops that are summed up, and the places of their pieces.
  llvm::DenseMap<llvm::Instruction *, llvm::SmallVector<unsigned, 2>> summedUp;
};

} // namespace mpg

#endif // MPG_PASSES_SIMFUNCTION_H
