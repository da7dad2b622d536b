// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AddressTagger.h.

#include "tags/AddressTagger.h"
#include "mpg/hints.h"
#include "tags/TagForm.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/User.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace mpg;

// --- Planning

/// Maximum of pointers between an access and its base. In a loop that
/// interprets a program each of thousands of accesses can come from all the
/// others, and scanning all for each took more time than the rest of the
/// compiler.
static constexpr size_t maxSteps = 256;

/// Whether \p value is computed again in each iteration of \p loop.
static bool isInside(const Value *value, const Loop *loop) {
  auto *instruction = dyn_cast<Instruction>(value);
  return instruction && loop && loop->contains(instruction);
}

/// Adds what \p pointer is computed from, by GEPs, and inside of \p loop by
/// phis and selects, to \p bases.
const char *AddressTagger::findBases(Value *pointer, const Loop *loop,
                                     SmallSetVector<Value *, 4> &path,
                                     SmallVectorImpl<Value *> &bases) {
  if (!path.insert(pointer))
    return nullptr;
  if (path.size() > maxSteps)
    return "it is computed from too many pointers";
  if (auto *instruction = dyn_cast<Instruction>(pointer))
    if (!dominators.isReachableFromEntry(instruction->getParent()))
      return "its base comes from unreachable code";
  if (auto *gep = dyn_cast<GEPOperator>(pointer))
    return findBases(gep->getPointerOperand(), loop, path, bases);
  if (pointer->getType()->isVectorTy())
    return "its addresses are a vector of unrelated pointers";
  if (isInside(pointer, loop)) {
    if (auto *phi = dyn_cast<PHINode>(pointer)) {
      for (Value *incoming : phi->incoming_values())
        if (const char *reason = findBases(incoming, loop, path, bases))
          return reason;
      return nullptr;
    }
    if (auto *select = dyn_cast<SelectInst>(pointer)) {
      const char *reason = findBases(select->getTrueValue(), loop, path, bases);
      return reason ? reason
                    : findBases(select->getFalseValue(), loop, path, bases);
    }
    return "its base is loaded or computed in the innermost loop, where a tag "
           "would cost an instruction";
  }
  if (!is_contained(bases, pointer))
    bases.push_back(pointer);
  return nullptr;
}

const char *AddressTagger::checkBase(Value *base, const Instruction &access) {
  if (isa<Constant>(base) && !isa<GlobalValue>(base))
    return "its base is a constant address";
  if (auto *global = dyn_cast<GlobalValue>(base))
    if (!isa_and_nonnull<GlobalVariable>(global->getAliaseeObject()))
      return "its base is not a variable";
  if (base->isSwiftError())
    return "it is a Swift error, which is in a register";
  if (auto *argument = dyn_cast<Argument>(base))
    if (argument->hasPassPointeeByValueCopyAttr())
      return "it is on the stack";
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(base, objects, &loops, 0);
  for (const Value *object : objects)
    if (isa<AllocaInst>(object))
      return "it is on the stack";
  if (!anchor(base, const_cast<Instruction *>(&access)))
    return "there is no place in front of the loop";
  return nullptr;
}

/// In front of the outermost loop around \p access that does not change \p
/// base: the last place for the tag. nullptr if there is none.
Instruction *AddressTagger::anchor(Value *base, Instruction *access) {
  const Loop *outermost = nullptr;
  for (const Loop *loop = loops.getLoopFor(access->getParent());
       loop && !isInside(base, loop); loop = loop->getParentLoop())
    outermost = loop;
  if (!outermost)
    return access;
  // Not the preheader: code after the loop passes has none.
  DomTreeNode *header = dominators.getNode(outermost->getHeader());
  DomTreeNode *before = header ? header->getIDom() : nullptr;
  if (!before)
    return nullptr;
  Instruction *place = before->getBlock()->getTerminator();
  if (auto *definition = dyn_cast<Instruction>(base))
    if (!dominators.dominates(definition, place))
      return nullptr; // the result of an invoke
  return place;
}

const char *AddressTagger::plan(Use &address, uint8_t tag) {
  auto *access = cast<Instruction>(address.getUser());
  if (!dominators.isReachableFromEntry(access->getParent()))
    return "it is never reached";
  SmallSetVector<Value *, 4> path;
  Planned one{&address, tag, {}};
  const Loop *loop = loops.getLoopFor(access->getParent());
  if (const char *reason = findBases(address.get(), loop, path, one.bases))
    return reason;
  for (Value *base : one.bases)
    if (const char *reason = checkBase(base, *access))
      return reason;
  if (one.bases.empty())
    return "its base is unknown";
  planned.push_back(std::move(one));
  return nullptr;
}

