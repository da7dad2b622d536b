// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a nest uses its arrays: once, or again and again. See SectorAuto.h.

#include "base/A64fx.h"
#include "base/Access.h"
#include "base/Scev.h"
#include "openmp/Allocations.h"
#include "sector/SectorAuto.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

using a64fx::lineBytes;
/// Rows this far apart do not overlap, if their length is not known.
static constexpr int64_t rowBytes = 1024;

namespace {
/// How one access moves through its array while the nest runs.
struct Motion {
  bool isStream = true; ///< onwards in each loop, without gaps in the innermost
  bool isRandom = false;
  bool repeats = false; ///< the same in each iteration of the nest's loop
  bool moves = false;   ///< in some loop within
  /// Bytes in one iteration of the nest's loop; null: not known.
  const SCEV *once = nullptr;
  std::optional<ArraySize::Difference> segment;
};

class NestFinder {
public:
  NestFinder(Loop &loop, FunctionAnalysisManager &analyses)
      : loop(loop), function(*loop.getHeader()->getParent()),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        loops(analyses.getResult<LoopAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        layout(function.getParent()->getDataLayout()),
        number(Type::getInt64Ty(function.getContext())) {}
  Nest run();

private:
  const char *whyNot() const;
  void addAccess(Instruction &access, Nest &nest);
  Motion follow(Instruction &access, Value *address) const;
  void step(const Loop &at, const SCEVAddRecExpr &line, bool isInner,
            Motion &motion) const;
  bool isLookedUp(const SCEV *address, const Loop &at) const;
  std::optional<ArraySize::Difference>
  findSegment(const Loop &rows, const SCEV *start, uint64_t factor) const;
  std::optional<ArraySize::Difference>
  fromBounds(const Loop &rows, const LoadInst &bound, uint64_t factor) const;
  void finish(NestArray &array, ArrayRef<Motion> motions);
  bool areTogether(const NestArray &array) const;
  ArraySize sizeOfObject(Value &base) const;
  ArraySize sizeOfVector(Value &base) const;
  ArraySize sizeOfAllocatable(Value &base) const;

  Loop &loop;
  Function &function;
  ScalarEvolution &scev;
  LoopInfo &loops;
  DominatorTree &dominators;
  const DataLayout &layout;
  IntegerType *number;
  MapVector<Value *, SmallVector<Motion, 4>> motions;
  const SCEV *times = nullptr;
};
} // namespace

const char *NestFinder::whyNot() const {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (!call || !call->mayReadOrWriteMemory() || isa<MemIntrinsic>(call))
        continue;
      auto *intrinsic = dyn_cast<IntrinsicInst>(call);
      if (!intrinsic || !intrinsic->isAssumeLikeIntrinsic())
        return "it calls functions that may use memory";
    }
  return loop.getLoopPredecessor() ? nullptr
                                   : "it begins in more than one place";
}

// Sizes of objects

/// By the type that clang gives to the load of a vector's begin: its end is in
/// the next pointer. libstdc++, libc++.
static bool isVectorBegin(const LoadInst &load) {
  auto *tag = load.getMetadata(LLVMContext::MD_tbaa);
  auto *type = tag && tag->getNumOperands() >= 3
                   ? dyn_cast<MDNode>(tag->getOperand(0))
                   : nullptr;
  auto *name = type && type->getNumOperands()
                   ? dyn_cast<MDString>(type->getOperand(0))
                   : nullptr;
  auto *offset = mdconst::dyn_extract_or_null<ConstantInt>(
      tag && tag->getNumOperands() >= 3 ? tag->getOperand(2).get() : nullptr);
  return name && offset && offset->isZero() &&
         (name->getString().contains("_Vector_impl_data") ||
          name->getString().starts_with("_ZTSNSt3__16vectorI"));
}

ArraySize NestFinder::sizeOfVector(Value &base) const {
  ArraySize size;
  auto *load = dyn_cast<LoadInst>(&base);
  if (!load || !isVectorBegin(*load))
    return size;
  const SCEV *first = scev.getSCEV(load->getPointerOperand());
  const SCEV *last =
      scev.getAddExpr(first, scev.getConstant(number, layout.getPointerSize()));
  size.bytes = scev.getZero(number);
  size.loaded.push_back({last, first, load->getType(), 1});
  return size;
}

