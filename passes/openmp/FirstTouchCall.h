// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inserts the call of mpg_first_touch (<mpg/pass.h>) for one array: where the
// array begins to exist, with values that are known there.

#pragma once

#include "base/LLVM.h"
#include "openmp/Allocations.h"
#include "openmp/ParallelUses.h"
#include "openmp/SerialInit.h"

namespace mpg {

/// The source of an array as the function that uses it sees it.
struct ArraySource {
  /// The call that gives it: malloc, or a function that returns a malloc's
  /// result. Null for a global array.
  CallBase *site = nullptr;
  const CallFrame *siteFrame = nullptr; ///< the call path to site
  /// The call right after which the memory is untouched: site, or one in the
  /// function that site calls, if that function touches the memory itself.
  CallBase *fresh = nullptr;
  const CallFrame *freshFrame = nullptr;
  std::optional<Allocation> allocation;
  GlobalVariable *global = nullptr;
  const MemoryObject *object = nullptr;
};

/// The source of \p object. Nothing if that is neither.
std::optional<ArraySource> findSource(const MemoryObject &object);

/// Finds the call after which the memory of \p source is fresh, when functions
/// on the call paths \p touching touch it.
void findFresh(ArraySource &source,
               const DenseSet<const CallFrame *> &touching);

/// One call, with everything found that it needs but nothing changed yet.
class FirstTouchCall {
public:
  /// For an array with the use \p use; \p init (null if there is none) touches
  /// it at present. The call goes in front of all \p writes.
  FirstTouchCall(const ArraySource &source, const ParallelUse &use,
                 const SerialWrite *init, ArrayRef<const SerialWrite *> writes,
                 Sampler &sampler);

  /// Why there can be no call: a number that it needs is not known in time;
  /// else "".
  std::string obstacle() const { return missing; }

  /// Where it is inserted: after this if it is the allocation, else in front of
  /// it (see inFrontOfLoops()).
  const Instruction *place() const { return before; }

  /// Inserts it. False if the program uses the name mpg_first_touch itself.
  bool insert();

private:
  Instruction *placeBefore();
  Instruction *placeAfter(CallBase &call);
  Instruction *onceAt(Instruction *at);
  Instruction *onlyIf(Value *condition, Instruction *at);
  Value *stepValue();
  Value *bytesValue();
  Value *numberValue(Value *value);
  void findPlace(ArrayRef<const SerialWrite *> writes);
  void findNumbers(IRBuilderBase *builder);
  Value *reach(Value *value, const CallFrame *frame);
  Value *reach(const SCEV *expression, const CallFrame *frame);
  Value *reachLoaded(LoadInst &load, const CallFrame *frame);

  const ArraySource &source;
  const ParallelUse &use;
  const SerialWrite *init;
  Sampler &sampler;
  std::string missing;
  Instruction *before = nullptr; ///< the call is inserted here
  const CallFrame *beforeFrame = nullptr;
  IRBuilderBase *builder = nullptr; ///< null: only ask whether it works
  unsigned steps = 0;
  Value *bytes = nullptr, *step = nullptr, *chunk = nullptr, *threads = nullptr;
};

} // namespace mpg
