// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who writes to an array outside of parallel regions, and whether that is all
// of it: then one thread touches every page, and all of them land on its node.
// And such arrays behind pointers.

#pragma once

#include "base/LLVM.h"
#include "openmp/ParallelUses.h"
#include "openmp/Sampler.h"

namespace mpg {

struct SerialWrite {
  Instruction *at;
  Value *pointer; ///< where it writes to
  const MemoryObject *object;
  const CallFrame *frame; ///< the call path by which it is reached
  /// Bytes [low, high) of the array; for each set of samples.
  int64_t low[sampleSets], high[sampleSets];
  /// Every page in between is written whenever the code runs.
  bool isDense;
  /// It reads what it writes to just before, so it is not the first write,
  /// unless memory begins as zero.
  bool isUpdate;
};

/// Writes in loops, and memset, memcpy, fread, to objects whose origin is in
/// \p origins.
std::vector<SerialWrite>
findSerialWrites(const DenseSet<const Value *> &origins, Sampler &sampler);

/// The same in \p function alone, reached by \p path.
std::vector<SerialWrite>
findSerialWrites(Function &function, const CallFrame *path,
                 const DenseSet<const Value *> &origins, Sampler &sampler);

/// The outermost loop around the write, in its function, that advances its
/// address; null if there is none.
Loop *writingLoop(const SerialWrite &write, Sampler &sampler);

enum class Order {
  never, ///< the second is not reached from the first
  maybe,
  always ///< the second is reached only through the first
};

/// Whether \p second (reached by \p secondFrame) runs after \p first.
Order findOrder(const Instruction &first, const CallFrame *firstFrame,
                const Instruction &second, const CallFrame *secondFrame,
                FunctionAnalysisManager &analyses);

/// Whether \p call gives a pointer to something computed to code that is
/// neither seen nor known. Starting a parallel region does not count.
bool handsOver(const CallBase &call, FunctionAnalysisManager &analyses);

/// Whether unseen code may receive the memory of \p write before it, or hold it
/// anyway. Known library functions start no team.
bool isHandedOver(const SerialWrite &write, FunctionAnalysisManager &analyses);

// Writes that run in any case (SureWrites.cpp)

/// Whether \p write runs whenever \p from (reached by \p fromFrame) does, where
/// the array has elements and memory lasts.
bool followsInAnyCase(const SerialWrite &write, const Instruction &from,
                      const CallFrame *fromFrame, Sampler &sampler);

/// A place in front of all loops around \p at that do not contain \p fresh,
/// which may be null: an instruction in front of which code can be inserted, or
/// the first one of such a loop, which represents the edge into it. Null if
/// there is no such place.
Instruction *inFrontOfLoops(Instruction *at, const CallBase *fresh,
                            const LoopInfo &loops);

/// As inFrontOfLoops(): the last place, in the function of \p fresh and after
/// it, that precedes the large ones of \p writes and all calls that pass the
/// array to unseen code. Null if there is none.
Instruction *findPlaceBefore(ArrayRef<const SerialWrite *> writes,
                             CallBase &fresh, Sampler &sampler);

// Arrays behind pointers in memory that one thread fills and a team works on
// (SerialArrays.cpp). No call can place their memory, so they are reported and
// not repaired.

/// Arrays that are reached through an array of pointers: rows that are
/// allocated separately, or one block with a pointer to the start of each row.
/// Only the pointers determine which part of the memory an iteration works on,
/// so no call can place it.
struct SerialRows {
  const ParallelUse *use;     ///< reads the pointers in a parallel loop
  const Instruction *init;    ///< writes to the rows, in one thread
  const Instruction *pointer; ///< the first row's, or that of a new one
  bool isEach;                ///< each row is an allocation
};

/// The rows behind arrays of pointers that \p uses read; for each array of
/// pointers and each place that makes rows one.
std::vector<SerialRows> findSerialRows(ArrayRef<ParallelUse> uses,
                                       Sampler &sampler);

/// An array that a function allocates, fills and stores for its caller, as
/// std::vector::resize does for members of a class. No call is inserted: the
/// function serves many callers, and does not know the uses.
struct SerialMember {
  ParallelUse use;         ///< in parts, or by an index (isGather)
  const Instruction *init; ///< writes to it, in one thread
  const Value *keeper;     ///< address of the pointer, for its name
  const Function *maker;   ///< allocates and fills it
};

/// The arrays behind the pointers that parallel loops find in memory, each of
/// them once.
std::vector<SerialMember> findSerialMembers(const ParallelUses &all,
                                            Sampler &sampler);

} // namespace mpg
