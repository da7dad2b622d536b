// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/SerialMembers.h"
#include "openmp/ArrayVerdict.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

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
  void find(StoreInst &keep, const CallFrame *way);
  bool isFilled(const CallBase &allocation);
  bool isInTeam(const CallFrame *way);
  bool isFirst(const Instruction &at, const CallFrame *way,
               ArrayRef<const MemberUse *> uses);
  std::optional<ParallelUse> bestOf(ArrayRef<const MemberUse *> uses,
                                    const Instruction &at,
                                    const CallFrame *way);

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
    return call && !isa<IntrinsicInst>(call) && !allocationOf(*call) &&
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

bool MemberSearch::isInTeam(const CallFrame *way) {
  for (; way; way = way->outer)
    if (way->firstOperand || sampler.frames.isParallel(*way->callee))
      return true;
  return false;
}

/// Whether no team has written what \p uses use before \p at.
bool MemberSearch::isFirst(const Instruction &at, const CallFrame *way,
                           ArrayRef<const MemberUse *> uses) {
  return none_of(uses, [&](const MemberUse *member) {
    const ParallelUse &use = member->use;
    return use.isWrite && orderOf(*use.at, use.frame, at, way,
                                  sampler.analyses) == Order::always;
  });
}

/// A use after \p at that shares all of it out in parts that pages can follow;
/// else one that writes elements which an index in memory chooses.
std::optional<ParallelUse>
MemberSearch::bestOf(ArrayRef<const MemberUse *> uses, const Instruction &at,
                     const CallFrame *way) {
  std::optional<ParallelUse> chosen;
  for (const MemberUse *member : uses) {
    ParallelUse use = member->use;
    if (use.sharing->schedule == LoopSchedule::other ||
        orderOf(at, way, *use.at, use.frame, sampler.analyses) == Order::never)
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
  constexpr int64_t mostElementBytes = 64;
  int64_t bytes = mostElementBytes;
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

/// What \p keep stores for the caller of \p way.
void MemberSearch::find(StoreInst &keep, const CallFrame *way) {
  Situation situation;
  situation.frame = way;
  Sampler::Place at =
      sampler.placeOf(sampler.valueOf(keep.getPointerOperand(), situation));
  Place place(at.object, at.offset);
  auto uses = members.find(place);
  if (uses == members.end() || told.count(place) || isSmall(*way->call) ||
      isInTeam(way) || !isFirst(keep, way, uses->second))
    return;
  std::optional<ParallelUse> use = bestOf(uses->second, keep, way);
  if (!use)
    return;
  told.insert(place);
  found.push_back({*use, way->call,
                   uses->second.front()->load->getPointerOperand(),
                   keep.getFunction()});
}

void MemberSearch::find(Function &function) {
  SmallVector<StoreInst *, 4> kept;
  for (Instruction &at : instructions(function)) {
    auto *store = dyn_cast<StoreInst>(&at);
    auto *call = store ? dyn_cast<CallBase>(store->getValueOperand()) : nullptr;
    if (call && allocationOf(*call) &&
        isa<Argument>(getUnderlyingObject(store->getPointerOperand())) &&
        !callsOthers(function) && isFilled(*call))
      kept.push_back(store);
  }
  if (kept.empty())
    return;
  SmallVector<const CallFrame *, 2> ways =
      sampler.frames.waysOfCallers(function);
  for (const CallFrame *way : ArrayRef(ways).take_front(maxCalls))
    for (StoreInst *store : kept)
      find(*store, way);
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
