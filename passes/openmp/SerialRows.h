// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that are reached through an array of pointers: rows that are allocated
// one by one, or one block with a pointer to the start of each row. Which part
// of the memory an iteration works on only the pointers tell, so no call can
// place it; that one thread initialises it is found all the same.

#ifndef MPG_PASSES_SERIALROWS_H
#define MPG_PASSES_SERIALROWS_H

#include "openmp/ParallelUses.h"

namespace mpg {

struct SerialRows {
  const ParallelUse *use;           ///< reads the pointers in a parallel loop
  const llvm::Instruction *init;    ///< writes to the rows, in one thread
  const llvm::Instruction *pointer; ///< the first row's, or that of a new one
  bool isEach;                      ///< each row is an allocation
};

/// Whether both are the array that the same call gave.
bool isSameArray(const MemoryObject &one, const MemoryObject &other);

/// The rows behind arrays of pointers that \p uses read; for each array of
/// pointers and each place that makes rows one.
std::vector<SerialRows> findSerialRows(llvm::ArrayRef<ParallelUse> uses,
                                       Sampler &sampler);

} // namespace mpg

#endif // MPG_PASSES_SERIALROWS_H
