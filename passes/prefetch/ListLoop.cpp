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
// that a core has the next ones on its way by itself. An iteration that finds
// no use doubles how many skip it, one that finds a use sets it to none; a
// variable keeps it for the next run of the loop. The first iterations of each
// run skip all. Skipping costs a comparison with a number that the loop counts
// anyway.
//
// An array is taken for one as long as its address is the same. So neither may
// pages in the middle of it be protected, nor may another thread shrink it in
// place.

#include "base/Access.h"
#include "base/Hint.h"
#include "prefetch/Lookup.h"
#include "prefetch/Prefetch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include <array>

using namespace llvm;
using namespace mpg;

/// Of all machines the smallest.
static constexpr int64_t minPageBytes = 4096;
/// Of a row. The next ones come too early, and a core waits for no more lines.
static constexpr uint64_t maxElements = 16;
/// Elements, in halves. Of shorter rows on average a core has enough misses on
/// the way by itself.
static constexpr int64_t minHalves = 7;
/// Iterations to skip, in parts of one: the first useless ones skip none.
static constexpr uint64_t skipParts = 8, maxSkipped = 2048;
/// Other runs of the loop begin with a part of what the last one skipped, if it
/// is not too few: threads must not write the state often.
static constexpr uint64_t entryParts = 4 * skipParts, minState = 8 * skipParts;
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

/// A call may free an array, or a part of it.
static bool mayFree(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return call && !call->hasFnAttr(Attribute::NoFree) &&
         call->mayWriteToMemory();
}

namespace {
/// The loads and steps behind an address.
struct Origin {
  unsigned steps = 0;
  unsigned loads = 0; ///< one after another: 1 from a list, 2 from a row
  LoadInst *first = nullptr;
  LoadInst *last = nullptr;    ///< after it all that is loaded is known
  const Value *list = nullptr; ///< the array; of several, the last
  /// It is exact when this inner loop begins. Null: it is a guess where another
  /// inner loop has changed it.
  const Loop *user = nullptr;
};

class ListWriter {
public:
  ListWriter(Loop &loop, unsigned distance, IndirectUse use,
             FunctionAnalysisManager &analyses)
      : loop(loop), function(*loop.getHeader()->getParent()),
        distance(distance), use(use),
        loops(analyses.getResult<LoopAnalysis>(function)),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        number(function.getDataLayout().getIntPtrType(function.getContext())) {}
  PrefetchVerdict run();

private:
  struct ListLookup : Lookup {
    Origin origin;
    Instruction *place = nullptr; ///< of its code
  };
  /// A row that an inner loop reads, and the lookups by its elements.
  struct Row {
    LoadInst *element = nullptr; ///< null: there are no such lookups
    uint64_t bytes = 8;          ///< from an element to the next one
    Value *first = nullptr;      ///< number or address of the first element
    Value *end = nullptr;        ///< that of the element after the last one
    BranchInst *place = nullptr; ///< to the loop that reads the elements
    bool isReadIfTrue = false;   ///< or else if its condition is false
    SmallVector<Lookup, 4> lookups;
  };
  struct Range {
    Value *low = nullptr, *high;
  };
  Value *getFirst(PHINode &phi) const;
  const SCEV *getFirstPlace(Value *address) const;
  bool isBound(LoadInst &load) const;
  int64_t getListStep(LoadInst &load) const;
  bool isOneArray(const LoadInst &row) const;
  bool findLoad(LoadInst &load, Origin &origin) const;
  bool find(Value *value, Origin &origin) const;
  bool keepsMemory(const Instruction &first, const Instruction &end) const;
  Row getBounds(BasicBlock &block) const;
  bool findBounds(Loop &inner, const SCEV *begin, Row &found) const;
  Row getRow(LoadInst &element) const;
  bool findElement(Value *value, LoadInst *&element, unsigned &steps) const;
  void addElementAccess(Instruction &access, Value *address);
  void addAccess(Instruction &access);
  void findAnyRow();
  Instruction *findPlace(const Origin &origin) const;
  void openPlace(Instruction &from);
  bool findCounter();
  Value *isActive();
  void keepState();
  Value *getCount(Value *value, IRBuilder<> &builder) const;
  Value *getCountAfter(Value *now, Value *iterations,
                       IRBuilder<> &builder) const;
  void skipUseless(Value *isUseful, IRBuilder<> &builder);
  Value *writeLookups(Instruction &from, const PrefetchVerdict &ahead);
  Value *getListAddress(LoadInst &list, int ahead, IRBuilder<> &builder);
  AllocaInst *addVariable(Value *begin, bool isKept = false);
  Value *isSameArray(Value *base, IRBuilder<> &builder);
  void forgetAtCalls();
  Range widenRange(Value *at, Value *isKept, Value *isRead,
                   IRBuilder<> &builder);
  Range getRange(LoadInst &row, IRBuilder<> &builder);
  Value *getRowAddress(LoadInst &row, int ahead, IRBuilder<> &builder);
  Value *getLater(LoadInst &load, int ahead);
  Value *copy(Value *value, int ahead, IRBuilder<> &builder);
  Value *getNumber(Value *value, IRBuilder<> &builder) const;
  Value *countElements(Value *first, Value *end, IRBuilder<> &builder) const;
  Value *areRowsLong(IRBuilder<> &builder);
  void writeElements(unsigned ahead);
  void writePlace(Instruction &from, const PrefetchVerdict &ahead);