/// By flang's descriptor of a module's allocatable array: address, bytes of an
/// element, four numbers, and lower bound, extent and stride of each dimension.
ArraySize NestFinder::sizeOfAllocatable(Value &base) const {
  ArraySize size;
  auto *load = dyn_cast<LoadInst>(&base);
  auto *global = dyn_cast_or_null<GlobalVariable>(
      load ? load->getPointerOperand() : nullptr);
  auto *type =
      dyn_cast_or_null<StructType>(global ? global->getValueType() : nullptr);
  auto *dimensions = dyn_cast_or_null<ArrayType>(
      type && type->getNumElements() == 8 ? type->getElementType(7) : nullptr);
  if (!dimensions || !type->getElementType(0)->isPointerTy() ||
      dimensions->getElementType() != ArrayType::get(number, 3))
    return size;
  const StructLayout &places = *layout.getStructLayout(type);
  auto add = [&](uint64_t offset) {
    size.product.push_back(scev.getAddExpr(scev.getSCEV(global),
                                           scev.getConstant(number, offset)));
  };
  add(places.getElementOffset(1));
  for (uint64_t i = 0; i < dimensions->getNumElements(); ++i)
    add(places.getElementOffset(7) + (3 * i + 1) * sizeof(int64_t));
  size.bytes = scev.getZero(number);
  return size;
}

/// What \p phi is unless it is null, as the memory of an empty vector is.
static Value *getOther(const PHINode &phi) {
  Value *other = nullptr;
  for (Value *value : phi.incoming_values()) {
    if (isa<ConstantPointerNull>(value))
      continue;
    if (other || isa<PHINode>(value))
      return nullptr;
    other = value;
  }
  return other;
}

/// Of all that \p base points to; nothing if that is not known here.
ArraySize NestFinder::sizeOfObject(Value &base) const {
  ArraySize size;
  if (auto *global = dyn_cast<GlobalVariable>(&base)) {
    if (!global->isDeclaration() && global->getValueType()->isSized())
      size.bytes = scev.getConstant(
          number, layout.getTypeAllocSize(global->getValueType()));
  } else if (auto *local = dyn_cast<AllocaInst>(&base)) {
    if (std::optional<TypeSize> bytes = local->getAllocationSize(layout);
        bytes && !bytes->isScalable())
      size.bytes = scev.getConstant(number, bytes->getFixedValue());
  } else if (auto *call = dyn_cast<CallBase>(&base)) {
    if (std::optional<Allocation> fresh = findAllocation(*call)) {
      size.bytes = scev.getNoopOrZeroExtend(scev.getSCEV(fresh->bytes), number);
      if (fresh->count)
        size.bytes = scev.getMulExpr(
            size.bytes,
            scev.getNoopOrZeroExtend(scev.getSCEV(fresh->count), number));
    }
  } else if (auto *phi = dyn_cast<PHINode>(&base)) {
    Value *other = getOther(*phi);
    return other ? sizeOfObject(*other) : size;
  } else {
    size = sizeOfVector(base);
    if (!size.bytes)
      size = sizeOfAllocatable(base);
    if (!size.bytes)
      size.object = &base;
  }
  return size;
}

// Segments of a sparse matrix

/// \p bound, where a row's segment ends, is loaded in each iteration of \p
/// rows, at the next element each.
std::optional<ArraySize::Difference>
NestFinder::fromBounds(const Loop &rows, const LoadInst &bound,
                       uint64_t factor) const {
  const SCEV *address =
      scev.getSCEV(const_cast<Value *>(bound.getPointerOperand()));
  auto *line = dyn_cast<SCEVAddRecExpr>(address);
  int64_t bytes = int64_t(layout.getTypeStoreSize(bound.getType()));
  if (!line || line->getLoop() != &rows || !line->isAffine() || !times ||
      !bound.getType()->isIntegerTy() || !bound.isSimple() ||
      smallConstant(line->getStepRecurrence(scev)) != bytes)
    return std::nullopt;
  // Else the last one may never be loaded, and not be there.
  if (rows.getExitingBlock() != rows.getLoopLatch() ||
      !dominators.dominates(bound.getParent(), rows.getLoopLatch()))
    return std::nullopt;
  const SCEV *element = scev.getConstant(number, uint64_t(bytes));
  const SCEV *first = scev.getMinusSCEV(line->getStart(), element);
  const SCEV *last = scev.getAddExpr(first, scev.getMulExpr(times, element));
  return ArraySize::Difference{last, first, bound.getType(), factor};
}

