// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Innermost loops whose accesses are known before they begin: how often it
// runs, and for each access its first address and how far it moves.

#ifndef MPG_PASSES_SIMLOOPS_H
#define MPG_PASSES_SIMLOOPS_H

#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace llvm {
class DominatorTree;
class Instruction;
class Loop;
class LoopInfo;
class SCEV;
class SCEVExpander;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace mpg {

struct SimStream {
  llvm::Instruction *access;
  llvm::Value *begin, *stride;
};

struct SimLoop {
  llvm::Instruction *place; ///< in front of the loop: where all of it is known
  llvm::Value *times;
  llvm::SmallVector<SimStream, 8> streams; ///< in the order of the accesses
};

/// Where the addresses of an access are: the one operand that is its address; a
/// null: \p instruction is no plain or atomic load or store.
const llvm::Value *simAddress(const llvm::Instruction &instruction);

/// Gives innermost loops that can be summed up a block in front of them alone:
/// the optimiser has folded it into a branch where it had nothing to do.
void addPreheaders(llvm::LoopInfo &loops, llvm::DominatorTree &dominators);

/// \p loop summed up; its values have been computed in front of it. Nothing if
/// not every iteration does the same: several exits, accesses under conditions,
/// calls, addresses that depend on data.
std::optional<SimLoop> sumUp(const llvm::Loop &loop,
                             llvm::ScalarEvolution &scev,
                             llvm::SCEVExpander &expander,
                             const llvm::DominatorTree &dominators);

} // namespace mpg

#endif // MPG_PASSES_SIMLOOPS_H
