// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetches of what a loop around others looks up by a list. Rows are too
// short for the inner loop to prefetch the next ones:
//
//   for (i = 0; ...; i++) {
//     u = list[i]
//     prefetch &row[list[i + 2 n]]
//     begin = row[u]
//     prefetch &column[row[list[i + n]]]
//     prefetch &x[column[k]], k in the first elements of row[list[i + n / 2]]
//     for (k = begin; ...)
//       x[column[k]]
//   }
//
// The loop may end early, and may change the list and the rows, also by calls.
// So what it will read is not known, and the loads ahead must not fault:
//
// - list[i + n] is read if it is on the page of list[i], which was just read.
// - &row[...] is moved to the nearest address between two that the loop has
//   read of this array. They are forgotten where a call may free memory.
// - Elements of a row are read if all are between two that the loop has read.
//
// Iterations skip all this while it is of no use: what the list names is near
// what other iterations read, so that a cache holds it, or rows are so short
// that a core has the next ones on its way by itself.
//
// An array is taken for one as long as its address is the same. So neither may
// pages in the middle of it be protected, nor may another thread shrink it in
// place.

#include "prefetch/ListLoop.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "prefetch/Prefetch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mpg;

/// Elements, in halves. Of shorter rows on average a core has enough misses on
/// the way by itself.
static constexpr int64_t minHalves = 7;
/// By how many halves of elements rows may be shorter until they are short, at
/// first, and after long ones.
static constexpr int64_t credit = 32, maxSurplus = 1024;

/// Whether memory may have tags in units smaller than a page.
static bool mayTagMemory(const Function &function) {
  StringRef cpu = function.getFnAttribute("target-cpu").getValueAsString();
  return Triple(function.getParent()->getTargetTriple()).isAArch64() &&
         (cpu.empty() || cpu == "generic" ||
          function.getFnAttribute("target-features")
              .getValueAsString()
              .contains("+mte"));
}

namespace {
/// Writes the code that loads ahead and prefetches.
class ListWriter {
public:
  ListWriter(const ListLookups &lookups, IterationState &state)
      : lookups(lookups), row(lookups.row), state(state),
        builder(lookups.function.getContext()) {}
  BasicBlock *write(Instruction &from, const PrefetchVerdict &ahead);

private:
  struct Range {
    Value *low = nullptr, *high;
  };
  Value *writeLookups(Instruction &from, const PrefetchVerdict &ahead);
  Value *getListAddress(LoadInst &list, int ahead);
  Value *isSameArray(Value *base);
  Range widenRange(Value *at, Value *isKept, Value *isRead);
  Range getRange(LoadInst &row);
  Value *getRowAddress(LoadInst &row, int ahead);
  Value *getLater(LoadInst &load, int ahead);
  Value *copy(Value *value, int ahead);
  Value *getNumber(Value *value);
  Value *countElements(Value *first, Value *end);
  Value *areRowsLong();
  void writeElements(Instruction &place, unsigned ahead);

  const ListLookups &lookups;
  const ListRow &row;
  IterationState &state;
  IRBuilder<> builder;                        ///< where code goes now
  IntegerType *number = builder.getInt64Ty(); ///< an address
  // What is known at this place.
  DenseMap<std::pair<LoadInst *, int>, Value *> later; ///< by distance
  /// By array and element: a longer one may end behind a range.
  DenseMap<std::pair<const Value *, Type *>, Range> ranges;
};
} // namespace

/// The element \p ahead iterations later if it is on the same page, so that
/// loading it cannot fault; else the element of \p list. Below 0: the one
/// earlier, or else later.
Value *ListWriter::getListAddress(LoadInst &list, int ahead) {
  int64_t bytes = lookups.getListStep(list) * ahead;
  int64_t size =
      lookups.function.getDataLayout().getTypeStoreSize(list.getType());
  Value *now = list.getPointerOperand();
  Value *then = builder.CreatePtrAdd(now, builder.getInt64(bytes));
  Value *end =
      bytes < 0 ? then : builder.CreatePtrAdd(then, builder.getInt64(size - 1));
  Value *apart = builder.CreateXor(getNumber(now), getNumber(end));
  return builder.CreateSelect(
      builder.CreateICmpULT(apart, builder.getInt64(minPageBytes)), then,
      ahead < 0 ? getListAddress(list, -ahead) : now);
}

