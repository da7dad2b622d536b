// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SerialInit.h.

#include "openmp/SerialInit.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// The smallest page: writing one byte in each touches all.
static constexpr int64_t pageBytes = 4096;

namespace {

/// The bytes that an instruction writes, from pointer on.
struct Write {
  Value *pointer = nullptr;
  int64_t bytes = 0;      ///< 0: see count * size
  Value *count = nullptr; ///< or null: 1
  Value *size = nullptr;
};

/// The range of one write over all iterations of the loops around it.
class Range {
public:
  Range(Sampler &sampler, const Write &write, Instruction &at,
        const EvalContext &context)
      : sampler(sampler), write(write), at(at), context(context) {}
  void find();

  int64_t low = 0, high = 0;
  bool isDense = true;

private:
  int64_t offset() {
    return distance(base, sampler.evaluate(write.pointer, context));
  }
  int64_t offsetAt(const Loop &loop, int64_t turn);
  int64_t bytes();
  void addLoop(const Loop &loop);
  void addLoopsAround(const Instruction &inside);

  Sampler &sampler;
  const Write &write;
  Instruction &at;
  EvalContext context;
  int64_t base = 0, touched = 0;
};

} // namespace

int64_t Range::bytes() {
  if (!write.size)
    return write.bytes;
  int64_t size = bounded(sampler.evaluate(write.size, context));
  return write.count ? times(size, sampler.evaluate(write.count, context))
                     : size;
}

int64_t Range::offsetAt(const Loop &loop, int64_t turn) {
  context.turns[&loop] = turn;
  int64_t result = offset();
  context.turns.erase(&loop);
  return result;
}

void Range::addLoop(const Loop &loop) {
  std::optional<int64_t> turns = sampler.tripCount(loop, context);
  if (!turns || *turns < 1) {
    isDense = false;
    return;
  }
  int64_t reach = offsetAt(loop, *turns - 1);
  // An index that is read from somewhere has not gone half as far in half of
  // the iterations.
  int64_t middle = (*turns - 1) / 2;
  int64_t expected = middle ? reach / (*turns - 1) * middle : 0;
  if (std::abs(offsetAt(loop, middle) - expected) > std::abs(reach) / 50 + 64)
    isDense = false;
  int64_t &end = reach < 0 ? low : high;
  end = bounded(end + reach);
  // Each write touches a page, but together no more than they span.
  if (reach)
    touched = std::min(times(touched, *turns), std::max(high - low, pageBytes));
}

/// Whether \p condition is a question of bounds, such as whether an inner loop
/// has iterations at all, and not of data.
static bool isBoundsCheck(const Value *condition, const Loop &loop,
                          ScalarEvolution &evolution) {
  if (loop.isLoopInvariant(condition))
    return true;
  auto *compare = dyn_cast<ICmpInst>(condition);
  return compare && all_of(compare->operands(), [&](Value *operand) {
           if (!evolution.isSCEVable(operand->getType()))
             return false;
           const SCEV *expression = evolution.getSCEV(operand);
           // A remainder chooses some of the iterations.
           return evolution.isLoopInvariant(expression, &loop) ||
                  (evolution.hasComputableLoopEvolution(expression, &loop) &&
                   !SCEVExprContains(expression, [](const SCEV *part) {
                     return isa<SCEVUDivExpr>(part);
                   }));
         });
}

/// Whether \p block runs in each iteration of \p loop, but for what bounds say.
static bool runsInEach(const BasicBlock *block, const Loop &loop,
                       const DominatorTree &dominators,
                       const PostDominatorTree &postDominators,
                       ScalarEvolution &evolution) {
  const BasicBlock *latch = loop.getLoopLatch();
  while (latch && !dominators.dominates(block, latch)) {
    const BasicBlock *after = block;
    const DomTreeNode *node = dominators.getNode(block)->getIDom();
    block = node ? node->getBlock() : nullptr;
    // Every path through conditions and loops leads here.
    if (block && loop.contains(block) && postDominators.dominates(after, block))
      continue;
    auto *branch =
        block ? dyn_cast<BranchInst>(block->getTerminator()) : nullptr;
    if (!branch || !loop.contains(block) ||
        (branch->isConditional() &&
         !isBoundsCheck(branch->getCondition(), loop, evolution)))
      return false;
  }
  return latch;
}

