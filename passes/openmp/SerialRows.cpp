// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/SerialRows.h"
#include "openmp/ArrayVerdict.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Bytes of a memset that are worth a remark, if they are a constant.
static constexpr uint64_t leastRowBytes = 4096;
static constexpr unsigned maxSeen = 64;

using Objects = SmallVector<const Value *, 4>;

bool mpg::isSameArray(const MemoryObject &one, const MemoryObject &other) {
  if (one.origin != other.origin)
    return false;
  auto source = sourceOf(one), otherSource = sourceOf(other);
  return source && otherSource && source->site == otherSource->site;
}

/// Whether memory behind \p pointer is read or written.
static bool isAccessed(const Instruction &pointer) {
  SmallVector<const Value *, 8> open = {&pointer};
  SmallPtrSet<const Value *, 16> seen;
  while (!open.empty() && seen.size() < maxSeen) {
    const Value *value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (const User *user : value->users()) {
      auto *store = dyn_cast<StoreInst>(user);
      if ((store && store->getPointerOperand() == value) || isa<LoadInst>(user))
        return true;
      if (isa<GetElementPtrInst, PHINode, SelectInst>(user))
        open.push_back(user);
    }
  }
  return false;
}

namespace {
/// The serial code of a module, as far as it is about rows.
class RowSearch {
public:
  RowSearch(ArrayRef<const ParallelUse *> uses, Sampler &sampler);
  void find(const ParallelUse &use);
  std::vector<SerialRows> found;

private:
  struct Maker {
    StoreInst *store; ///< of a row's pointer
    const CallFrame *frame;
    const Instruction *row;     ///< what the pointer is computed from
    const MemoryObject *object; ///< the memory that it leads to
    bool isEach;
  };
  const MemoryObject *objectOf(const Value &pointer, const CallFrame *frame);
  Objects basesOf(const Value &pointer, Function &function);
  void findMakers(Function &function);
  void addMaker(StoreInst &store);
  bool isFirst(const Instruction &at, const CallFrame *frame,
               const ParallelUse &use);
  const Instruction *writerOf(const Maker &maker, const ParallelUse &use);
  std::optional<int64_t> bytesOf(const MemoryObject &object);
  bool isSmall(const Maker &maker, const MemoryObject &pointers);
  bool isRow(const Value &base, const Maker &maker,
             const MemoryObject &pointers);
  bool movesOn(const Instruction &at, const Value &pointer,
               const Instruction *base);

  ArrayRef<const ParallelUse *> uses; ///< that read pointers
  Sampler &sampler;
  std::vector<Maker> makers;
};
} // namespace

const MemoryObject *RowSearch::objectOf(const Value &pointer,
                                        const CallFrame *frame) {
  Situation situation;
  situation.frame = frame;
  return sampler
      .placeOf(sampler.valueOf(const_cast<Value *>(&pointer), situation))
      .object;
}

Objects RowSearch::basesOf(const Value &pointer, Function &function) {
  Objects bases;
  getUnderlyingObjects(&pointer, bases,
                       &sampler.analyses.getResult<LoopAnalysis>(function),
                       /*MaxLookup=*/0);
  return bases;
}

/// A store of a pointer, in a loop, to memory that is allocated.
void RowSearch::addMaker(StoreInst &store) {
  Function &function = *store.getFunction();
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  const Loop *loop = loops.getLoopFor(store.getParent());
  Objects bases = basesOf(*store.getValueOperand(), function);
  auto *row = bases.size() == 1 ? dyn_cast<Instruction>(bases[0]) : nullptr;
  if (!loop || !row || loop->isLoopInvariant(store.getPointerOperand()))
    return;
  for (const CallFrame *way : sampler.frames.waysTo(function)) {
    const MemoryObject *object = objectOf(*row, way);
    if (object && isPlaceable(*object))
      makers.push_back({&store, way, row, object, loop->contains(row)});
  }
}

void RowSearch::findMakers(Function &function) {
  for (Instruction &at : instructions(function))
    if (auto *store = dyn_cast<StoreInst>(&at);
        store && store->getValueOperand()->getType()->isPointerTy())
      addMaker(*store);
}

/// Whether \p base is a row of \p maker: its own pointer, or one that is read
/// from \p pointers.
bool RowSearch::isRow(const Value &base, const Maker &maker,
                      const MemoryObject &pointers) {
  if (&base == maker.row)
    return true;
  auto *load = dyn_cast<LoadInst>(&base);
  if (!load || load->getFunction() != maker.row->getFunction())
    return false;
  const MemoryObject *from = objectOf(*load->getPointerOperand(), maker.frame);
  return from && isSameArray(*from, pointers);
}

