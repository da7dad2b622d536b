// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what a loop looks up by a list: follows each address back to loads from
// lists, and from rows that these name. The code for it goes to a place where
// all that it needs is loaded, and no memory may have been freed since.

#include "base/Access.h"
#include "prefetch/ListLoop.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include <array>

using namespace llvm;
using namespace mpg;

bool mpg::mayFree(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return call && !call->hasFnAttr(Attribute::NoFree) &&
         call->mayWriteToMemory();
}

ListLookups::ListLookups(Loop &loop, bool anyRow,
                         FunctionAnalysisManager &analyses)
    : loop(loop), function(*loop.getHeader()->getParent()),
      loops(analyses.getResult<LoopAnalysis>(function)),
      scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
      dominators(analyses.getResult<DominatorTreeAnalysis>(function)) {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (isPrefetch(instruction) && loops.getLoopFor(block) == &loop)
        return;
      if (auto *load = dyn_cast<LoadInst>(&instruction);
          load && getListStep(*load))
        lists.insert(scev.getSCEV(load->getPointerOperand()));
    }
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      addAccess(instruction);
  if (anyRow && !row.element)
    findAnyRow();
  for (ListLookup &lookup : all)
    lookup.place = findPlace(lookup.origin);
}

Value *ListLookups::getFirst(PHINode &phi) const {
  Loop *owner = loops.getLoopFor(phi.getParent());
  if (owner->getHeader() != phi.getParent())
    return nullptr;
  if (owner == &loop)
    return &phi;
  BasicBlock *front = owner->getLoopPredecessor();
  return front ? phi.getIncomingValueForBlock(front) : nullptr;
}

/// Of \p place in inner loops of \p loop the first one.
static const SCEV *getFirstPlace(const SCEV *place, const Loop &loop) {
  auto *line = dyn_cast<SCEVAddRecExpr>(place);
  while (line && line->getLoop() != &loop && loop.contains(line->getLoop())) {
    place = line->getStart();
    line = dyn_cast<SCEVAddRecExpr>(place);
  }
  return place;
}

const SCEVConstant *ListLookups::getStep(Value &value, const Loop &of) const {
  auto *line = scev.isSCEVable(value.getType())
                   ? dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&value))
                   : nullptr;
  return line && line->getLoop() == &of && line->isAffine()
             ? dyn_cast<SCEVConstant>(line->getStepRecurrence(scev))
             : nullptr;
}

int64_t ListLookups::getListStep(LoadInst &load) const {
  const SCEVConstant *step = getStep(*load.getPointerOperand(), loop);
  constexpr int64_t maxBytes = minPageBytes / 16;
  return step && step->getAPInt().abs().ule(maxBytes)
             ? step->getAPInt().getSExtValue()
             : 0;
}

/// Whether \p load reads the bounds of rows in the order in which the hardware
/// follows them: the loop reads the next bound, too.
bool ListLookups::isBound(LoadInst &load) const {
  const SCEV *place = scev.getSCEV(load.getPointerOperand());
  int64_t step = getListStep(load);
  Type *number = Type::getInt64Ty(load.getContext());
  return llvm::any_of(std::array{step, -step}, [&](int64_t bytes) {
    return lists.contains(scev.getAddExpr(
        place, scev.getConstant(number, uint64_t(bytes), /*isSigned=*/true)));
  });
}

/// Whether equal bases of \p row's address mean the same array.
static bool isOneArray(const LoadInst &row, const Loop &loop) {
  const Value *base = getUnderlyingObject(row.getPointerOperand(), 0);
  if (loop.isLoopInvariant(base))
    return !isa<IntToPtrInst>(base) &&
           (!isa<Constant>(base) || isa<GlobalVariable>(base));
  auto *load = dyn_cast<LoadInst>(base);
  return load ? loop.isLoopInvariant(load->getPointerOperand())
              : isa<PHINode>(base);
}