/// \p start, of a row's first element, is where the row before has ended: then
/// all rows together are one stream.
std::optional<ArraySize::Difference>
NestFinder::findSegment(const Loop &rows, const SCEV *start,
                        uint64_t factor) const {
  const Value *changing = nullptr;
  unsigned count = 0;
  SCEVExprContains(start, [&](const SCEV *part) {
    auto *unknown = dyn_cast<SCEVUnknown>(part);
    if (unknown && !scev.isLoopInvariant(unknown, &rows)) {
      changing = unknown->getValue();
      ++count;
    }
    return false;
  });
  if (count != 1 || &rows != &loop)
    return std::nullopt;
  if (auto *phi = dyn_cast<PHINode>(changing);
      phi && phi->getParent() == rows.getHeader() && rows.getLoopLatch()) {
    const Value *next = phi->getIncomingValueForBlock(rows.getLoopLatch());
    while (auto *cast = dyn_cast<CastInst>(next))
      next = cast->getOperand(0);
    auto *bound = dyn_cast<LoadInst>(next);
    return bound ? fromBounds(rows, *bound, factor) : std::nullopt;
  }
  auto *begin = dyn_cast<LoadInst>(changing);
  if (!begin)
    return std::nullopt;
  const SCEV *here =
      scev.getSCEV(const_cast<Value *>(begin->getPointerOperand()));
  for (const BasicBlock *block : rows.blocks())
    for (const Instruction &instruction : *block)
      if (auto *bound = dyn_cast<LoadInst>(&instruction);
          bound && bound->getType() == begin->getType())
        if (smallConstant(scev.getMinusSCEV(
                scev.getSCEV(const_cast<Value *>(bound->getPointerOperand())),
                here)) == int64_t(layout.getTypeStoreSize(begin->getType())))
          return fromBounds(rows, *bound, factor);
  return std::nullopt;
}

// Accesses

/// Adds what \p line does in \p at to \p motion.
void NestFinder::step(const Loop &at, const SCEVAddRecExpr &line, bool isInner,
                      Motion &motion) const {
  std::optional<int64_t> known = smallConstant(line.getStepRecurrence(scev));
  int64_t bytes = known ? std::abs(*known) : lineBytes;
  const SCEV *each = motion.once;
  if (isInner) {
    motion.isStream &= known && bytes <= lineBytes && at.isInnermost();
    each = scev.getConstant(number, uint64_t(std::min(bytes, lineBytes)));
  } else if (known) {
    std::optional<int64_t> row = each ? smallConstant(each) : std::nullopt;
    motion.isStream &= row ? *row <= bytes : bytes >= rowBytes;
  }
  const SCEV *times = &at == &loop
                          ? scev.getOne(number)
                          : countTimes(scev.getBackedgeTakenCount(&at), scev);
  motion.moves |= &at != &loop;
  motion.once =
      each && times && line.isAffine() ? scev.getMulExpr(each, times) : nullptr;
}

/// Whether \p address depends on something that is read or computed in \p at.
bool NestFinder::isLookedUp(const SCEV *address, const Loop &at) const {
  return SCEVExprContains(address, [&](const SCEV *part) {
    return isa<SCEVUnknown>(part) && !scev.isLoopInvariant(part, &at);
  });
}

Motion NestFinder::follow(Instruction &access, Value *pointer) const {
  Motion motion;
  const SCEV *address = scev.getSCEV(pointer);
  motion.once = scev.getSizeOfExpr(
      number, layout.getTypeStoreSize(getLoadStoreType(&access)));
  const Loop *inner = loops.getLoopFor(access.getParent());
  std::optional<int64_t> element;
  for (const Loop *at = inner;; at = at->getParentLoop()) {
    auto *line = dyn_cast<SCEVAddRecExpr>(address);
    if (line && line->getLoop() == at) {
      step(*at, *line, at == inner, motion);
      if (at == inner)
        element = smallConstant(line->getStepRecurrence(scev));
      address = line->getStart();
    } else if (scev.isLoopInvariant(address, at)) {
      motion.isStream = false;
      motion.repeats = at == &loop;
    } else {
      if (motion.isStream && element)
        motion.segment =
            findSegment(*at, address, uint64_t(std::abs(*element)));
      motion.isRandom = !motion.segment && isLookedUp(address, *at);
      motion.isStream &= bool(motion.segment);
      return motion;
    }
    if (at == &loop)
      return motion;
  }
}