/// Whether the write at \p at goes over memory behind \p base, and not to one
/// place of each row.
bool RowSearch::movesOn(const Instruction &at, const Value &pointer,
                        const Instruction *base) {
  if (auto *memset = dyn_cast<MemSetInst>(&at)) {
    auto *bytes = dyn_cast<ConstantInt>(memset->getLength());
    return !bytes || bytes->getZExtValue() >= leastRowBytes;
  }
  Function &function = *const_cast<Function *>(at.getFunction());
  const Loop *loop =
      sampler.analyses.getResult<LoopAnalysis>(function).getLoopFor(
          at.getParent());
  return loop && !loop->isLoopInvariant(&pointer) && !loop->contains(base);
}

/// Whether \p at may come before \p use, and no team has read or written what
/// is behind the pointers before.
bool RowSearch::isFirst(const Instruction &at, const CallFrame *frame,
                        const ParallelUse &use) {
  return orderOf(at, frame, *use.at, use.frame, sampler.analyses) !=
             Order::never &&
         none_of(uses, [&](const ParallelUse *other) {
           return isSameArray(*other->object, *use.object) &&
                  orderOf(*other->at, other->frame, at, frame,
                          sampler.analyses) == Order::always;
         });
}

/// Where the code that makes rows writes to them as well; null if it does not.
const Instruction *RowSearch::writerOf(const Maker &maker,
                                       const ParallelUse &use) {
  const Instruction *found = nullptr;
  Function &function = *maker.store->getFunction();
  for (Instruction &at : instructions(function)) {
    auto *store = dyn_cast<StoreInst>(&at);
    auto *memset = dyn_cast<MemSetInst>(&at);
    if (!store && !memset)
      continue;
    const Value &pointer =
        store ? *store->getPointerOperand() : *memset->getRawDest();
    Objects bases = basesOf(pointer, function);
    auto *base = bases.size() == 1 ? dyn_cast<Instruction>(bases[0]) : nullptr;
    if (!base || !isRow(*base, maker, *use.object) ||
        !movesOn(at, pointer, base) || !isFirst(at, maker.frame, use))
      continue;
    if (at.getDebugLoc() && at.getDebugLoc().getLine())
      return &at;
    found = found ? found : &at;
  }
  return found;
}

/// Bytes of \p object, if they are a constant of the source.
std::optional<int64_t> RowSearch::bytesOf(const MemoryObject &object) {
  std::optional<ArraySource> source = sourceOf(object);
  return source ? knownBytes(*source, sampler) : std::nullopt;
}

/// Whether all rows are known to be too small for a remark.
bool RowSearch::isSmall(const Maker &maker, const MemoryObject &pointers) {
  std::optional<int64_t> bytes = bytesOf(*maker.object);
  std::optional<int64_t> ofPointers = bytesOf(pointers);
  if (!bytes || !maker.isEach)
    return bytes && *bytes < minPlacedBytes;
  return ofPointers && times(*bytes, *ofPointers / 8) < minPlacedBytes;
}

RowSearch::RowSearch(ArrayRef<const ParallelUse *> uses, Sampler &sampler)
    : uses(uses), sampler(sampler) {
  for (Function &function : sampler.module)
    if (!function.isDeclaration() && !sampler.frames.isParallel(function))
      findMakers(function);
}

void RowSearch::find(const ParallelUse &use) {
  for (const Maker &maker : makers) {
    bool isKnown = any_of(found, [&](const SerialRows &rows) {
      return rows.pointer == maker.row &&
             isSameArray(*rows.use->object, *use.object);
    });
    const MemoryObject *pointers =
        objectOf(*maker.store->getPointerOperand(), maker.frame);
    if (isKnown || !pointers || !isSameArray(*pointers, *use.object) ||
        isSmall(maker, *pointers))
      continue;
    if (const Instruction *init = writerOf(maker, use))
      found.push_back({&use, init, maker.row, maker.isEach});
  }
}

std::vector<SerialRows> mpg::findSerialRows(ArrayRef<ParallelUse> uses,
                                            Sampler &sampler) {
  std::vector<const ParallelUse *> pointers;
  for (const ParallelUse &use : uses)
    if (use.at->getType()->isPointerTy() && use.shape == UseShape::parts &&
        isAccessed(*use.at))
      pointers.push_back(&use);
  if (pointers.empty())
    return {};
  RowSearch search(pointers, sampler);
  for (const ParallelUse *use : pointers)
    search.find(*use);
  return search.found;
}