bool ListLookups::traceLoad(LoadInst &load, Origin &origin) const {
  if (!load.isSimple() || load.getPointerAddressSpace() ||
      loops.getLoopFor(load.getParent()) != &loop ||
      !scev.isSCEVable(load.getType()) ||
      load.getType()->getPrimitiveSizeInBits() > 64)
    return false;
  unsigned loads = 1;
  LoadInst *first = &load;
  if (getListStep(load)) {
    if (isBound(load))
      return false;
    origin.list = getUnderlyingObject(load.getPointerOperand(), 0);
  } else {
    Origin own = {origin.steps};
    if (!trace(load.getPointerOperand(), own) || own.loads > 1 ||
        (own.loads && !isOneArray(load, loop)))
      return false;
    origin.steps = own.steps;
    origin.list = own.list ? own.list : origin.list;
    loads = own.loads ? own.loads + 1 : 0;
    first = own.first ? own.first : first;
  }
  origin.loads = std::max(origin.loads, loads);
  if (!origin.last || dominators.dominates(origin.last, &load))
    origin.last = &load;
  if (!origin.first || dominators.dominates(first, origin.first))
    origin.first = first;
  return true;
}

bool ListLookups::trace(Value *value, Origin &origin) const {
  auto *step = dyn_cast<Instruction>(value);
  if (!step || !loop.contains(step))
    return true;
  if (++origin.steps > maxSteps)
    return false;
  if (auto *load = dyn_cast<LoadInst>(step))
    return traceLoad(*load, origin);
  if (auto *phi = dyn_cast<PHINode>(step)) {
    Value *first = getFirst(*phi);
    // One of this loop is taken as it is now.
    if (first == phi)
      return true;
    const Loop *inner = loops.getLoopFor(phi->getParent());
    return first && (!origin.user || inner->contains(origin.user)) &&
           trace(first, origin);
  }
  return !isFloating(*step) && !step->mayReadOrWriteMemory() &&
         isSafeToSpeculativelyExecute(step) &&
         llvm::all_of(step->operands(),
                      [&](Value *operand) { return trace(operand, origin); });
}

/// Whether no way from \p first to \p end in an iteration may free memory.
bool ListLookups::keepsMemory(const Instruction &first,
                              const Instruction &end) const {
  if (&first != &end && !dominators.dominates(&first, &end))
    return false;
  const BasicBlock *begin = first.getParent();
  if (begin == end.getParent())
    return llvm::none_of(make_range(first.getIterator(), end.getIterator()),
                         mayFree);
  SmallSetVector<const BasicBlock *, 8> between;
  between.insert(end.getParent());
  for (unsigned at = 0; at < between.size(); ++at)
    if (between[at] != begin)
      between.insert(pred_begin(between[at]), pred_end(between[at]));
  between.remove(begin);
  return llvm::none_of(make_range(first.getIterator(), begin->end()),
                       mayFree) &&
         llvm::none_of(between, [](const BasicBlock *block) {
           return llvm::any_of(*block, mayFree);
         });
}

/// The bounds of a row, in any order, that \p block compares at its end.
ListRow ListLookups::getBounds(BasicBlock &block) const {
  ListRow found;
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  auto *compare = branch && branch->isConditional()
                      ? dyn_cast<ICmpInst>(branch->getCondition())
                      : nullptr;
  if (!compare || loops.getLoopFor(&block) != &loop)
    return found;
  found.place = branch;
  found.first = compare->getOperand(0);
  found.end = compare->getOperand(1);
  return found;
}

/// Finds how many elements \p inner reads from \p address on, by the comparison
/// in front of it.
bool ListLookups::findBounds(Loop &inner, Value &address,
                             ListRow &found) const {
  BasicBlock *front = inner.getLoopPredecessor();
  if (front && front->getUniqueSuccessor())
    front = front->getUniquePredecessor();
  if (front)
    found = getBounds(*front);
  if (!found.place)
    return false;
  const SCEV *begin = cast<SCEVAddRecExpr>(scev.getSCEV(&address))->getStart();
  BasicBlock *then = found.place->getSuccessor(0);
  found.isReadIfTrue =
      inner.contains(then) || then == inner.getLoopPredecessor();
  for ([[maybe_unused]] unsigned side : {0, 1}) {
    if (isa<Instruction>(found.first) &&
        scev.isSCEVable(found.first->getType()) &&
        SCEVExprContains(begin, [&](const SCEV *part) {
          return part == scev.getSCEV(found.first);
        }))
      return true;
    std::swap(found.first, found.end);
  }
  return false;
}

