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
//     for (k = begin; ...)
//       column[k]
//   }
//
// The loop may end early, and may change the list and the rows, also by calls.
// So what it will read is not known, and the loads ahead must not fault:
//
// - list[i + n] is read if it is on the page of list[i], which was just read.
// - &row[...] is moved to the nearest address between two that the loop has
//   read of this array. They are forgotten where a call may free memory.
//
// An array is taken for one as long as its address is the same. So neither may
// pages in the middle of it be protected, nor may another thread shrink it in
// place.

#include "base/Access.h"
#include "base/Hint.h"
#include "prefetch/Lookup.h"
#include "prefetch/Prefetch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include <array>

using namespace llvm;
using namespace mpg;

/// Of all machines the smallest.
static constexpr int64_t minPageBytes = 4096;

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
/// The loads and steps behind an address.
struct Origin {
  unsigned steps = 0;
  unsigned loads = 0;       ///< one after another: 1 from a list, 2 from a row
  LoadInst *last = nullptr; ///< after it all that is loaded is known
  const Value *list = nullptr; ///< the array; of several, the last
};

class ListWriter {
public:
  ListWriter(Loop &loop, unsigned distance, FunctionAnalysisManager &analyses)
      : loop(loop), function(*loop.getHeader()->getParent()),
        distance(distance), loops(analyses.getResult<LoopAnalysis>(function)),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        number(function.getDataLayout().getIntPtrType(function.getContext())) {}
  PrefetchVerdict run();

private:
  struct ListLookup : Lookup {
    Origin origin;
  };
  Value *getFirst(PHINode &phi) const;
  const SCEV *getFirstPlace(Value *address) const;
  bool isBound(LoadInst &load) const;
  int64_t getListStep(LoadInst &load) const;
  bool isOneArray(const LoadInst &row) const;
  bool findLoad(LoadInst &load, Origin &origin) const;
  bool find(Value *value, Origin &origin) const;
  void addAccess(Instruction &access);
  Instruction *getPlaceAfter(LoadInst &load);
  Value *getListAddress(LoadInst &list, unsigned ahead, IRBuilder<> &builder);
  AllocaInst *addVariable(Constant *begin);
  Value *isSameArray(Value *base, IRBuilder<> &builder);
  void forgetAtCalls();
  Value *getRowAddress(LoadInst &row, unsigned ahead, IRBuilder<> &builder);
  Value *getLater(LoadInst &load, unsigned ahead);
  Value *copy(Value *value, unsigned ahead, IRBuilder<> &builder);

  Loop &loop;
  Function &function;
  unsigned distance;
  LoopInfo &loops;
  ScalarEvolution &scev;
  DominatorTree &dominators;
  IntegerType *number;                ///< an address
  SmallPtrSet<const SCEV *, 8> lists; ///< their addresses, in inner loops, too
  SmallVector<ListLookup, 8> lookups;
  DenseMap<LoadInst *, Instruction *> places;
  DenseMap<std::pair<LoadInst *, unsigned>, Value *> later; ///< by distance
  /// With what they are in front of the loop, and after what may free memory.
  MapVector<AllocaInst *, Constant *> variables;
};
} // namespace

/// What \p phi is in the first iteration of an inner loop; itself if it is of
/// this one. Null: neither is known.
Value *ListWriter::getFirst(PHINode &phi) const {
  Loop *owner = loops.getLoopFor(phi.getParent());
  if (owner->getHeader() != phi.getParent())
    return nullptr;
  if (owner == &loop)
    return &phi;
  BasicBlock *front = owner->getLoopPredecessor();
  return front ? phi.getIncomingValueForBlock(front) : nullptr;
}

const SCEV *ListWriter::getFirstPlace(Value *address) const {
  const SCEV *place = scev.getSCEV(address);
  auto *line = dyn_cast<SCEVAddRecExpr>(place);
  while (line && line->getLoop() != &loop && loop.contains(line->getLoop())) {
    place = line->getStart();
    line = dyn_cast<SCEVAddRecExpr>(place);
  }
  return place;
}

/// Bytes from an iteration's element to the next one's. 0: \p load reads no
/// list, or one of large elements.
int64_t ListWriter::getListStep(LoadInst &load) const {
  auto *line = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(load.getPointerOperand()));
  auto *step = line && line->getLoop() == &loop && line->isAffine()
                   ? dyn_cast<SCEVConstant>(line->getStepRecurrence(scev))
                   : nullptr;
  constexpr int64_t maxBytes = minPageBytes / 16;
  return step && step->getAPInt().abs().ule(maxBytes)
             ? step->getAPInt().getSExtValue()
             : 0;
}

/// Whether \p load reads the bounds of rows in the order in which the hardware
/// follows them: the loop reads the next bound, too.
bool ListWriter::isBound(LoadInst &load) const {
  const SCEV *place = scev.getSCEV(load.getPointerOperand());
  int64_t step = getListStep(load);
  return llvm::any_of(std::array{step, -step}, [&](int64_t bytes) {
    return lists.contains(scev.getAddExpr(
        place, scev.getConstant(number, uint64_t(bytes), /*isSigned=*/true)));
  });
}