/// Whether \p base is the same as when this was last asked.
Value *ListWriter::isSameArray(Value *base) {
  if (lookups.loop.isLoopInvariant(base))
    return builder.getTrue();
  AllocaInst *last = state.addVariable(Constant::getNullValue(base->getType()));
  Value *isSame =
      builder.CreateICmpEQ(base, builder.CreateLoad(base->getType(), last));
  builder.CreateStore(base, last);
  return isSame;
}

/// Code that widens a range of addresses to \p at if \p isRead. The range
/// starts anew, with \p at alone, unless \p isKept. pre: isKept or isRead.
ListWriter::Range ListWriter::widenRange(Value *at, Value *isKept,
                                         Value *isRead) {
  auto widen = [&](uint64_t none, Intrinsic::ID choose) {
    Constant *begin = builder.getInt64(none);
    AllocaInst *bound = state.addVariable(begin);
    Value *old =
        builder.CreateSelect(isKept, builder.CreateLoad(number, bound), at);
    Value *all = builder.CreateBinaryIntrinsic(
        choose, old, builder.CreateSelect(isRead, at, begin));
    builder.CreateStore(all, bound);
    return all;
  };
  Value *low = widen(~uint64_t(0), Intrinsic::umin);
  return {low, widen(0, Intrinsic::umax)};
}

/// Between which addresses of \p row's array, which was just read, loads cannot
/// fault.
ListWriter::Range ListWriter::getRange(LoadInst &row) {
  Value *now = row.getPointerOperand();
  Range &range = ranges[{getUnderlyingObject(now, 0), row.getType()}];
  if (range.low)
    return range;
  Value *at = getNumber(now);
  Value *isSame = isSameArray(getUnderlyingObject(now, 0));
  return range = widenRange(at, isSame, builder.getTrue());
}

/// The address of \p row \p ahead iterations later, or the nearest of which it
/// is known that loading it cannot fault.
Value *ListWriter::getRowAddress(LoadInst &row, int ahead) {
  Value *now = row.getPointerOperand();
  Range range = getRange(row);
  // Frozen: a garbage index may make it poison, by a shift.
  Value *then = builder.CreateFreeze(getNumber(copy(now, ahead)));
  then = builder.CreateBinaryIntrinsic(Intrinsic::umax, then, range.low);
  then = builder.CreateBinaryIntrinsic(Intrinsic::umin, then, range.high);
  return builder.CreatePtrAdd(now, builder.CreateSub(then, getNumber(now)));
}

/// What \p load reads \p ahead iterations later, or anything.
Value *ListWriter::getLater(LoadInst &load, int ahead) {
  if (!ahead)
    return &load;
  if (Value *known = later.lookup({&load, ahead}))
    return known;
  Origin origin;
  int64_t listStep = lookups.getListStep(load);
  lookups.trace(load.getPointerOperand(), origin);
  if (!listStep && !origin.loads)
    return &load;
  IRBuilderBase::InsertPointGuard guard(builder);
  builder.SetCurrentDebugLocation(load.getDebugLoc());
  Value *address =
      listStep ? getListAddress(load, ahead) : getRowAddress(load, ahead);
  // The loop may skip elements that are not aligned.
  Align align = listStep ? commonAlignment(load.getAlign(), listStep) : Align();
  // Frozen: it may be no element.
  return later[{&load, ahead}] = builder.CreateFreeze(
             builder.CreateAlignedLoad(load.getType(), address, align));
}

Value *ListWriter::copy(Value *value, int ahead) {
  auto *step = dyn_cast<Instruction>(value);
  if (!step || !lookups.loop.contains(step))
    return value;
  if (auto *load = dyn_cast<LoadInst>(step))
    return getLater(*load, ahead);
  if (auto *phi = dyn_cast<PHINode>(step)) {
    Value *first = lookups.getFirst(*phi);
    return first == phi ? phi : copy(first, ahead);
  }
  Instruction *other = copyStep(*step);
  for (Use &operand : other->operands())
    operand.set(copy(operand, ahead));
  return builder.Insert(other);
}