void Range::addLoopsAround(const Instruction &inside) {
  Function &function = *const_cast<Function *>(inside.getFunction());
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  auto &dominators =
      sampler.analyses.getResult<DominatorTreeAnalysis>(function);
  auto &postDominators =
      sampler.analyses.getResult<PostDominatorTreeAnalysis>(function);
  auto &evolution =
      sampler.analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (const Loop *loop = loops.getLoopFor(inside.getParent()); loop;
       loop = loop->getParentLoop()) {
    isDense = isDense && runsInEach(inside.getParent(), *loop, dominators,
                                    postDominators, evolution);
    addLoop(*loop);
  }
}

void Range::find() {
  base = sampler.evaluate(write.pointer, context);
  low = sampler.getPlace(base).offset;
  high = low + bytes();
  touched = std::max(high - low, pageBytes);
  addLoopsAround(at);
  for (const CallFrame *frame = context.frame; frame; frame = frame->outer)
    addLoopsAround(*frame->call);
  isDense = isDense && touched >= high - low;
}

static std::optional<Write> findWrite(Instruction &at) {
  Write write;
  if (auto *store = dyn_cast<StoreInst>(&at)) {
    const DataLayout &layout = at.getModule()->getDataLayout();
    write.pointer = store->getPointerOperand();
    write.bytes =
        int64_t(layout.getTypeStoreSize(store->getValueOperand()->getType())
                    .getKnownMinValue());
    return write;
  }
  if (auto *whole = dyn_cast<MemIntrinsic>(&at)) {
    write.pointer = whole->getRawDest();
    write.size = whole->getLength();
    return write;
  }
  auto *call = dyn_cast<CallBase>(&at);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || callee->getName() != "fread" || call->arg_size() != 4)
    return std::nullopt;
  write.pointer = call->getArgOperand(0);
  write.size = call->getArgOperand(1);
  write.count = call->getArgOperand(2);
  return write;
}

Loop *mpg::writingLoop(const SerialWrite &write, Sampler &sampler) {
  Function &function = *write.at->getFunction();
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  EvalContext context;
  context.frame = write.frame;
  int64_t base = sampler.evaluate(write.pointer, context);
  Loop *found = nullptr;
  for (Loop *loop = loops.getLoopFor(write.at->getParent()); loop;
       loop = loop->getParentLoop()) {
    context.turns[loop] = 1;
    if (sampler.evaluate(write.pointer, context) != base)
      found = loop;
    context.turns.clear();
  }
  return found;
}

/// Whether \p at reads in front of its write what it writes to.
static bool isUpdate(const Instruction &at, FunctionAnalysisManager &analyses) {
  auto *store = dyn_cast<StoreInst>(&at);
  if (!store)
    return false;
  Function &function = *const_cast<Function *>(at.getFunction());
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto *target = const_cast<Value *>(store->getPointerOperand());
  constexpr unsigned maxBetween = 100;
  const Instruction *before = at.getPrevNode();
  for (unsigned i = 0; before && i < maxBetween; ++i) {
    auto *load = dyn_cast<LoadInst>(before);
    if (load && load->getType() == store->getValueOperand()->getType() &&
        evolution.getSCEV(const_cast<Value *>(load->getPointerOperand())) ==
            evolution.getSCEV(target))
      return true;
    before = before->getPrevNode();
  }
  return false;
}

namespace {
/// Finds the writes to objects of some origins.
class WriteSearch {
public:
  WriteSearch(const DenseSet<const Value *> &origins, Sampler &sampler)
      : origins(origins), sampler(sampler) {}
  /// On each of \p paths to \p function, one instruction after the other.
  void addFunction(Function &function, ArrayRef<const CallFrame *> paths);

  std::vector<SerialWrite> found;

private:
  void add(Instruction &at, const Write &write, const CallFrame *frame);

  const DenseSet<const Value *> &origins;
  Sampler &sampler;
};
} // namespace

void WriteSearch::add(Instruction &at, const Write &write,
                      const CallFrame *frame) {
  EvalContext context;
  context.frame = frame;
  auto objects = sampler.findObjects(write.pointer, context);
  for (auto [number, object] : enumerate(objects)) {
    if (!origins.count(object->origin))
      continue;
    context.alternative = unsigned(number);
    SerialWrite one{&at,    write.pointer,
                    object, frame,
                    {},     {},
                    true,   isUpdate(at, sampler.analyses)};
    for (unsigned seed = 0; seed < sampleSets; ++seed) {
      context.seed = seed;
      Range range(sampler, write, at, context);
      range.find();
      one.low[seed] = range.low;
      one.high[seed] = range.high;
      one.isDense = one.isDense && range.isDense;
    }
    found.push_back(one);
  }
}

