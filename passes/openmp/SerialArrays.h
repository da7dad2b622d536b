// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays behind pointers in memory that one thread fills and a team works on.
// No call can place their memory, so they are told and not repaired.

#ifndef MPG_PASSES_SERIALARRAYS_H
#define MPG_PASSES_SERIALARRAYS_H

#include "openmp/ParallelUses.h"

namespace mpg {

/// Arrays that are reached through an array of pointers: rows that are
/// allocated one by one, or one block with a pointer to the start of each row.
/// Which part of the memory an iteration works on only the pointers tell, so no
/// call can place it.
struct SerialRows {
  const ParallelUse *use;           ///< reads the pointers in a parallel loop
  const llvm::Instruction *init;    ///< writes to the rows, in one thread
  const llvm::Instruction *pointer; ///< the first row's, or that of a new one
  bool isEach;                      ///< each row is an allocation
};

/// The rows behind arrays of pointers that \p uses read; for each array of
/// pointers and each place that makes rows one.
std::vector<SerialRows> findSerialRows(llvm::ArrayRef<ParallelUse> uses,
                                       Sampler &sampler);

/// An array that a function allocates, fills and keeps for its caller: what
/// std::vector::resize does for members of a class. No call is inserted: the
/// function does so for many, and knows nothing of those who use them.
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

#endif // MPG_PASSES_SERIALARRAYS_H
