// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds arrays behind pointers in memory: rows of an array of pointers, and
// arrays that a function fills and keeps in a member. See SerialInit.h.

#include "openmp/ArrayVerdict.h"
#include "openmp/SerialInit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Bytes of a memset that are worth a remark, if they are a constant.
static constexpr uint64_t minRowBytes = 4096;
static constexpr unsigned maxSeen = 64;

using Objects = SmallVector<const Value *, 4>;

/// Whether both are the array that the same call gave.
static bool isSameArray(const MemoryObject &one, const MemoryObject &other) {
  if (one.origin != other.origin)
    return false;
  auto source = findSource(one), otherSource = findSource(other);
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
/// The part of a module's serial code that concerns rows.
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
  const MemoryObject *findObject(const Value &pointer, const CallFrame *frame);
  Objects getBases(const Value &pointer, Function &function);
  void findMakers(Function &function);
  void addMaker(StoreInst &store);
  bool isFirst(const Instruction &at, const CallFrame *frame,
               const ParallelUse &use);
  const Instruction *findWriter(const Maker &maker, const ParallelUse &use);
  std::optional<int64_t> getBytes(const MemoryObject &object);
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

const MemoryObject *RowSearch::findObject(const Value &pointer,
                                          const CallFrame *frame) {
  EvalContext context;
  context.frame = frame;
  return sampler
      .getPlace(sampler.evaluate(const_cast<Value *>(&pointer), context))
      .object;
}

Objects RowSearch::getBases(const Value &pointer, Function &function) {
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
  Objects bases = getBases(*store.getValueOperand(), function);
  auto *row = bases.size() == 1 ? dyn_cast<Instruction>(bases[0]) : nullptr;
  if (!loop || !row || loop->isLoopInvariant(store.getPointerOperand()))
    return;
  for (const CallFrame *path : sampler.frames.callPathsTo(function)) {
    const MemoryObject *object = findObject(*row, path);
    if (object && isPlaceable(*object))
      makers.push_back({&store, path, row, object, loop->contains(row)});
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
  const MemoryObject *from =
      findObject(*load->getPointerOperand(), maker.frame);
  return from && isSameArray(*from, pointers);
}

/// Whether the write at \p at goes over memory behind \p base, and not to one
/// place of each row.
bool RowSearch::movesOn(const Instruction &at, const Value &pointer,
                        const Instruction *base) {
  if (auto *memset = dyn_cast<MemSetInst>(&at)) {
    auto *bytes = dyn_cast<ConstantInt>(memset->getLength());
    return !bytes || bytes->getZExtValue() >= minRowBytes;
  }
  Function &function = *const_cast<Function *>(at.getFunction());
  const Loop *loop =
      sampler.analyses.getResult<LoopAnalysis>(function).getLoopFor(
          at.getParent());
  return loop && !loop->isLoopInvariant(&pointer) && !loop->contains(base);
}

/// Whether \p at may precede \p use, with no earlier access of a team to the
/// memory behind the pointers.
bool RowSearch::isFirst(const Instruction &at, const CallFrame *frame,
                        const ParallelUse &use) {
  return findOrder(at, frame, *use.at, use.frame, sampler.analyses) !=
             Order::never &&
         none_of(uses, [&](const ParallelUse *other) {
           return isSameArray(*other->object, *use.object) &&
                  findOrder(*other->at, other->frame, at, frame,
                            sampler.analyses) == Order::always;
         });
}

/// The write to the rows in the code that makes them; null if there is none.
const Instruction *RowSearch::findWriter(const Maker &maker,
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
    Objects bases = getBases(pointer, function);
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
std::optional<int64_t> RowSearch::getBytes(const MemoryObject &object) {
  std::optional<ArraySource> source = findSource(object);
  return source ? knownBytes(*source, sampler) : std::nullopt;
}

/// Whether all rows are known to be too small for a remark.
bool RowSearch::isSmall(const Maker &maker, const MemoryObject &pointers) {
  std::optional<int64_t> bytes = getBytes(*maker.object);
  std::optional<int64_t> ofPointers = getBytes(pointers);
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
        findObject(*maker.store->getPointerOperand(), maker.frame);
    if (isKnown || !pointers || !isSameArray(*pointers, *use.object) ||
        isSmall(maker, *pointers))
      continue;
    if (const Instruction *init = findWriter(maker, use))
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

/// Of calls of one such function: what is beyond is not looked at.
static constexpr size_t maxCalls = 256;

namespace {
class MemberSearch {
public:
  MemberSearch(const ParallelUses &all, Sampler &sampler)
      : all(all), sampler(sampler),
        alone(sampler.module, sampler.analyses, sampler.frames,
              /*followsMemory=*/false) {
    for (const MemberUse &member : all.members)
      members[{member.holder, member.offset}].push_back(&member);
  }
  void find(Function &function);
  std::vector<SerialMember> found;

private:
  /// Where a pointer is kept.
  using Place = std::pair<const MemoryObject *, int64_t>;
  void find(StoreInst &keep, const CallFrame *path);
  bool isFilled(const CallBase &allocation);
  bool isFirst(const Instruction &at, const CallFrame *path,
               ArrayRef<const MemberUse *> uses);
  std::optional<ParallelUse> findBest(ArrayRef<const MemberUse *> uses,
                                      const Instruction &at,
                                      const CallFrame *path);

  const ParallelUses &all;
  Sampler &sampler;
  Sampler alone; ///< for what holds for all callers
  DenseMap<Place, SmallVector<const MemberUse *, 4>> members;
  DenseSet<Place> told;
};
} // namespace

/// Whether \p function calls code that may hand its memory to a team: anything
/// but allocation and what ends the program.
static bool callsOthers(Function &function) {
  return any_of(instructions(function), [](Instruction &at) {
    auto *call = dyn_cast<CallBase>(&at);
    return call && !isa<IntrinsicInst>(call) && !findAllocation(*call) &&
           !freedBy(*call) &&
           !isa<UnreachableInst>(at.getParent()->getTerminator());
  });
}

/// Whether its function writes to all that \p allocation gives, how much that
/// may be, or copies to it what was there before.
bool MemberSearch::isFilled(const CallBase &allocation) {
  Function &function = *const_cast<Function *>(allocation.getFunction());
  DenseSet<const Value *> origins = {&allocation};
  std::vector<SerialWrite> writes =
      findSerialWrites(function, nullptr, origins, alone);
  std::vector<const SerialWrite *> pointers;
  for (const SerialWrite &write : writes)
    pointers.push_back(&write);
  return !writes.empty() && coverAll(pointers, *writes.front().object, alone);
}

/// Whether no team has written what \p uses use before \p at.
bool MemberSearch::isFirst(const Instruction &at, const CallFrame *path,
                           ArrayRef<const MemberUse *> uses) {
  return none_of(uses, [&](const MemberUse *member) {
    const ParallelUse &use = member->use;
    return use.isWrite && findOrder(*use.at, use.frame, at, path,
                                    sampler.analyses) == Order::always;
  });
}

/// A use after \p at that shares all of it out in parts that pages can follow;
/// else one that writes elements which an index in memory chooses.
std::optional<ParallelUse>
MemberSearch::findBest(ArrayRef<const MemberUse *> uses, const Instruction &at,
                       const CallFrame *path) {
  std::optional<ParallelUse> chosen;
  for (const MemberUse *member : uses) {
    ParallelUse use = member->use;
    if (use.sharing->schedule == LoopSchedule::other ||
        findOrder(at, path, *use.at, use.frame, sampler.analyses) ==
            Order::never)
      continue;
    all.findShape(use, member->pointer);
    std::optional<int64_t> bytes = use.constantRow();
    if (use.shape == UseShape::parts && (!bytes || *bytes >= minPlacedBytes))
      return use;
    if (use.isGather && use.isWrite && !chosen)
      chosen = use;
  }
  return chosen;
}

/// Whether all numbers that \p call hands over are constants of the source, and
/// ask for little: a size, or what a size lacks of one.
static bool isSmall(const CallBase &call) {
  constexpr int64_t maxElementBytes = 64;
  int64_t bytes = maxElementBytes;
  bool isKnown = false;
  for (Value *operand : call.args()) {
    if (!operand->getType()->isIntegerTy())
      continue;
    auto *difference = dyn_cast<BinaryOperator>(operand);
    if (difference && difference->getOpcode() == Instruction::Sub)
      operand = difference->getOperand(0);
    auto *number = dyn_cast<ConstantInt>(operand);
    if (!number || number->getBitWidth() > 64)
      return false;
    bytes = times(bytes, number->getSExtValue());
    isKnown = true;
  }
  return isKnown && bytes < minPlacedBytes;
}

/// What \p keep stores for the caller of \p path.
void MemberSearch::find(StoreInst &keep, const CallFrame *path) {
  EvalContext context;
  context.frame = path;
  Sampler::Place at =
      sampler.getPlace(sampler.evaluate(keep.getPointerOperand(), context));
  Place place(at.object, at.offset);
  auto uses = members.find(place);
  if (uses == members.end() || told.count(place) || isSmall(*path->call) ||
      sampler.frames.isInTeam(path) || !isFirst(keep, path, uses->second))
    return;
  std::optional<ParallelUse> use = findBest(uses->second, keep, path);
  if (!use)
    return;
  told.insert(place);
  found.push_back({*use, path->call,
                   uses->second.front()->load->getPointerOperand(),
                   keep.getFunction()});
}

void MemberSearch::find(Function &function) {
  SmallVector<StoreInst *, 4> kept;
  for (Instruction &at : instructions(function)) {
    auto *store = dyn_cast<StoreInst>(&at);
    auto *call = store ? dyn_cast<CallBase>(store->getValueOperand()) : nullptr;
    if (call && findAllocation(*call) &&
        isa<Argument>(getUnderlyingObject(store->getPointerOperand())) &&
        !callsOthers(function) && isFilled(*call))
      kept.push_back(store);
  }
  if (kept.empty())
    return;
  SmallVector<const CallFrame *, 2> paths =
      sampler.frames.callPathsOfCallers(function);
  for (const CallFrame *path : ArrayRef(paths).take_front(maxCalls))
    for (StoreInst *store : kept)
      find(*store, path);
}

std::vector<SerialMember> mpg::findSerialMembers(const ParallelUses &all,
                                                 Sampler &sampler) {
  MemberSearch search(all, sampler);
  if (!all.members.empty())
    for (Function &function : sampler.module)
      if (!function.isDeclaration() && !sampler.frames.isParallel(function))
        search.find(function);
  return search.found;
}