  Loop &loop;
  Function &function;
  unsigned distance;
  IndirectUse use;
  LoopInfo &loops;
  ScalarEvolution &scev;
  DominatorTree &dominators;
  IntegerType *number;                ///< an address
  SmallPtrSet<const SCEV *, 8> lists; ///< their addresses, in inner loops, too
  SmallVector<ListLookup, 8> lookups;
  Row row;                    ///< the first one that has lookups, or else any
  PHINode *counter = nullptr; ///< of iterations; null: none is skipped
  int64_t step = 0;           ///< of the counter
  SmallVector<BasicBlock *, 4> begins; ///< of the code of all places
  Instruction *place = nullptr;        ///< where code goes now
  Value *count = nullptr;              ///< the counter as a number
  GlobalVariable *state = nullptr;     ///< of skipped, when the loop begins
  AllocaInst *skipped = nullptr;       ///< iterations, by the last decision
  AllocaInst *resume = nullptr; ///< the counter when this code runs again
  // What is known at this place.
  DenseMap<std::pair<LoadInst *, int>, Value *> later; ///< by distance
  /// By array and element: a longer one may end behind a range.
  DenseMap<std::pair<const Value *, Type *>, Range> ranges;
  /// With what they are after a call that may free memory; null: as before it.
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
  LoadInst *first = &load;
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
    first = own.first ? own.first : first;
  }
  origin.loads = std::max(origin.loads, loads);
  if (!origin.last || dominators.dominates(origin.last, &load))
    origin.last = &load;
  if (!origin.first || dominators.dominates(first, origin.first))
    origin.first = first;
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
    if (first == phi)
      return true;
    const Loop *inner = loops.getLoopFor(phi->getParent());
    return first && (!origin.user || inner->contains(origin.user)) &&
           find(first, origin);
  }
  return !isFloating(*step) && !step->mayReadOrWriteMemory() &&
         isSafeToSpeculativelyExecute(step) &&
         llvm::all_of(step->operands(),
                      [&](Value *operand) { return find(operand, origin); });
}