// --- Writing

/// One place for the tag of \p base that is in front of all \p accesses, and in
/// no loop that does not change \p base.
Instruction *AddressTagger::findPlace(Value *base,
                                      ArrayRef<Instruction *> accesses) {
  BasicBlock *block = nullptr;
  SmallVector<Instruction *, 8> anchors;
  for (Instruction *access : accesses) {
    anchors.push_back(anchor(base, access));
    BasicBlock *own = anchors.back()->getParent();
    block = block ? dominators.findNearestCommonDominator(block, own) : own;
  }
  // The first of them in that block, or its end.
  Instruction *place = block->getTerminator();
  for (Instruction *one : anchors)
    if (one->getParent() == block && one->comesBefore(place))
      place = one;
  // In front of a loop may be the end of another one.
  for (Instruction *outside = anchor(base, place); outside && outside != place;
       outside = anchor(base, place))
    place = outside;
  return place;
}

Instruction *AddressTagger::writeTag(Value *base, uint8_t tag,
                                     Instruction *place) {
  IRBuilder<> builder(place);
  builder.SetCurrentDebugLocation(DebugLoc());
  if (!formGep)
    return writeTagged(builder, base, tag);
  Constant *bits = builder.getInt64(uint64_t(tag) << MPG_TAG_SHIFT);
  auto *gep = GetElementPtrInst::Create(builder.getInt8Ty(), base, bits);
  return builder.Insert(gep, "tagged");
}

void AddressTagger::numberInstructions() {
  Function &function =
      *cast<Instruction>(planned.front().address->getUser())->getFunction();
  unsigned number = 0;
  for (Instruction &instruction : instructions(function))
    positions[&instruction] = number += 2; // a tag fits in front of each
}

bool AddressTagger::isBefore(const Instruction *first,
                             const Instruction *second) const {
  if (first->getParent() != second->getParent())
    return dominators.dominates(first->getParent(), second->getParent());
  return positions.lookup(first) < positions.lookup(second);
}

/// The place between \p instruction and the debug records of the next one (the
/// head bit): a phi must not have any, and those about \p instruction must
/// follow its copy.
static BasicBlock::iterator rightAfter(Instruction &instruction) {
  BasicBlock::iterator place = std::next(instruction.getIterator());
  place.setHeadBit(true);
  return place;
}

/// The step \p old from \p base on, the tagged twin of the pointer that it
/// starts from: after \p old or \p base, whichever comes later.
Instruction *AddressTagger::repeatStep(GEPOperator &old, Instruction *base) {
  auto *after = dyn_cast<Instruction>(&old);
  order.keep(old);
  // A part of a global variable is not an instruction.
  Instruction *copy =
      after ? after->clone() : cast<ConstantExpr>(old).getAsInstruction();
  if (!after || !isBefore(base, after))
    after = base;
  copy->insertBefore(*after->getParent(),
                     isa<PHINode>(after)
                         ? after->getParent()->getFirstInsertionPt()
                         : rightAfter(*after));
  positions[copy] = positions.lookup(after);
  order.addTwin(old, *copy);
  copy->setOperand(GetElementPtrInst::getPointerOperandIndex(), base);
  // With a tag the address is outside of the object from the start. The no-wrap
  // flag remains as true as before, and loop strength reduction needs it.
  cast<GetElementPtrInst>(copy)->setNoWrapFlags(
      old.getNoWrapFlags().withoutInBounds());
  return copy;
}

/// The tagged twin of \p pointer for accesses in \p loop, computed by the same
/// steps.
Value *AddressTagger::retag(Value *pointer, uint8_t tag, const Loop *loop) {
  auto *gep = dyn_cast<GEPOperator>(pointer);
  bool isLoops = isInside(pointer, loop);
  if (!gep && !isLoops)
    return baseTags.lookup({pointer, tag});
  // A phi is a step for accesses in its loop, and a base for those in a loop
  // inside of that: they have different twins.
  auto key = std::make_pair(Base(pointer, tag), isLoops ? loop : nullptr);
  if (Value *known = twins.lookup(key))
    return known;
  if (gep) {
    Value *base = retag(gep->getPointerOperand(), tag, loop);
    return twins[key] = repeatStep(*gep, cast<Instruction>(base));
  }
  auto *old = cast<Instruction>(pointer);
  order.keep(*old);
  Instruction *copy = old->clone();
  copy->insertBefore(*old->getParent(), rightAfter(*old));
  positions[copy] = positions.lookup(old);
  order.addTwin(*old, *copy);
  twins[key] = copy; // before the operands, which may lead back here
  if (auto *phi = dyn_cast<PHINode>(copy)) {
    for (Use &incoming : phi->incoming_values())
      incoming.set(retag(incoming.get(), tag, loop));
  } else {
    auto *select = cast<SelectInst>(copy);
    select->setTrueValue(retag(select->getTrueValue(), tag, loop));
    select->setFalseValue(retag(select->getFalseValue(), tag, loop));
  }
  return copy;
}