/// Whether equal bases of \p row's address mean the same array.
bool ListWriter::isOneArray(const LoadInst &row) const {
  const Value *base = getUnderlyingObject(row.getPointerOperand(), 0);
  if (loop.isLoopInvariant(base))
    return !isa<IntToPtrInst>(base) &&
           (!isa<Constant>(base) || isa<GlobalVariable>(base));
  auto *load = dyn_cast<LoadInst>(base);
  return load ? loop.isLoopInvariant(load->getPointerOperand())
              : isa<PHINode>(base);
}

/// As find().
bool ListWriter::findLoad(LoadInst &load, Origin &origin) const {
  if (!load.isSimple() || load.getPointerAddressSpace() ||
      loops.getLoopFor(load.getParent()) != &loop ||
      !scev.isSCEVable(load.getType()) ||
      load.getType()->getPrimitiveSizeInBits() > 64)
    return false;
  unsigned loads = 1;
  if (getListStep(load)) {
    if (isBound(load))
      return false;
    origin.list = getUnderlyingObject(load.getPointerOperand(), 0);
  } else {
    Origin own = {origin.steps};
    if (!find(load.getPointerOperand(), own) || own.loads > 1 ||
        (own.loads && !isOneArray(load)))
      return false;
    origin.steps = own.steps;
    origin.list = own.list ? own.list : origin.list;
    loads = own.loads ? own.loads + 1 : 0;
  }
  origin.loads = std::max(origin.loads, loads);
  if (!origin.last || dominators.dominates(origin.last, &load))
    origin.last = &load;
  return true;
}

/// Adds to \p origin what \p value is computed from. \returns whether it can be
/// computed earlier.
bool ListWriter::find(Value *value, Origin &origin) const {
  auto *step = dyn_cast<Instruction>(value);
  if (!step || !loop.contains(step))
    return true;
  if (++origin.steps > maxSteps)
    return false;
  if (auto *load = dyn_cast<LoadInst>(step))
    return findLoad(*load, origin);
  if (auto *phi = dyn_cast<PHINode>(step)) {
    Value *first = getFirst(*phi);
    // One of this loop is taken as it is now.
    return first == phi || (first && find(first, origin));
  }
  return !isFloating(*step) && !step->mayReadOrWriteMemory() &&
         isSafeToSpeculativelyExecute(step) &&
         llvm::all_of(step->operands(),
                      [&](Value *operand) { return find(operand, origin); });
}

void ListWriter::addAccess(Instruction &access) {
  Value *address = getPrefetchable(access);
  Origin origin;
  if (!address || lookups.size() > maxLookups || !find(address, origin) ||
      !origin.loads || getUnderlyingObject(address, 0) == origin.list)
    return;
  const SCEV *place = getFirstPlace(address);
  for (ListLookup &known : lookups)
    if (joinNear(known, place, access, scev))
      return;
  lookups.push_back(
      {{&access, address, place, access.mayWriteToMemory()}, origin});
}

/// Where code that needs \p load goes, in the order in which it is written.
Instruction *ListWriter::getPlaceAfter(LoadInst &load) {
  Instruction *&place = places[&load];
  if (!place)
    place = load.getNextNode();
  return place;
}

/// The element \p ahead iterations later if it is on the same page, so that
/// loading it cannot fault; else the element of \p list.
Value *ListWriter::getListAddress(LoadInst &list, unsigned ahead,
                                  IRBuilder<> &builder) {
  int64_t bytes = getListStep(list) * int64_t(ahead);
  int64_t size = function.getDataLayout().getTypeStoreSize(list.getType());
  Value *now = list.getPointerOperand();
  Value *then =
      builder.CreatePtrAdd(now, ConstantInt::getSigned(number, bytes));
  Value *end =
      bytes < 0
          ? then
          : builder.CreatePtrAdd(then, ConstantInt::get(number, size - 1));
  Value *apart = builder.CreateXor(builder.CreatePtrToInt(now, number),
                                   builder.CreatePtrToInt(end, number));
  return builder.CreateSelect(
      builder.CreateICmpULT(apart, ConstantInt::get(number, minPageBytes)),
      then, now);
}

AllocaInst *ListWriter::addVariable(Constant *begin) {
  IRBuilder<> builder(&*function.getEntryBlock().begin());
  AllocaInst *variable = builder.CreateAlloca(begin->getType());
  builder.SetInsertPoint(loop.getLoopPreheader()->getTerminator());
  builder.CreateStore(begin, variable);
  return variables[variable] = begin, variable;
}

/// Whether \p base is the same as when this was last asked.
Value *ListWriter::isSameArray(Value *base, IRBuilder<> &builder) {
  if (loop.isLoopInvariant(base))
    return builder.getTrue();
  AllocaInst *last =
      addVariable(ConstantPointerNull::get(cast<PointerType>(base->getType())));
  Value *isSame =
      builder.CreateICmpEQ(base, builder.CreateLoad(base->getType(), last));
  builder.CreateStore(base, last);
  return isSame;
}

