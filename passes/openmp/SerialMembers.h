// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that a function allocates, fills and keeps for its caller: what
// std::vector::resize does for members of a class. No call is inserted: the
// function does so for many, and knows nothing of those who use them. That one
// thread fills what a team works on is found all the same.

#ifndef MPG_PASSES_SERIALMEMBERS_H
#define MPG_PASSES_SERIALMEMBERS_H

#include "openmp/ParallelUses.h"

namespace mpg {

struct SerialMember {
  ParallelUse use;               ///< in parts, or by an index (isGather)
  const llvm::Instruction *init; ///< writes to it, in one thread
  const llvm::Value *keeper;     ///< address of the pointer, for its name
  const llvm::Function *maker;   ///< allocates and fills it
};

/// The arrays behind the pointers that parallel loops find in memory, each of
/// them once.
std::vector<SerialMember> findSerialMembers(const ParallelUses &all,
                                            Sampler &sampler);

} // namespace mpg

#endif // MPG_PASSES_SERIALMEMBERS_H