/// Leftovers of the old computation would keep a loop variable alive.
static void deleteDead(MutableArrayRef<WeakTrackingVH> values) {
  for (WeakTrackingVH &value : values)
    if (auto *phi = dyn_cast_or_null<PHINode>(value))
      RecursivelyDeleteDeadPHINode(phi);
    else if (auto *instruction = dyn_cast_or_null<Instruction>(value))
      RecursivelyDeleteTriviallyDeadInstructions(instruction);
}

/// Deletes \p values and the phis with a twin, unless something else uses them,
/// and moves debug information to the twins.
void AddressTagger::deleteOld(SmallVectorImpl<WeakTrackingVH> &values) {
  DebugRecords records;
  SmallVector<std::pair<WeakVH, Instruction *>, 16> copies;
  for (auto &[key, twin] : twins) {
    Value *original = key.first.first;
    auto *copy = cast<Instruction>(twin);
    copies.push_back({original, copy});
    if (isa<PHINode>(original))
      values.push_back(original);
    if (auto *instruction = dyn_cast<Instruction>(original))
      records.add(*instruction, *copy);
    else
      records.addBase(*original, *copy); // a part of a global variable
  }
  for (auto &[base, tagged] : baseTags)
    records.addBase(*base.first, *cast<Instruction>(tagged));
  deleteDead(values);
  records.follow(dominators);
  // Remove the line from duplicates: otherwise an inlined function that had
  // vanished reappears, with variables without values.
  for (auto &[original, copy] : copies)
    if (original)
      copy->setDebugLoc(DebugLoc());
}

SmallVector<Instruction *, 8> AddressTagger::write() {
  if (planned.empty())
    return {};
  MapVector<Base, SmallVector<Instruction *, 4>> getAccessCount;
  for (const Planned &one : planned)
    for (Value *base : one.bases)
      getAccessCount[{base, one.tag}].push_back(
          cast<Instruction>(one.address->getUser()));
  // All places first: they are found in code without changes.
  SmallVector<Instruction *, 8> places, written;
  for (auto &[base, accesses] : getAccessCount)
    places.push_back(findPlace(base.first, accesses));
  numberInstructions();
  unsigned next = 0;
  for (auto &[base, accesses] : getAccessCount) {
    Instruction *place = places[next++];
    order.keep(*base.first);
    written.push_back(writeTag(base.first, base.second, place));
    positions[written.back()] = positions.lookup(place) - 1;
    baseTags[base] = written.back();
    order.addTwin(*base.first, *written.back());
  }
  SmallVector<WeakTrackingVH, 16> old;
  for (const Planned &one : planned) {
    old.push_back(one.address->get());
    auto *access = cast<Instruction>(one.address->getUser());
    one.address->set(retag(one.address->get(), one.tag,
                           loops.getLoopFor(access->getParent())));
  }
  deleteOld(old);
  order.restore();
  return written;
}

void UseOrder::keepList(Value &value) {
  if (isa<Constant>(value)) // it has users in other functions
    return;
  auto [place, isNew] = lists.try_emplace(&value);
  if (!isNew)
    return;
  place->second.value = &value;
  Places &places = place->second.places;
  for (const User *user : value.users())
    places.try_emplace(user, places.size());
}

void UseOrder::keep(Value &old) {
  keepList(old);
  if (auto *instruction = dyn_cast<Instruction>(&old))
    for (Value *operand : instruction->operands())
      keepList(*operand);
}

void UseOrder::addTwin(Value &old, Value &twin) {
  originals[&twin] = &old;
  twins.push_back({&old, &twin});
}

void UseOrder::restoreList(Value &value, const Places &places) const {
  auto rank = [&](const Use &use) {
    const Value *user = use.getUser();
    bool isTwin = originals.contains(user);
    auto place = places.find(isTwin ? originals.lookup(user) : user);
    return std::make_tuple(place == places.end() ? ~0U : place->second, isTwin,
                           use.getOperandNo());
  };
  value.sortUseList([&](const Use &one, const Use &other) {
    return rank(one) < rank(other);
  });
}

void UseOrder::restore() {
  for (auto &[old, list] : lists)
    if (Value *value = list.value)
      restoreList(*value, list.places);
  for (auto &[old, twin] : twins)
    if (auto list = lists.find(old); list != lists.end())
      restoreList(*twin, list->second.places);
}
