// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a serial write is certain to run once a place in the code is reached,
// and how late a call can go in front of all serial writes. The call takes
// memory, so it must not be where the program could still leave the array
// untouched.
//
// Follows every path from the place on and looks for one that returns without
// the write. Ignores paths on which the array has no elements (including bounds
// that its size depends on), on which an allocation has failed, or which end
// the program or unwind.

#include "openmp/ArrayVerdict.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include <set>

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace mpg;

/// Values that a size or a condition is computed from.
static constexpr unsigned maxValues = 64;

// Origins of numbers

namespace {

/// The inputs that values are computed from: what the module does not
/// determine.
class Inputs {
public:
  explicit Inputs(Sampler &sampler) : sampler(sampler) {}
  void add(Value *value, const CallFrame *frame);
  bool contains(const Inputs &other) const {
    return !other.isUnknown &&
           std::includes(found.begin(), found.end(), other.found.begin(),
                         other.found.end());
  }

private:
  void addLoaded(LoadInst &load, const CallFrame *frame);

  Sampler &sampler;
  /// A value, or where in memory it is.
  std::set<std::pair<const Value *, int64_t>> found;
  SmallPtrSet<const Value *, 16> seen;
  bool isUnknown = false;
};

} // namespace

void Inputs::addLoaded(LoadInst &load, const CallFrame *frame) {
  EvalContext context;
  context.frame = frame;
  int64_t address = sampler.evaluate(load.getPointerOperand(), context);
  ArrayRef<Sampler::Stored> stores = sampler.storesTo(address);
  auto *store =
      stores.size() == 1 ? dyn_cast<StoreInst>(stores.front().by) : nullptr;
  if (store)
    return add(store->getValueOperand(), stores.front().frame);
  found.insert({nullptr, address});
}

void Inputs::add(Value *value, const CallFrame *frame) {
  if (isa<Constant>(value) || !seen.insert(value).second)
    return;
  isUnknown |= seen.size() > maxValues;
  if (isUnknown)
    return;
  if (auto *argument = dyn_cast<Argument>(value)) {
    Value *operand = frame && frame->callee == argument->getParent()
                         ? frame->operandFor(*argument)
                         : nullptr;
    if (operand)
      return add(operand, frame->outer);
  } else if (auto *load = dyn_cast<LoadInst>(value)) {
    return addLoaded(*load, frame);
  } else if (isa<UnaryInstruction, BinaryOperator, CmpInst, SelectInst, PHINode,
                 MinMaxIntrinsic>(value)) {
    for (Value *operand : cast<User>(value)->operands())
      if (!isa<Function>(operand))
        add(operand, frame);
    return;
  }
  found.insert({value, 0});
}

// Paths

namespace {

/// Looks for paths that leave a function without a write to one array.
class PathSearch {
public:
  PathSearch(const MemoryObject &object, Sampler &sampler);

  /// Whether each path from \p from (null: from the start of the function),
  /// reached by \p frame, leads to \p target.
  bool leadsTo(const Instruction *from, const Instruction &target,
               const CallFrame *frame);

private:
  void add(const BasicBlock *next, const Instruction &end);
  void addNext(const Instruction &end, const Instruction &target,
               const CallFrame *frame);
  bool isWithinLoop(const BranchInst &branch, const Instruction &target);
  std::optional<bool> findAnswer(Value *condition, const CallFrame *frame);
  std::optional<bool> allocated(Value *condition, const CallFrame *frame);
  std::optional<bool> bounded(Value *condition, const CallFrame *frame);
  bool isAllocated(Value *value, const CallFrame *frame);

  Sampler &sampler;
  Inputs size; ///< of the array
  SmallVector<const BasicBlock *, 16> open;
};

} // namespace

PathSearch::PathSearch(const MemoryObject &object, Sampler &sampler)
    : sampler(sampler), size(sampler) {
  auto *call = dyn_cast<CallBase>(object.origin);
  std::optional<Allocation> block = call ? findAllocation(*call) : std::nullopt;
  if (!block)
    return;
  size.add(block->bytes, object.frame);
  if (block->count)
    size.add(block->count, object.frame);
}

/// Whether \p value is memory that an allocation gave, or its result "done".
bool PathSearch::isAllocated(Value *value, const CallFrame *frame) {
  auto *call = dyn_cast<CallBase>(value);
  std::optional<Allocation> block = call ? findAllocation(*call) : std::nullopt;
  if (block)
    return true;
  EvalContext context;
  context.frame = frame;
  const MemoryObject *object =
      value->getType()->isPointerTy()
          ? sampler.getPlace(sampler.evaluate(value, context)).object
          : nullptr;
  return object && isa<CallBase>(object->origin) && isPlaceable(*object);
}