/// Whether no way from \p first to \p end in an iteration may free memory.
bool ListWriter::keepsMemory(const Instruction &first,
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
ListWriter::Row ListWriter::getBounds(BasicBlock &block) const {
  Row found;
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

/// Finds how many elements \p inner reads from \p begin on, by the comparison
/// in front of it.
bool ListWriter::findBounds(Loop &inner, const SCEV *begin, Row &found) const {
  BasicBlock *front = inner.getLoopPredecessor();
  if (front && front->getUniqueSuccessor())
    front = front->getUniquePredecessor();
  if (front)
    found = getBounds(*front);
  if (!found.place)
    return false;
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
ListWriter::Row ListWriter::getRow(LoadInst &element) const {
  Loop *inner = loops.getLoopFor(element.getParent());
  Value *address = element.getPointerOperand();
  if (!element.isSimple() || element.getPointerAddressSpace() ||
      !scev.isSCEVable(element.getType()) || inner->getParentLoop() != &loop ||
      !loop.isLoopInvariant(getUnderlyingObject(address, 0)) ||
      !isOneArray(element))
    return {};
  auto *line = dyn_cast<SCEVAddRecExpr>(scev.getSCEV(address));
  auto *step = line && line->getLoop() == inner && line->isAffine()
                   ? dyn_cast<SCEVConstant>(line->getStepRecurrence(scev))
                   : nullptr;
  Row found;
  Origin origin;
  origin.user = inner;
  if (!step || !step->getAPInt().isPowerOf2() ||
      step->getAPInt().ugt(minPageBytes / maxElements) ||
      !findBounds(*inner, line->getStart(), found) ||
      !isReadFirst(element, *inner) || !find(address, origin) ||
      !find(found.first, origin) || !find(found.end, origin) ||
      origin.loads < 2 || !dominators.dominates(origin.last, found.place) ||
      !keepsMemory(*origin.first, *found.place))
    return {};
  found.element = &element;
  found.bytes = step->getAPInt().getZExtValue();
  return found;
}

/// Whether \p value is computed from one \p element of a row, and can be
/// computed earlier.
bool ListWriter::findElement(Value *value, LoadInst *&element,
                             unsigned &steps) const {
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
           return findElement(operand, element, steps);
         });
}

void ListWriter::addElementAccess(Instruction &access, Value *address) {
  LoadInst *element = nullptr;
  unsigned steps = 0;
  if (!findElement(address, element, steps) || !element)
    return;
  if (!row.element)
    row = getRow(*element);
  const SCEV *place = scev.getSCEV(address);
  if (row.element == element && row.lookups.size() < maxLookups &&
      !joinNear(row.lookups, place, access, scev))
    row.lookups.push_back({&access, address, place, access.mayWriteToMemory()});
}

void ListWriter::addAccess(Instruction &access) {
  Value *address = getPrefetchable(access);
  Origin origin;
  if (!address || lookups.size() > maxLookups)
    return;
  if (!find(address, origin))
    return addElementAccess(access, address);
  if (!origin.loads || getUnderlyingObject(address, 0) == origin.list ||
      !keepsMemory(*origin.first, *origin.last->getNextNode()))
    return;
  const SCEV *place = getFirstPlace(address);
  for (ListLookup &known : lookups)
    if (joinNear(known, place, access, scev))
      return;
  lookups.push_back(
      {{&access, address, place, access.mayWriteToMemory()}, origin});
}

/// Finds a row whose length is known, without lookups by its elements.
void ListWriter::findAnyRow() {
  for (BasicBlock *block : loop.blocks()) {
    Origin first, end;
    Row found = getBounds(*block);
    if (!row.place && found.place && find(found.first, first) &&
        find(found.end, end) && first.loads > 1 && end.loads > 1)
      row = found;
  }
}

/// Where the code for a lookup goes. All code of a block has one place, if no
/// memory that it reads may have been freed there.
Instruction *ListWriter::findPlace(const Origin &origin) const {
  Instruction *found = origin.last->getNextNode();
  auto join = [&](Instruction *other) {
    if (other && other->getParent() == found->getParent() &&
        found->comesBefore(other) && keepsMemory(*origin.first, *other))
      found = other;
  };
  for (const ListLookup &other : lookups)
    join(other.origin.last->getNextNode());
  join(row.place);
  return found;
}

/// A counter of iterations that the loop has anyway.
bool ListWriter::findCounter() {
  for (PHINode &phi : loop.getHeader()->phis()) {
    auto *line = scev.isSCEVable(phi.getType())
                     ? dyn_cast<SCEVAddRecExpr>(scev.getSCEV(&phi))
                     : nullptr;
    auto *each = line && line->getLoop() == &loop && line->isAffine()
                     ? dyn_cast<SCEVConstant>(line->getStepRecurrence(scev))
                     : nullptr;
    // An atomic variable has no 48 bits.
    unsigned bits = each ? each->getAPInt().getBitWidth() : 0;
    if (bits != 32 && bits != 64)
      continue;
    counter = &phi;
    step = each->getAPInt().getSExtValue();
    return true;
  }
  return false;
}

/// The counter as a number, or what it is when the loop begins. Frozen: one
/// that the loop never uses may be poison.
Value *ListWriter::getCount(Value *value, IRBuilder<> &builder) const {
  return builder.CreateFreeze(value->getType()->isPointerTy()
                                  ? builder.CreatePtrToInt(value, number)
                                  : value);
}

/// Threads share \p state, so a plain access would be a race.
static Value *loadState(GlobalVariable &state, IRBuilder<> &builder) {
  LoadInst *load = builder.CreateLoad(state.getValueType(), &state);
  load->setAtomic(AtomicOrdering::Monotonic);
  return load;
}

/// Whether this iteration is not skipped at place. What is found there decides
/// later, also in other runs of the loop.
Value *ListWriter::isActive() {
  BasicBlock *front = loop.getLoopPreheader();
  IRBuilder<> builder(front->getTerminator());
  Value *begin = getCount(counter->getIncomingValueForBlock(front), builder);
  Type *type = begin->getType();
  state = new GlobalVariable(*function.getParent(), type, /*isConstant=*/false,
                             GlobalValue::PrivateLinkage,
                             ConstantInt::get(type, minState), "mpg.skipped");
  function.removeFnAttr(Attribute::Memory); // it may exclude variables
  Value *known = loadState(*state, builder);
  skipped = addVariable(known, true);
  Value *iterations =
      builder.CreateAdd(builder.CreateLShr(known, Log2_64(entryParts)),
                        ConstantInt::get(type, distance / 2));
  resume = addVariable(getCountAfter(begin, iterations, builder), true);
  builder.SetInsertPoint(place);
  count = getCount(counter, builder);
  CmpInst::Predicate reaches = step < 0 ? CmpInst::ICMP_SLE : CmpInst::ICMP_SGE;
  return builder.CreateICmp(reaches, count, builder.CreateLoad(type, resume));
}

/// Makes a block in front of \p from for code that is skipped in between.
void ListWriter::openPlace(Instruction &from) {
  place = &from;
  later.clear();
  ranges.clear();
  if (counter)
    place = SplitBlockAndInsertIfThen(
        isActive(), from.getIterator(), /*Unreachable=*/false,
        MDBuilder(function.getContext()).createUnlikelyBranchWeights(),
        /*DTU=*/nullptr, &loops);
  else
    SplitBlock(from.getParent(), &from, (DominatorTree *)nullptr, &loops);
  begins.push_back(place->getParent());
}

Value *ListWriter::getCountAfter(Value *now, Value *iterations,
                                 IRBuilder<> &builder) const {
  return builder.CreateAdd(
      now, builder.CreateMul(iterations,
                             ConstantInt::getSigned(now->getType(), step)));
}

/// Skips more iterations each time that they were of no use.
void ListWriter::skipUseless(Value *isUseful, IRBuilder<> &builder) {
  Type *type = count->getType();
  Value *more = builder.CreateBinaryIntrinsic(
      Intrinsic::umin, builder.CreateShl(builder.CreateLoad(type, skipped), 1),
      ConstantInt::get(type, maxSkipped * skipParts));
  more = builder.CreateSelect(isUseful, ConstantInt::get(type, 1), more);
  builder.CreateStore(more, skipped);
  builder.CreateStore(
      getCountAfter(count, builder.CreateLShr(more, Log2_64(skipParts)),
                    builder),
      resume);
}

/// Keeps for the next run of the loop what it skips at its end.
void ListWriter::keepState() {
  SmallVector<BasicBlock *, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (BasicBlock *exit : exits) {
    if (exit->isEHPad() || !llvm::all_of(predecessors(exit), [&](auto *block) {
          return loop.contains(block);
        }))
      continue;
    Instruction *at = &*exit->getFirstInsertionPt();
    IRBuilder<> builder(at);
    Type *type = count->getType();
    Value *now = builder.CreateLoad(type, skipped);
    Value *isOther = builder.CreateICmpNE(now, loadState(*state, builder));
    builder.SetInsertPoint(SplitBlockAndInsertIfThen(
        isOther, at->getIterator(), /*Unreachable=*/false,
        MDBuilder(function.getContext()).createUnlikelyBranchWeights(),
        /*DTU=*/nullptr, &loops));
    Value *isFew = builder.CreateICmpULT(now, ConstantInt::get(type, minState));
    builder
        .CreateStore(
            builder.CreateSelect(isFew, ConstantInt::get(type, 1), now), state)
        ->setAtomic(AtomicOrdering::Monotonic);
  }
}

/// The element \p ahead iterations later if it is on the same page, so that
/// loading it cannot fault; else the element of \p list. Below 0: the one
/// earlier, or else later.
Value *ListWriter::getListAddress(LoadInst &list, int ahead,
                                  IRBuilder<> &builder) {
  int64_t bytes = getListStep(list) * ahead;
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
      then, ahead < 0 ? getListAddress(list, -ahead, builder) : now);
}