void NestFinder::addAccess(Instruction &access, Nest &nest) {
  Use *use = taggableAddress(access);
  if (!use || !getLoadStorePointerOperand(&access))
    return;
  const SCEV *address = scev.getSCEV(use->get());
  auto *base = dyn_cast<SCEVUnknown>(scev.getPointerBase(address));
  if (!base || !loop.isLoopInvariant(base->getValue()))
    return;
  Motion motion = follow(access, use->get());
  if (!motions.contains(base->getValue())) {
    NestArray array;
    array.base = base->getValue();
    nest.arrays.push_back(array);
  }
  motions[base->getValue()].push_back(motion);
  for (NestArray &array : nest.arrays)
    if (array.base == base->getValue())
      array.accesses.push_back(&access);
}

/// Whether all accesses are at one place of the array at a time.
bool NestFinder::areTogether(const NestArray &array) const {
  auto getAddress = [&](Instruction *access) {
    return scev.getSCEV(getLoadStorePointerOperand(access));
  };
  const SCEV *first = getAddress(array.accesses.front());
  return all_of(array.accesses, [&](Instruction *access) {
    std::optional<int64_t> distance =
        smallConstant(scev.getMinusSCEV(getAddress(access), first));
    return distance && std::abs(*distance) <= rowBytes;
  });
}

/// Decides what \p array is, by all of its accesses.
void NestFinder::finish(NestArray &array, ArrayRef<Motion> motions) {
  if (any_of(motions, [](const Motion &one) { return one.isRandom; })) {
    array.kind = NestArray::kept;
    array.isRandom = true;
    array.size = sizeOfObject(*array.base);
    return;
  }
  const Motion &first = motions.front();
  if (all_of(motions, [](const Motion &one) { return one.isStream; })) {
    if (!areTogether(array))
      return;
    array.kind = NestArray::stream;
    if (first.segment) {
      array.size.bytes = scev.getZero(number);
      array.size.loaded.push_back(*first.segment);
    } else if (first.once && times) {
      array.size.bytes = scev.getMulExpr(first.once, times);
    }
    return;
  }
  for (const Motion &one : motions)
    if (one.repeats && one.moves) {
      array.kind = NestArray::kept;
      array.size.bytes = one.once;
    }
}

Nest NestFinder::run() {
  Nest nest;
  nest.loop = &loop;
  nest.reason = whyNot();
  if (nest.reason)
    return nest;
  times = nest.times = countTimes(scev.getBackedgeTakenCount(&loop), scev);
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      addAccess(instruction, nest);
  for (NestArray &array : nest.arrays) {
    finish(array, motions[array.base]);
    nest.isRandom |= array.isRandom;
  }
  return nest;
}

/// Whether \p nest has both kinds of arrays.
static bool isMixed(const Nest &nest) {
  auto has = [&](NestArray::Kind kind) {
    return any_of(nest.arrays,
                  [&](const NestArray &array) { return array.kind == kind; });
  };
  return has(NestArray::stream) && has(NestArray::kept);
}

void mpg::findNests(Loop &loop, FunctionAnalysisManager &analyses,
                    SmallVectorImpl<Nest> &nests) {
  Nest nest = NestFinder(loop, analyses).run();
  if (!nest.reason && isMixed(nest)) {
    nests.push_back(std::move(nest));
    return;
  }
  size_t before = nests.size();
  for (Loop *inner : loop)
    findNests(*inner, analyses, nests);
  if (nests.size() != before || loop.getParentLoop())
    return;
  if (!nest.reason)
    nest.reason = any_of(nest.arrays,
                         [](const NestArray &array) {
                           return array.kind == NestArray::kept;
                         })
                      ? "nothing in it is used only once"
                      : "nothing in it is used again";
  nests.push_back(std::move(nest));
}
