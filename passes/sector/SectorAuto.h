// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-sector=auto: finds loop nests in which data that is used once displaces
// data that is used again. The first gets sector 1 and one or two ways of L2,
// while the nest runs; the second keeps the others. HW:sector-victim
//
//   stream  each element once, one after another: v[k] of a sparse matrix
//   kept    used again: x[c[k]], or x[j] in each iteration of the nest
//   other   neither, or not known; stays in sector 0
//
// A nest is divided only where the kept arrays fit into their ways, and where
// they and the streams do not fit into L2 together, so that without a division
// they would be lost. Sizes that are known only when the program runs are
// compared there, in front of the nest. Where they say no, no ways are set, and
// tags have no effect then.
//
// The user's hints come first: the pass leaves nests with hints alone, and code
// that sets ways itself.
//
// Must be after inlining, and before the vectoriser, which hides strides.

#pragma once

#include "base/OmpRegions.h"
#include "base/StagePass.h"
#include <string>

namespace mpg {

/// A number of bytes, as a program can compute it in front of a nest: the sum
/// of \p bytes and \p loaded.
struct ArraySize {
  /// factor * (what is at \p last - what is at \p first)
  struct Difference {
    const SCEV *last, *first; ///< addresses
    Type *type;
    uint64_t factor;
  };
  const SCEV *bytes = nullptr; ///< 64 bits; null: not known
  SmallVector<Difference, 1> loaded;
  /// Not empty: the product of the numbers, of 64 bits, at these addresses.
  SmallVector<const SCEV *, 4> product;
  /// In a parallel region: all that this points to, whose size the function
  /// around the region may know.
  Value *object = nullptr;
};

/// One array of a nest.
struct NestArray {
  enum Kind { stream, kept, other };
  Value *base;
  Kind kind = other;
  bool isRandom = false; ///< kept, and used again at distances not known
  /// Kept: of the part that is used again. Stream: in one iteration of the
  /// nest's outermost loop, or in all if another array is random.
  ArraySize size;
  SmallVector<Instruction *, 4> accesses;
};

/// A loop with the loops in it.
struct Nest {
  Loop *loop;
  SmallVector<NestArray, 8> arrays;
  bool isRandom = false;
  const SCEV *times = nullptr; ///< of the outermost loop, 64 bits
  /// Why it is left alone; null: it may be divided.
  const char *reason = nullptr;
};

/// Looks at \p loop and, as far as that is to no avail, at the loops in it.
/// Adds to \p nests those worth a word.
void findNests(Loop &loop, FunctionAnalysisManager &analyses,
               SmallVectorImpl<Nest> &nests);

// The comparison and the ways (NestWriter.cpp)

/// Where the ways of a nest are set: in front of it, or of the parallel region
/// that it is in.
struct NestPlace {
  const ParallelRegion *region = nullptr; ///< null: in front of the nest
  const WorksharingLoop *sharing = nullptr;
  const DominatorTree *dominators; ///< of the function that sets them
};

/// The outcome for a nest.
struct NestVerdict {
  const char *reason = nullptr; ///< null: divided
  bool isAsked = false;         ///< its sizes are compared when it runs
  unsigned ways = 0;            ///< of L2, for sector 1
};

/// Judges \p nest by the facts at compile time. Changes nothing.
NestVerdict judge(const Nest &nest, const NestPlace &place);

/// Sets the ways of \p verdict around \p nest.
void writeNest(const Nest &nest, const NestPlace &place,
               const NestVerdict &verdict);

struct SectorAutoPass : RequiredPass<SectorAutoPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};

} // namespace mpg