/// Calls that may free memory set a variable back, unless it \p isKept.
AllocaInst *ListWriter::addVariable(Value *begin, bool isKept) {
  IRBuilder<> builder(&*function.getEntryBlock().begin());
  AllocaInst *variable = builder.CreateAlloca(begin->getType());
  builder.SetInsertPoint(loop.getLoopPreheader()->getTerminator());
  if (isKept)
    builder.CreateStore(begin, variable);
  variables[variable] = isKept ? nullptr : cast<Constant>(begin);
  return variable;
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

/// Sets a mark at calls, so that they cost little. Code that is not skipped
/// then sets the variables back.
void ListWriter::forgetAtCalls() {
  Constant *yes = ConstantInt::getTrue(function.getContext());
  AllocaInst *areForgotten = addVariable(yes, true);
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (mayFree(instruction))
        new StoreInst(yes, areForgotten, instruction.getIterator());
  for (BasicBlock *block : begins) {
    IRBuilder<> builder(block, block->begin());
    Value *areUnknown = builder.CreateLoad(yes->getType(), areForgotten);
    builder.SetInsertPoint(SplitBlockAndInsertIfThen(
        areUnknown, builder.GetInsertPoint(), /*Unreachable=*/false,
        MDBuilder(function.getContext()).createUnlikelyBranchWeights(),
        /*DTU=*/nullptr, &loops));
    for (auto [variable, begin] : variables)
      if (begin)
        builder.CreateStore(begin, variable);
    builder.CreateStore(builder.getFalse(), areForgotten);
  }
}

/// Code that widens a range of addresses to \p at if \p isRead. The range
/// starts anew, with \p at alone, unless \p isKept. pre: isKept or isRead.
ListWriter::Range ListWriter::widenRange(Value *at, Value *isKept,
                                         Value *isRead, IRBuilder<> &builder) {
  auto widen = [&](uint64_t none, Intrinsic::ID choose) {
    Constant *begin = ConstantInt::get(number, none);
    AllocaInst *bound = addVariable(begin);
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
ListWriter::Range ListWriter::getRange(LoadInst &row, IRBuilder<> &builder) {
  Value *now = row.getPointerOperand();
  Range &range = ranges[{getUnderlyingObject(now, 0), row.getType()}];
  if (range.low)
    return range;
  Value *at = builder.CreatePtrToInt(now, number);
  Value *isSame = isSameArray(getUnderlyingObject(now, 0), builder);
  return range = widenRange(at, isSame, builder.getTrue(), builder);
}

/// The address of \p row \p ahead iterations later, or the nearest of which it
/// is known that loading it cannot fault.
Value *ListWriter::getRowAddress(LoadInst &row, int ahead,
                                 IRBuilder<> &builder) {
  Value *now = row.getPointerOperand();
  Range range = getRange(row, builder);
  // Frozen: a garbage index may make it poison, by a shift.
  Value *then = builder.CreateFreeze(
      builder.CreatePtrToInt(copy(now, ahead, builder), number));
  then = builder.CreateBinaryIntrinsic(Intrinsic::umax, then, range.low);
  then = builder.CreateBinaryIntrinsic(Intrinsic::umin, then, range.high);
  return builder.CreatePtrAdd(
      now, builder.CreateSub(then, builder.CreatePtrToInt(now, number)));
}

/// What \p load reads \p ahead iterations later, or anything.
Value *ListWriter::getLater(LoadInst &load, int ahead) {
  if (!ahead)
    return &load;
  if (Value *known = later.lookup({&load, ahead}))
    return known;
  Origin origin;
  bool isList = getListStep(load) != 0;
  find(load.getPointerOperand(), origin);
  if (!isList && !origin.loads)
    return &load;
  IRBuilder<> builder(place);
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

Value *ListWriter::copy(Value *value, int ahead, IRBuilder<> &builder) {
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

Value *ListWriter::getNumber(Value *value, IRBuilder<> &builder) const {
  return value->getType()->isPointerTy()
             ? builder.CreatePtrToInt(value, number)
             : builder.CreateSExtOrTrunc(value, number);
}

/// Prefetches what has its place at \p from. \returns whether any of it is far.
Value *ListWriter::writeLookups(Instruction &from,
                                const PrefetchVerdict &ahead) {
  IRBuilder<> builder(place);
  Value *isFar = nullptr;
  auto isOfRow = [](const ListLookup &lookup) {
    return lookup.origin.loads > 1;
  };
  auto here = make_filter_range(
      lookups, [&](const ListLookup &lookup) { return lookup.place == &from; });
  bool hasRows = llvm::any_of(here, isOfRow);
  for (const ListLookup &lookup : here) {
    bool isRow = isOfRow(lookup);
    Value *then =
        copy(lookup.address, isRow ? ahead.rowsAhead : ahead.ahead, builder);
    writePrefetch(*lookup.access, lookup.isWritten, 1, then, builder);
    if (!counter || hasRows != isRow)
      continue;
    // An element beyond the end of the list may be anything.
    if (!isRow)
      then = copy(lookup.address, -int(ahead.ahead), builder);
    Value *apart = areApart(copy(lookup.address, 0, builder), then,
                            minTableBytes, builder);
    isFar = isFar ? builder.CreateOr(isFar, apart) : apart;
  }
  return isFar ? isFar : builder.getTrue();
}

Value *ListWriter::countElements(Value *first, Value *end,
                                 IRBuilder<> &builder) const {
  Value *all =
      builder.CreateSub(getNumber(end, builder), getNumber(first, builder));
  return first->getType()->isPointerTy()
             ? builder.CreateAShr(all, Log2_64(row.bytes))
             : all;
}

/// Whether all rows together have more elements than short ones.
Value *ListWriter::areRowsLong(IRBuilder<> &builder) {
  AllocaInst *surplus = addVariable(ConstantInt::get(number, credit), true);
  // Nothing tells which of two bounds is the end.
  Value *elements = builder.CreateBinaryIntrinsic(
      Intrinsic::abs, countElements(row.first, row.end, builder),
      builder.getFalse());
  Value *halves = builder.CreateShl(elements, 1);
  Value *more = builder.CreateSub(halves, ConstantInt::get(number, minHalves));
  Value *all = builder.CreateAdd(builder.CreateLoad(number, surplus), more);
  for (auto [choose, bound] : {std::pair(Intrinsic::smin, maxSurplus),
                               std::pair(Intrinsic::smax, -minHalves)})
    all = builder.CreateBinaryIntrinsic(choose, all,
                                        ConstantInt::getSigned(number, bound));
  builder.CreateStore(all, surplus);
  return builder.CreateICmpSGE(all, ConstantInt::get(number, 0));
}

/// Prefetches in front of the inner loop what elements of the row \p ahead
/// iterations later look up, in a loop over those that can be loaded.
void ListWriter::writeElements(unsigned ahead) {
  IRBuilder<> builder(place);
  builder.SetCurrentDebugLocation(row.element->getDebugLoc());
  Value *isRead = builder.CreateFreeze(row.place->getCondition());
  if (!row.isReadIfTrue)
    isRead = builder.CreateNot(isRead);
  Value *element = row.element->getPointerOperand();
  Value *now = getNumber(copy(element, 0, builder), builder);
  Range known = widenRange(now, builder.getTrue(), isRead, builder);
  auto getLaterNumber = [&](Value *value) {
    return builder.CreateFreeze(copy(value, ahead, builder));
  };
  Value *from = getNumber(getLaterNumber(element), builder);
  Value *steps =
      builder.CreateSub(builder.CreateBinaryIntrinsic(
                            Intrinsic::umin,
                            countElements(getLaterNumber(row.first),
                                          getLaterNumber(row.end), builder),
                            ConstantInt::get(number, maxElements)),
                        ConstantInt::get(number, 1));
  // Of an empty row it is below 0: too long for each range.
  Value *bytes = builder.CreateMul(steps, ConstantInt::get(number, row.bytes));
  Value *to = builder.CreateAdd(from, bytes);
  Value *isKnown = builder.CreateAnd(
      builder.CreateAnd(builder.CreateICmpUGE(from, known.low),
                        builder.CreateICmpULE(from, known.high)),
      builder.CreateICmpULE(bytes, builder.CreateSub(known.high, from)));
  BasicBlock *front = place->getParent();
  Instruction *branch = SplitBlockAndInsertIfThen(
      isKnown, place->getIterator(), /*Unreachable=*/false,
      /*BranchWeights=*/nullptr, /*DTU=*/nullptr, &loops);
  BasicBlock *block = branch->getParent();
  builder.SetInsertPoint(branch);
  place = branch;
  PHINode *at = builder.CreatePHI(number, 2);
  later[{row.element, ahead}] = builder.CreateFreeze(builder.CreateAlignedLoad(
      row.element->getType(),
      builder.CreateIntToPtr(at, row.element->getPointerOperandType()),
      Align()));
  for (const Lookup &lookup : row.lookups)
    writePrefetch(*lookup.access, lookup.isWritten, 1,
                  copy(lookup.address, ahead, builder), builder);
  at->addIncoming(from, front);
  at->addIncoming(builder.CreateAdd(at, ConstantInt::get(number, row.bytes)),
                  block);
  builder.CreateCondBr(builder.CreateICmpEQ(at, to), branch->getSuccessor(0),
                       block);
  branch->eraseFromParent();
}

/// Prefetches all that has its place at \p from, or only decides whether later
/// iterations do.
void ListWriter::writePlace(Instruction &from, const PrefetchVerdict &ahead) {
  openPlace(from);
  Value *isFar = writeLookups(from, ahead);
  IRBuilder<> builder(place);
  bool isOfRow = &from == row.place;
  Value *isLong = isOfRow ? areRowsLong(builder) : builder.getTrue();
  if (counter) {
    skipUseless(builder.CreateAnd(isFar, isLong), builder);
    keepState();
  }
  if (!isOfRow || !row.element)
    return;
  // Unlikely: code generation keeps what only long rows need out of registers.
  place = SplitBlockAndInsertIfThen(
      isLong, place->getIterator(), /*Unreachable=*/false,
      MDBuilder(function.getContext()).createUnlikelyBranchWeights(),
      /*DTU=*/nullptr, &loops);
  writeElements(ahead.elementsAhead);
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
  verdict.elementsAhead = row.element ? verdict.rowsAhead / 2 : 0;
  if (use == IndirectUse::far && !findCounter())
    return {};
  if (!row.element && use == IndirectUse::far)
    findAnyRow();
  SmallSetVector<Instruction *, 8> places;
  for (ListLookup &lookup : lookups) {
    ++(lookup.origin.loads > 1 ? verdict.rows : verdict.streams);
    places.insert(lookup.place = findPlace(lookup.origin));
  }
  if (row.element)
    places.insert(row.place);
  if (counter)
    formDedicatedExitBlocks(&loop, &dominators, &loops, /*MSSAU=*/nullptr,
                            /*PreserveLCSSA=*/false);
  for (Instruction *from : places)
    writePlace(*from, verdict);
  forgetAtCalls();
  dominators.recalculate(function);
  PromoteMemToReg(to_vector(make_first_range(variables)), dominators);
  return verdict;
}

PrefetchVerdict mpg::writeListPrefetches(Loop &loop, unsigned distance,
                                         IndirectUse use,
                                         FunctionAnalysisManager &analyses) {
  return ListWriter(loop, distance, use, analyses).run();
}