Value *ListWriter::getNumber(Value *value) {
  return value->getType()->isPointerTy()
             ? builder.CreatePtrToInt(value, number)
             : builder.CreateSExtOrTrunc(value, number);
}

/// Prefetches what has its place at \p from. \returns whether any of it is far.
Value *ListWriter::writeLookups(Instruction &from,
                                const PrefetchVerdict &ahead) {
  Value *isFar = nullptr;
  auto here = make_filter_range(lookups.all, [&](const ListLookup &lookup) {
    return lookup.place == &from;
  });
  bool hasRows = llvm::any_of(here, std::mem_fn(&ListLookup::isOfRow));
  for (const ListLookup &lookup : here) {
    bool isRow = lookup.isOfRow();
    Value *then = copy(lookup.address, isRow ? ahead.rowsAhead : ahead.ahead);
    writePrefetch(*lookup.access, lookup.isWritten, 1, then, builder);
    if (!state.canSkip() || hasRows != isRow)
      continue;
    // An element beyond the end of the list may be anything.
    if (!isRow)
      then = copy(lookup.address, -int(ahead.ahead));
    Value *apart =
        areApart(copy(lookup.address, 0), then, minTableBytes, builder);
    isFar = isFar ? builder.CreateOr(isFar, apart) : apart;
  }
  return isFar ? isFar : builder.getTrue();
}

Value *ListWriter::countElements(Value *first, Value *end) {
  Value *all = builder.CreateSub(getNumber(end), getNumber(first));
  return first->getType()->isPointerTy()
             ? builder.CreateAShr(all, Log2_64(row.bytes))
             : all;
}

/// Whether all rows together have more elements than short ones.
Value *ListWriter::areRowsLong() {
  AllocaInst *surplus = state.addVariable(builder.getInt64(credit), true);
  // Nothing tells which of two bounds is the end.
  Value *elements = builder.CreateBinaryIntrinsic(
      Intrinsic::abs, countElements(row.first, row.end), builder.getFalse());
  Value *halves = builder.CreateShl(elements, 1);
  Value *more = builder.CreateSub(halves, builder.getInt64(minHalves));
  Value *all = builder.CreateAdd(builder.CreateLoad(number, surplus), more);
  for (auto [choose, bound] : {std::pair(Intrinsic::smin, maxSurplus),
                               std::pair(Intrinsic::smax, -minHalves)})
    all = builder.CreateBinaryIntrinsic(choose, all, builder.getInt64(bound));
  builder.CreateStore(all, surplus);
  return builder.CreateICmpSGE(all, builder.getInt64(0));
}

/// Prefetches in front of the inner loop what elements of the row \p ahead
/// iterations later look up, in a loop over those that can be loaded.
void ListWriter::writeElements(Instruction &place, unsigned ahead) {
  builder.SetCurrentDebugLocation(row.element->getDebugLoc());
  Value *isRead = builder.CreateFreeze(row.place->getCondition());
  if (!row.isReadIfTrue)
    isRead = builder.CreateNot(isRead);
  Value *element = row.element->getPointerOperand();
  Value *now = getNumber(copy(element, 0));
  Range known = widenRange(now, builder.getTrue(), isRead);
  auto getLaterNumber = [&](Value *value) {
    return builder.CreateFreeze(copy(value, ahead));
  };
  Value *from = getNumber(getLaterNumber(element));
  Value *steps = builder.CreateSub(
      builder.CreateBinaryIntrinsic(
          Intrinsic::umin,
          countElements(getLaterNumber(row.first), getLaterNumber(row.end)),
          builder.getInt64(maxElements)),
      builder.getInt64(1));
  // Of an empty row it is below 0: too long for each range.
  Value *bytes = builder.CreateMul(steps, builder.getInt64(row.bytes));
  Value *to = builder.CreateAdd(from, bytes);
  Value *isKnown = builder.CreateAnd(
      builder.CreateAnd(builder.CreateICmpUGE(from, known.low),
                        builder.CreateICmpULE(from, known.high)),
      builder.CreateICmpULE(bytes, builder.CreateSub(known.high, from)));
  BasicBlock *front = place.getParent();
  Instruction *branch = SplitBlockAndInsertIfThen(
      isKnown, place.getIterator(), /*Unreachable=*/false,
      /*BranchWeights=*/nullptr, /*DTU=*/nullptr, &lookups.loops);
  BasicBlock *block = branch->getParent();
  builder.SetInsertPoint(branch);
  PHINode *at = builder.CreatePHI(number, 2);
  later[{row.element, ahead}] = builder.CreateFreeze(builder.CreateAlignedLoad(
      row.element->getType(),
      builder.CreateIntToPtr(at, row.element->getPointerOperandType()),
      Align()));
  for (const Lookup &lookup : row.lookups)
    writePrefetch(*lookup.access, lookup.isWritten, 1,
                  copy(lookup.address, ahead), builder);
  at->addIncoming(from, front);
  at->addIncoming(builder.CreateAdd(at, builder.getInt64(row.bytes)), block);
  builder.CreateCondBr(builder.CreateICmpEQ(at, to), branch->getSuccessor(0),
                       block);
  branch->eraseFromParent();
}