void WriteSearch::addFunction(Function &function,
                              ArrayRef<const CallFrame *> paths) {
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  for (Instruction &at : instructions(function)) {
    std::optional<Write> write = findWrite(at);
    if (!write)
      continue;
    bool isLooped = loops.getLoopFor(at.getParent());
    for (const CallFrame *path : paths)
      if ((isLooped || write->size || path) && !sampler.frames.isInTeam(path))
        add(at, *write, path);
  }
}

std::vector<SerialWrite>
mpg::findSerialWrites(Function &function, const CallFrame *path,
                      const DenseSet<const Value *> &origins,
                      Sampler &sampler) {
  WriteSearch search(origins, sampler);
  search.addFunction(function, path);
  return std::move(search.found);
}

std::vector<SerialWrite>
mpg::findSerialWrites(const DenseSet<const Value *> &origins,
                      Sampler &sampler) {
  WriteSearch search(origins, sampler);
  for (Function &function : sampler.module)
    if (!function.isDeclaration() && !sampler.frames.isParallel(function))
      search.addFunction(function, sampler.frames.callPathsTo(function));
  return std::move(search.found);
}

// Order

/// The calls by which \p at is reached, outermost first, and itself.
static SmallVector<const Instruction *, 8> chain(const Instruction &at,
                                                 const CallFrame *frame) {
  SmallVector<const Instruction *, 8> steps = {&at};
  for (; frame; frame = frame->outer)
    steps.insert(steps.begin(), frame->call);
  return steps;
}

Order mpg::findOrder(const Instruction &first, const CallFrame *firstFrame,
                     const Instruction &second, const CallFrame *secondFrame,
                     FunctionAnalysisManager &analyses) {
  auto one = chain(first, firstFrame), other = chain(second, secondFrame);
  for (size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (one[i] == other[i])
      continue;
    Function &function = *const_cast<Function *>(one[i]->getFunction());
    if (other[i]->getFunction() != &function)
      return Order::maybe;
    auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    if (dominators.dominates(one[i], other[i]))
      return Order::always;
    return isPotentiallyReachable(one[i], other[i], nullptr, &dominators)
               ? Order::maybe
               : Order::never;
  }
  return Order::maybe;
}

bool mpg::handsOver(const CallBase &call, FunctionAnalysisManager &analyses) {
  Function *callee = findCallee(call);
  LibFunc known;
  if (isa<IntrinsicInst>(call) || (callee && !callee->isDeclaration()) ||
      (callee && callee->getName() == "__kmpc_fork_call") ||
      (callee && analyses
                     .getResult<TargetLibraryAnalysis>(
                         *const_cast<Function *>(call.getFunction()))
                     .getLibFunc(*callee, known)))
    return false;
  return any_of(call.args(), [](const Use &operand) {
    return operand->getType()->isPointerTy() && !isa<Constant>(operand);
  });
}

bool mpg::isHandedOver(const SerialWrite &write,
                       FunctionAnalysisManager &analyses) {
  auto *allocation = dyn_cast<CallBase>(write.object->origin);
  if (!allocation)
    return true;
  auto one = chain(*allocation, write.object->frame);
  auto other = chain(*write.at, write.frame);
  size_t common = 0;
  while (common < std::min(one.size(), other.size()) &&
         one[common] == other[common])
    ++common;
  if (common == one.size() || common == other.size() ||
      one[common]->getFunction() != other[common]->getFunction())
    return true;
  for (size_t i = common; i < other.size(); ++i) {
    Function &function = *const_cast<Function *>(other[i]->getFunction());
    auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    auto isBetween = [&](const Instruction &at) {
      return (i > common ||
              isPotentiallyReachable(one[common], &at, nullptr, &dominators)) &&
             isPotentiallyReachable(&at, other[i], nullptr, &dominators);
    };
    for (Instruction &at : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&at);
          call && call != one[common] && call != other[i] &&
          handsOver(*call, analyses) && isBetween(at))
        return true;
  }
  return false;
}