/// A call may free an array, or a part of it.
void ListWriter::forgetAtCalls() {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (auto *call = dyn_cast<CallBase>(&instruction);
          call && !call->hasFnAttr(Attribute::NoFree) &&
          call->mayWriteToMemory())
        for (auto [variable, begin] : variables)
          new StoreInst(begin, variable, call->getIterator());
}

/// The address of \p row \p ahead iterations later, or the nearest of which it
/// is known that loading it cannot fault.
Value *ListWriter::getRowAddress(LoadInst &row, unsigned ahead,
                                 IRBuilder<> &builder) {
  Value *now = row.getPointerOperand();
  Value *at = builder.CreatePtrToInt(now, number);
  Value *isSame = isSameArray(getUnderlyingObject(now, 0), builder);
  auto extend = [&](Constant *begin, Intrinsic::ID choose) {
    AllocaInst *bound = addVariable(begin);
    Value *old = builder.CreateLoad(number, bound);
    Value *all = builder.CreateBinaryIntrinsic(
        choose, builder.CreateSelect(isSame, old, at), at);
    builder.CreateStore(all, bound);
    return all;
  };
  Value *low = extend(ConstantInt::getAllOnesValue(number), Intrinsic::umin);
  Value *high = extend(ConstantInt::get(number, 0), Intrinsic::umax);
  // Frozen: a garbage index may make it poison, by a shift.
  Value *then = builder.CreateFreeze(
      builder.CreatePtrToInt(copy(now, ahead, builder), number));
  then = builder.CreateBinaryIntrinsic(Intrinsic::umax, then, low);
  then = builder.CreateBinaryIntrinsic(Intrinsic::umin, then, high);
  return builder.CreatePtrAdd(now, builder.CreateSub(then, at));
}

/// What \p load reads \p ahead iterations later, or anything.
Value *ListWriter::getLater(LoadInst &load, unsigned ahead) {
  Origin origin;
  bool isList = getListStep(load) != 0;
  find(load.getPointerOperand(), origin);
  if (!isList && !origin.loads)
    return &load;
  if (Value *known = later.lookup({&load, ahead}))
    return known;
  IRBuilder<> builder(getPlaceAfter(load));
  builder.SetCurrentDebugLocation(load.getDebugLoc());
  Value *address = isList ? getListAddress(load, ahead, builder)
                          : getRowAddress(load, ahead, builder);
  // The loop may skip elements that are not aligned.
  Align align =
      isList ? commonAlignment(load.getAlign(), getListStep(load)) : Align();
  // Frozen: it may be no element.
  return later[{&load, ahead}] = builder.CreateFreeze(
             builder.CreateAlignedLoad(load.getType(), address, align));
}

Value *ListWriter::copy(Value *value, unsigned ahead, IRBuilder<> &builder) {
  auto *step = dyn_cast<Instruction>(value);
  if (!step || !loop.contains(step))
    return value;
  if (auto *load = dyn_cast<LoadInst>(step))
    return getLater(*load, ahead);
  if (auto *phi = dyn_cast<PHINode>(step)) {
    Value *first = getFirst(*phi);
    return first == phi ? phi : copy(first, ahead, builder);
  }
  Instruction *other = copyStep(*step);
  for (Use &operand : other->operands())
    operand.set(copy(operand, ahead, builder));
  return builder.Insert(other);
}

PrefetchVerdict ListWriter::run() {
  // After longjmp() a range may be an old one.
  if (!isLinux64(*function.getParent()) ||
      function.callsFunctionThatReturnsTwice())
    return {};
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (auto *load = dyn_cast<LoadInst>(&instruction);
          load && getListStep(*load))
        lists.insert(scev.getSCEV(load->getPointerOperand()));
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (isPrefetch(instruction) && loops.getLoopFor(block) == &loop)
        return {};
      addAccess(instruction);
    }
  if (lookups.empty())
    return {};
  if (lookups.size() > maxLookups)
    return {0, {}, 0, tooManyLookups};
  if (mayTagMemory(function))
    return {0, {}, 0, "its machine may tag memory: name one with -mcpu="};
  PrefetchVerdict verdict;
  verdict.rowsAhead = divideCeil(distance, 4);
  verdict.ahead = 2 * verdict.rowsAhead;
  for (const ListLookup &lookup : lookups) {
    bool isRow = lookup.origin.loads > 1;
    ++(isRow ? verdict.rows : verdict.streams);
    IRBuilder<> builder(getPlaceAfter(*lookup.origin.last));
    Value *address = copy(lookup.address,
                          isRow ? verdict.rowsAhead : verdict.ahead, builder);
    writePrefetch(*lookup.access, lookup.isWritten, 1, address, builder);
  }
  forgetAtCalls();
  PromoteMemToReg(to_vector(make_first_range(variables)), dominators);
  return verdict;
}

PrefetchVerdict mpg::writeListPrefetches(Loop &loop, unsigned distance,
                                         FunctionAnalysisManager &analyses) {
  return ListWriter(loop, distance, analyses).run();
}
