// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FrontLoop.h.

#include "base/FrontLoop.h"
#include "base/OmpRegions.h"
#include "base/Scev.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

bool mpg::isRegionBody(const Function &function) {
  return llvm::any_of(function.users(), [&](const User *user) {
    auto *call = dyn_cast<CallBase>(user);
    std::optional<RegionStart> start =
        call ? findStart(*call) : std::optional<RegionStart>();
    return start && start->body == &function;
  });
}

FrontLoop::FrontLoop(Loop &loop, const StreamLoop &known,
                     FunctionAnalysisManager &analyses, const char *name)
    : loop(loop), function(*loop.getHeader()->getParent()), known(known),
      scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
      expander(makeExpander(scev, function, name)),
      number(Type::getInt64Ty(function.getContext())) {}

/// Bytes that the stream writes in the loop, or in the nest around it as far as
/// its length is known there.
const SCEV *FrontLoop::footprint(const StoreStream &stream) const {
  const SCEV *bytes = scev.getMulExpr(known.times, stream.step);
  const SCEV *start = stream.address->getStart();
  for (Loop *outer = loop.getParentLoop(); outer;
       outer = outer->getParentLoop()) {
    if (outer == stream.readIn || !scev.isLoopInvariant(bytes, outer))
      break;
    if (scev.isLoopInvariant(start, outer))
      continue;
    auto *rows = dyn_cast<SCEVAddRecExpr>(start);
    const SCEV *repeats = scev.getBackedgeTakenCount(outer);
    if (!rows || rows->getLoop() != outer || !rows->isAffine() ||
        isa<SCEVCouldNotCompute>(repeats) ||
        scev.getTypeSizeInBits(repeats->getType()) > 64)
      break;
    const SCEV *all = scev.getMulExpr(
        scev.getNoopOrZeroExtend(repeats, number),
        scev.getNoopOrSignExtend(rows->getStepRecurrence(scev), number));
    bytes = scev.getSMaxExpr(bytes, all);
    start = rows->getStart();
  }
  return bytes;
}

FrontLoop::Decision FrontLoop::findDecision(Instruction &end) const {
  Instruction *place = &end;
  const SCEV *bytes = nullptr;
  for (const StoreStream &stream : known.streams) {
    const SCEV *one = footprint(stream);
    bytes = bytes ? scev.getAddExpr(bytes, one) : one;
  }
  for (Loop *outer = loop.getParentLoop(); outer;
       outer = outer->getParentLoop()) {
    BasicBlock *front = outer->getLoopPreheader();
    if (!front || !scev.isLoopInvariant(bytes, outer) ||
        !expander.isSafeToExpandAt(bytes, front->getTerminator()))
      break;
    place = front->getTerminator();
  }
  return {place, bytes};
}

uint64_t FrontLoop::getMaxBytes(const SCEV *bytes) const {
  uint64_t objects = 0;
  for (const StoreStream &stream : known.streams) {
    const Value *object =
        getUnderlyingObject(stream.stores[0]->getPointerOperand());
    uint64_t size = 0;
    if (!getObjectSize(object, size, function.getDataLayout(),
                       /*TLI=*/nullptr))
      size = UINT64_MAX;
    objects = SaturatingAdd(objects, size);
  }
  return std::min(objects, scev.getUnsignedRangeMax(bytes).getLimitedValue());
}

bool FrontLoop::canExpand(Instruction &end) const {
  auto isKnown = [&](const SCEV *value) {
    return expander.isSafeToExpandAt(value, &end);
  };
  auto getFirst = [](const SCEV *address) {
    auto *line = dyn_cast<SCEVAddRecExpr>(address);
    return line ? line->getStart() : address;
  };
  auto isRangeKnown = [&](const ReadRange &range) {
    return isKnown(getFirst(range.address)) && isKnown(range.step);
  };
  return isKnown(known.times) &&
         llvm::all_of(known.streams, [&](const StoreStream &stream) {
           return isKnown(stream.address->getStart()) &&
                  llvm::all_of(stream.reads, isRangeKnown);
         });
}

Value *FrontLoop::scaled(int64_t bytes, bool isScalable, Instruction &end) {
  const SCEV *number64 = scev.getConstant(number, uint64_t(bytes), true);
  return expander.expandCodeFor(
      isScalable ? scev.getMulExpr(number64, scev.getVScale(number)) : number64,
      number, &end);
}

/// Whether nothing of \p range is among \p bytes from \p begin on.
Value *FrontLoop::isElsewhere(const ReadRange &range, Value *begin,
                              Value *bytes, Instruction &end) {
  auto *line = dyn_cast<SCEVAddRecExpr>(range.address);
  bool moves = line && line->getLoop() == &loop;
  const SCEV *start = moves ? line->getStart() : range.address;
  const SCEV *way = scev.getMulExpr(
      range.step, scev.getMinusSCEV(known.times, scev.getOne(number)));
  IRBuilder<> builder(&end);
  Value *first = builder.CreatePtrToInt(
      expander.expandCodeFor(start, nullptr, &end), number);
  Value *last =
      builder.CreateAdd(first, expander.expandCodeFor(way, number, &end));
  Value *low = builder.CreateAdd(
      builder.CreateBinaryIntrinsic(Intrinsic::umin, first, last),
      scaled(range.begin, range.isScalable, end));
  Value *high = builder.CreateAdd(
      builder.CreateBinaryIntrinsic(Intrinsic::umax, first, last),
      scaled(range.end, range.isScalable, end));
  return builder.CreateOr(
      builder.CreateICmpULE(high, begin),
      builder.CreateICmpULE(builder.CreateAdd(begin, bytes), low));
}

Value *FrontLoop::isApart(const StoreStream &stream, Value *start, Value *times,
                          Instruction &end) {
  IRBuilder<> builder(&end);
  Value *all = nullptr;
  for (const ReadRange &range : stream.reads) {
    Value *step = expander.expandCodeFor(stream.step, number, &end);
    Value *one = isElsewhere(range, builder.CreatePtrToInt(start, number),
                             builder.CreateMul(times, step), end);
    all = all ? builder.CreateAnd(all, one) : one;
  }
  return all;
}

Value *FrontLoop::areAssumptionsTrue(Instruction &end) {
  IRBuilder<> builder(&end);
  Value *all = nullptr;
  // The expanded predicate is true where the assumption fails.
  for (const SCEVPredicate *one : known.assumed) {
    Value *isTrue =
        builder.CreateNot(expander.expandCodeForPredicate(one, &end));
    all = all ? builder.CreateAnd(all, isTrue) : isTrue;
  }
  return all;
}