/// Prefetches all that has its place at \p from, or only decides whether later
/// iterations do. \returns the block where its code begins.
BasicBlock *ListWriter::write(Instruction &from, const PrefetchVerdict &ahead) {
  Instruction *place = &from;
  later.clear();
  ranges.clear();
  if (state.canSkip())
    place =
        splitUnlikely(state.isActive(from), from.getIterator(), lookups.loops);
  else
    SplitBlock(from.getParent(), place, (DominatorTree *)nullptr,
               &lookups.loops);
  BasicBlock *begin = place->getParent();
  builder.SetInsertPoint(place);
  Value *isFar = writeLookups(from, ahead);
  builder.SetInsertPoint(place); // prefetches have changed its source line
  bool isOfRow = &from == row.place;
  Value *isLong = isOfRow ? areRowsLong() : builder.getTrue();
  if (state.canSkip())
    state.skipUseless(builder.CreateAnd(isFar, isLong), builder);
  if (isOfRow && ahead.elementsAhead) {
    // Code generation keeps what only long rows need out of registers.
    place = splitUnlikely(isLong, place->getIterator(), lookups.loops);
    builder.SetInsertPoint(place);
    writeElements(*place, ahead.elementsAhead);
  }
  return begin;
}

PrefetchVerdict mpg::writeListPrefetches(Loop &loop, unsigned distance,
                                         IndirectUse use,
                                         FunctionAnalysisManager &analyses) {
  const Function &function = *loop.getHeader()->getParent();
  // After longjmp() a range may be an old one.
  if (!isLinux64(*function.getParent()) ||
      function.callsFunctionThatReturnsTwice())
    return {};
  bool isFar = use == IndirectUse::far;
  ListLookups lookups(loop, /*anyRow=*/isFar, analyses);
  if (lookups.all.empty())
    return {};
  if (lookups.all.size() > maxLookups)
    return {0, {}, 0, tooManyLookups};
  if (mayTagMemory(function))
    return {0, {}, 0, "its machine may tag memory: name one with -mcpu="};
  PrefetchVerdict verdict;
  verdict.rowsAhead = divideCeil(distance, 4);
  verdict.ahead = 2 * verdict.rowsAhead;
  verdict.elementsAhead = lookups.row.element ? verdict.rowsAhead / 2 : 0;
  IterationState state(lookups, distance);
  if (isFar && !state.findCounter())
    return {};
  SmallSetVector<Instruction *, 8> places;
  for (const ListLookup &lookup : lookups.all) {
    ++(lookup.isOfRow() ? verdict.rows : verdict.streams);
    places.insert(lookup.place);
  }
  if (verdict.elementsAhead)
    places.insert(lookups.row.place);
  ListWriter writer(lookups, state);
  SmallVector<BasicBlock *, 4> begins;
  for (Instruction *from : places)
    begins.push_back(writer.write(*from, verdict));
  state.finish(begins);
  return verdict;
}