/// Whether each run of \p element's loop reads it, before memory may be freed.
static bool isReadFirst(const LoadInst &element, const Loop &inner) {
  const BasicBlock *front = inner.getLoopPredecessor();
  const BasicBlock *header = inner.getHeader();
  auto isHarmless = [](const Instruction &step) {
    return isGuaranteedToTransferExecutionToSuccessor(&step) && !mayFree(step);
  };
  return element.getParent() == header &&
         (!front->getUniqueSuccessor() || llvm::all_of(*front, isHarmless)) &&
         llvm::all_of(make_range(header->begin(), element.getIterator()),
                      isHarmless);
}

/// The row that \p element of an inner loop walks along. Without an element: it
/// is not named by a list, or not known.
ListRow ListLookups::getRow(LoadInst &element) const {
  Loop *inner = loops.getLoopFor(element.getParent());
  Value *address = element.getPointerOperand();
  if (!element.isSimple() || element.getPointerAddressSpace() ||
      !scev.isSCEVable(element.getType()) || inner->getParentLoop() != &loop ||
      !loop.isLoopInvariant(getUnderlyingObject(address, 0)) ||
      !isOneArray(element, loop))
    return {};
  const SCEVConstant *step = getStep(*address, *inner);
  ListRow found;
  Origin origin;
  origin.user = inner;
  if (!step || !step->getAPInt().isPowerOf2() ||
      step->getAPInt().ugt(minPageBytes / maxElements) ||
      !findBounds(*inner, *address, found) || !isReadFirst(element, *inner) ||
      !trace(address, origin) || !trace(found.first, origin) ||
      !trace(found.end, origin) || origin.loads < 2 ||
      !dominators.dominates(origin.last, found.place) ||
      !keepsMemory(*origin.first, *found.place))
    return {};
  found.element = &element;
  found.bytes = step->getAPInt().getZExtValue();
  return found;
}

/// Whether \p value is computed from one \p element of a row, and can be
/// computed earlier.
static bool findElement(Value *value, const Loop &loop, LoadInst *&element,
                        unsigned &steps) {
  auto *step = dyn_cast<Instruction>(value);
  if (!step || !loop.contains(step))
    return true;
  if (auto *load = dyn_cast<LoadInst>(step)) {
    std::swap(element, load);
    return !load || load == element;
  }
  return ++steps <= maxSteps && !isa<PHINode>(step) && !isFloating(*step) &&
         !step->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(step) &&
         llvm::all_of(step->operands(), [&](Value *operand) {
           return findElement(operand, loop, element, steps);
         });
}

void ListLookups::addElementAccess(Instruction &access, Value *address) {
  LoadInst *element = nullptr;
  unsigned steps = 0;
  if (!findElement(address, loop, element, steps) || !element)
    return;
  if (!row.element)
    row = getRow(*element);
  const SCEV *place = scev.getSCEV(address);
  if (row.element == element && row.lookups.size() < maxLookups &&
      !joinNear(row.lookups, place, access, scev))
    row.lookups.push_back({&access, address, place, access.mayWriteToMemory()});
}

void ListLookups::addAccess(Instruction &access) {
  Value *address = getPrefetchable(access);
  Origin origin;
  if (!address || all.size() > maxLookups)
    return;
  if (!trace(address, origin))
    return addElementAccess(access, address);
  if (!origin.loads || getUnderlyingObject(address, 0) == origin.list ||
      !keepsMemory(*origin.first, *origin.last->getNextNode()))
    return;
  const SCEV *place = getFirstPlace(scev.getSCEV(address), loop);
  for (ListLookup &known : all)
    if (joinNear(known, place, access, scev))
      return;
  all.push_back({{&access, address, place, access.mayWriteToMemory()}, origin});
}

/// Finds a row whose length is known, without lookups by its elements.
void ListLookups::findAnyRow() {
  for (BasicBlock *block : loop.blocks()) {
    Origin first, end;
    ListRow found = getBounds(*block);
    if (!row.place && found.place && trace(found.first, first) &&
        trace(found.end, end) && first.loads > 1 && end.loads > 1)
      row = found;
  }
}

/// Where the code for a lookup goes. All code of a block has one place, if no
/// memory that it reads may have been freed there.
Instruction *ListLookups::findPlace(const Origin &origin) const {
  Instruction *found = origin.last->getNextNode();
  auto join = [&](Instruction *other) {
    if (other && other->getParent() == found->getParent() &&
        found->comesBefore(other) && keepsMemory(*origin.first, *other))
      found = other;
  };
  for (const ListLookup &other : all)
    join(other.origin.last->getNextNode());
  join(row.place);
  return found;
}