/// Of a test of an allocation: posix_memalign gives 0 when it is done, the
/// others a pointer.
std::optional<bool> PathSearch::allocated(Value *condition,
                                          const CallFrame *frame) {
  auto *compare = dyn_cast<ICmpInst>(condition);
  auto *right = compare ? dyn_cast<Constant>(compare->getOperand(1)) : nullptr;
  if (!right || !compare->isEquality() || !right->isNullValue() ||
      !isAllocated(compare->getOperand(0), frame))
    return std::nullopt;
  bool isZero = !right->getType()->isPointerTy();
  return isZero == (compare->getPredicate() == ICmpInst::ICMP_EQ);
}

/// Of a question about what the size of the array is computed from.
std::optional<bool> PathSearch::bounded(Value *condition,
                                        const CallFrame *frame) {
  Inputs inputs(sampler);
  inputs.add(condition, frame);
  if (!size.contains(inputs))
    return std::nullopt;
  std::optional<bool> answer;
  for (unsigned seed = 0; seed < sampleSets; ++seed) {
    EvalContext context;
    context.frame = frame;
    context.seed = seed;
    bool one = sampler.evaluate(condition, context) & 1;
    if (answer && *answer != one)
      return std::nullopt;
    answer = one;
  }
  return answer;
}

/// The value of \p condition if the array has elements and memory suffices;
/// nothing if unknown.
std::optional<bool> PathSearch::findAnswer(Value *condition,
                                           const CallFrame *frame) {
  Value *left, *right;
  if (match(condition, m_Not(m_Value(left)))) {
    std::optional<bool> one = findAnswer(left, frame);
    return one ? std::optional(!*one) : std::nullopt;
  }
  bool isAnd = match(condition, m_LogicalAnd(m_Value(left), m_Value(right)));
  if (isAnd || match(condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
    std::optional<bool> one = findAnswer(left, frame);
    std::optional<bool> other = findAnswer(right, frame);
    if (one == !isAnd || other == !isAnd)
      return !isAnd;
    return one && other ? std::optional(isAnd) : std::nullopt;
  }
  std::optional<bool> answer = allocated(condition, frame);
  return answer ? answer : bounded(condition, frame);
}

/// Whether \p branch tests a different value in each iteration of a loop that
/// writes to the array, such as whether an inner loop runs. isDense handles
/// these.
bool PathSearch::isWithinLoop(const BranchInst &branch,
                              const Instruction &target) {
  Function &function = *const_cast<Function *>(branch.getFunction());
  const Loop *loop =
      sampler.analyses.getResult<LoopAnalysis>(function).getLoopFor(
          branch.getParent());
  auto *compare = dyn_cast<ICmpInst>(branch.getCondition());
  if (!loop || !compare || !loop->contains(&target) ||
      loop->isLoopExiting(branch.getParent()))
    return false;
  auto &evolution =
      sampler.analyses.getResult<ScalarEvolutionAnalysis>(function);
  bool moves = false;
  for (Value *operand : compare->operands()) {
    if (!evolution.isSCEVable(operand->getType()))
      return false;
    const SCEV *expression = evolution.getSCEV(operand);
    bool isMoving = evolution.hasComputableLoopEvolution(expression, loop);
    if (!isMoving && !evolution.isLoopInvariant(expression, loop))
      return false;
    moves |= isMoving;
  }
  return moves;
}

/// Adds \p next, which may follow \p end. Behind the last turn of a loop its
/// exits do.
void PathSearch::add(const BasicBlock *next, const Instruction &end) {
  Function &function = *const_cast<Function *>(end.getFunction());
  const Loop *loop =
      sampler.analyses.getResult<LoopAnalysis>(function).getLoopFor(next);
  if (!loop || loop->getHeader() != next || !loop->contains(&end)) {
    open.push_back(next);
    return;
  }
  SmallVector<BasicBlock *, 4> exits;
  loop->getExitBlocks(exits);
  open.append(exits.begin(), exits.end());
}

/// Adds the blocks that may follow \p end.
void PathSearch::addNext(const Instruction &end, const Instruction &target,
                         const CallFrame *frame) {
  if (auto *invoke = dyn_cast<InvokeInst>(&end)) {
    add(invoke->getNormalDest(), end);
    return;
  }
  auto *branch = dyn_cast<BranchInst>(&end);
  if (branch && branch->isConditional()) {
    if (isWithinLoop(*branch, target))
      return;
    if (auto answer = findAnswer(branch->getCondition(), frame)) {
      add(branch->getSuccessor(*answer ? 0 : 1), end);
      return;
    }
  }
  for (unsigned i = 0; i < end.getNumSuccessors(); ++i)
    add(end.getSuccessor(i), end);
}

bool PathSearch::leadsTo(const Instruction *from, const Instruction &target,
                         const CallFrame *frame) {
  const BasicBlock *last = target.getParent();
  SmallPtrSet<const BasicBlock *, 16> seen;
  open.clear();
  if (!from)
    open.push_back(&target.getFunction()->getEntryBlock());
  else if (from == &target ||
           (from->getParent() == last && from->comesBefore(&target)))
    return true;
  else
    addNext(*from->getParent()->getTerminator(), target, frame);
  while (!open.empty()) {
    const BasicBlock *block = open.pop_back_val();
    if (block == last || !seen.insert(block).second)
      continue;
    const Instruction &end = *block->getTerminator();
    if (isa<ReturnInst>(end))
      return false;
    addNext(end, target, frame);
  }
  return true;
}

// Writes

namespace {
struct Step {
  const Instruction *at;
  const CallFrame *frame; ///< by which the function of at was called
  bool operator==(const Step &other) const { return at == other.at; }
};
} // namespace

/// The calls by which \p at is reached, outermost first, and itself.
static SmallVector<Step, 8> stepsTo(const Instruction &at,
                                    const CallFrame *frame) {
  SmallVector<Step, 8> steps = {{&at, frame}};
  for (; frame; frame = frame->outer)
    steps.insert(steps.begin(), {frame->call, frame->outer});
  return steps;
}

bool mpg::followsInAnyCase(const SerialWrite &write, const Instruction &from,
                           const CallFrame *fromFrame, Sampler &sampler) {
  auto one = stepsTo(from, fromFrame), other = stepsTo(*write.at, write.frame);
  size_t i = 0;
  while (i < one.size() && i < other.size() && one[i] == other[i])
    ++i;
  PathSearch search(*write.object, sampler);
  if (i < one.size() && i < other.size()) {
    if (one[i].at->getFunction() != other[i].at->getFunction() ||
        !search.leadsTo(one[i].at, *other[i].at, other[i].frame))
      return false;
    ++i;
  }
  for (; i < other.size(); ++i)
    if (!search.leadsTo(nullptr, *other[i].at, other[i].frame))
      return false;
  return true;
}

Instruction *mpg::inFrontOfLoops(Instruction *at, const CallBase *fresh,
                                 const LoopInfo &loops) {
  const Loop *outermost = nullptr;
  for (const Loop *loop = loops.getLoopFor(at->getParent());
       loop && !(fresh && loop->contains(fresh)); loop = loop->getParentLoop())
    outermost = loop;
  if (!outermost)
    return at;
  BasicBlock *before = outermost->getLoopPredecessor();
  auto *end = before ? dyn_cast<BranchInst>(before->getTerminator()) : nullptr;
  if (!end)
    return nullptr;
  // If the loop may be skipped, its start represents the edge into it.
  return end->isConditional() ? &outermost->getHeader()->front() : end;
}

/// The last place in front of both.
static Instruction *findEarlier(Instruction *one, Instruction *other,
                                const DominatorTree &dominators) {
  if (!one || one == other || dominators.dominates(other, one))
    return other;
  if (dominators.dominates(one, other))
    return one;
  return dominators
      .findNearestCommonDominator(one->getParent(), other->getParent())
      ->getTerminator();
}

Instruction *mpg::findPlaceBefore(ArrayRef<const SerialWrite *> writes,
                                  CallBase &fresh, Sampler &sampler) {
  Function &function = *fresh.getFunction();
  auto &dominators =
      sampler.analyses.getResult<DominatorTreeAnalysis>(function);
  auto &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  Instruction *place = nullptr;
  auto moveTo = [&](Instruction *at) {
    place = findEarlier(place, at, dominators);
    place = inFrontOfLoops(place, &fresh, loops);
    return place && dominators.dominates(&fresh, place);
  };
  for (const SerialWrite *write : writes) {
    if (!isLarge(*write, sampler))
      continue;
    Instruction *at = write->at;
    for (const CallFrame *frame = write->frame;
         frame && at->getFunction() != &function; frame = frame->outer)
      at = frame->call;
    if (at->getFunction() != &function || !moveTo(at))
      return nullptr;
  }
  if (!place)
    return nullptr;
  // Code that is not seen may write to it as well.
  for (User *user : fresh.users())
    if (auto *call = dyn_cast<CallBase>(user);
        call && call->getFunction() == &function &&
        handsOver(*call, sampler.analyses) &&
        dominators.dominates(call, place) && !moveTo(call))
      return nullptr;
  return place;
}
