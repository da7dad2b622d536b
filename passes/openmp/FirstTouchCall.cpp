// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FirstTouchCall.h.

#include "openmp/FirstTouchCall.h"
#include "base/WeakCalls.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mpg;

/// Functions that return what an allocator returned, one in the other.
static constexpr unsigned maxWrappers = 2;
/// Values that one operand of the call is computed from.
static constexpr unsigned maxSteps = 100;

// Sources of arrays

/// Whether \p value is exactly the memory of \p allocation: a pointer that was
/// stored somewhere is not fresh.
static bool isIts(const Value *value, const Allocation &allocation) {
  if (allocation.result) {
    auto *load = dyn_cast<LoadInst>(value);
    return load && load->getPointerOperand() == allocation.result;
  }
  return value == allocation.call;
}

/// Whether all that \p function returns is memory of \p allocation, or null.
static bool returnsIt(const Function &function, const Allocation &allocation) {
  bool found = false;
  for (const BasicBlock &block : function) {
    auto *end = dyn_cast<ReturnInst>(block.getTerminator());
    if (!end)
      continue;
    SmallVector<const Value *, 4> values = {end->getReturnValue()};
    if (auto *merge = dyn_cast_or_null<PHINode>(values.front()))
      values.assign(merge->op_begin(), merge->op_end());
    for (const Value *value : values) {
      if (!value || (!isIts(value, allocation) &&
                     !isa<ConstantPointerNull, UndefValue>(value)))
        return false;
      found |= isIts(value, allocation);
    }
  }
  return found;
}

/// The outermost call that gives the memory of \p allocation, reached by
/// \p frame, and the call path to that call; none outside of the call paths \p
/// within.
static std::pair<CallBase *, const CallFrame *>
outermostSite(const Allocation &allocation, const CallFrame *frame,
              const DenseSet<const CallFrame *> &within) {
  Allocation returned = allocation;
  for (unsigned i = 0; i < maxWrappers && frame; ++i) {
    if (within.count(frame) || frame->firstOperand ||
        !returnsIt(*frame->callee, returned))
      break;
    returned = {frame->call, nullptr, nullptr, nullptr, false};
    frame = frame->outer;
  }
  return {returned.call, frame};
}

std::optional<ArraySource> mpg::findSource(const MemoryObject &object) {
  ArraySource source;
  source.object = &object;
  source.global = dyn_cast<GlobalVariable>(object.origin);
  if (source.global)
    return source;
  source.site = dyn_cast<CallBase>(object.origin);
  if (!source.site)
    return std::nullopt;
  source.allocation = findAllocation(*source.site);
  if (!source.allocation)
    return std::nullopt;
  std::tie(source.site, source.siteFrame) =
      outermostSite(*source.allocation, object.frame, {});
  source.fresh = source.site;
  source.freshFrame = source.siteFrame;
  return source;
}

void mpg::findFresh(ArraySource &source,
                    const DenseSet<const CallFrame *> &touching) {
  if (source.site)
    std::tie(source.fresh, source.freshFrame) =
        outermostSite(*source.allocation, source.object->frame, touching);
}

// Numbers that are known in time

/// What \p value, seen from \p frame, is where the call is inserted; null if it
/// is not known there. Without a builder some value that is not null.
Value *FirstTouchCall::reach(Value *value, const CallFrame *frame) {
  if (isa<ConstantInt>(value) || ++steps > maxSteps)
    return steps > maxSteps ? nullptr : value;
  if (auto *argument = dyn_cast<Argument>(value)) {
    if (frame == beforeFrame && argument->getParent() == before->getFunction())
      return value;
    Value *operand = frame && frame->callee == argument->getParent()
                         ? frame->operandFor(*argument)
                         : nullptr;
    return operand ? reach(operand, frame->outer) : nullptr;
  }
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return nullptr;
  if (frame == beforeFrame &&
      instruction->getFunction() == before->getFunction()) {
    auto &dominators = sampler.analyses.getResult<DominatorTreeAnalysis>(
        *before->getFunction());
    if (dominators.dominates(instruction, before))
      return value;
  }
  if (auto *load = dyn_cast<LoadInst>(instruction))
    return reachLoaded(*load, frame);
  if (auto *cast = dyn_cast<CastInst>(instruction);
      cast && cast->getSrcTy()->isIntegerTy() &&
      cast->getDestTy()->isIntegerTy()) {
    Value *inner = reach(cast->getOperand(0), frame);
    if (inner && builder)
      return builder->CreateCast(cast->getOpcode(), inner, cast->getDestTy());
    return inner;
  }
  auto *binary = dyn_cast<BinaryOperator>(instruction);
  if (!binary || binary->isIntDivRem() || !binary->getType()->isIntegerTy())
    return nullptr; // a division may trap where it is not needed
  Value *left = reach(binary->getOperand(0), frame);
  Value *right = left ? reach(binary->getOperand(1), frame) : nullptr;
  if (right && builder)
    return builder->CreateBinOp(binary->getOpcode(), left, right);
  return right;
}

/// A variable that is set once has the same value wherever it is read.
Value *FirstTouchCall::reachLoaded(LoadInst &load, const CallFrame *frame) {
  EvalContext context;
  context.frame = frame;
  auto stores =
      sampler.storesTo(sampler.evaluate(load.getPointerOperand(), context));
  if (stores.size() != 1)
    return nullptr;
  auto *store = dyn_cast<StoreInst>(stores.front().by);
  if (!store || store->getValueOperand()->getType() != load.getType())
    return nullptr;
  return reach(store->getValueOperand(), stores.front().frame);
}

Value *FirstTouchCall::reach(const SCEV *expression, const CallFrame *frame) {
  if (auto *constant = dyn_cast<SCEVConstant>(expression))
    return constant->getValue();
  if (auto *unknown = dyn_cast<SCEVUnknown>(expression))
    return reach(unknown->getValue(), frame);
  if (isa<SCEVZeroExtendExpr, SCEVSignExtendExpr, SCEVTruncateExpr>(
          expression)) {
    const SCEV *operand = cast<SCEVCastExpr>(expression)->getOperand();
    Value *inner = reach(operand, frame);
    if (!inner || !builder)
      return inner;
    return isa<SCEVZeroExtendExpr>(expression)
               ? builder->CreateZExtOrTrunc(inner, expression->getType())
               : builder->CreateSExtOrTrunc(inner, expression->getType());
  }
  auto *several = dyn_cast<SCEVNAryExpr>(expression);
  if (!several || !isa<SCEVAddExpr, SCEVMulExpr>(expression))
    return nullptr;
  Value *result = nullptr;
  for (const SCEV *operand : several->operands()) {
    Value *next = reach(operand, frame);
    if (!next)
      return nullptr;
    if (!result || !builder)
      result = next;
    else
      result = isa<SCEVAddExpr>(expression) ? builder->CreateAdd(result, next)
                                            : builder->CreateMul(result, next);
  }
  return result;
}

/// The recurrence of the worksharing loop in \p expression.
static const SCEVAddRecExpr *ownRecurrence(const SCEV *expression,
                                           const WorksharingLoop &sharing) {
  if (auto *recurrence = dyn_cast<SCEVAddRecExpr>(expression)) {
    // The innermost of two loops runs over iterations, the other over chunks.
    if (!sharing.loops.empty() && recurrence->getLoop() == sharing.loops.back())
      return recurrence;
    return ownRecurrence(recurrence->getStart(), sharing);
  }
  if (auto *sum = dyn_cast<SCEVAddExpr>(expression))
    for (const SCEV *operand : sum->operands())
      if (const SCEVAddRecExpr *found = ownRecurrence(operand, sharing))
        return found;
  return nullptr;
}

Value *FirstTouchCall::stepValue() {
  Type *int64 = Type::getInt64Ty(before->getContext());
  if (std::optional<int64_t> known = use.constantStep())
    return ConstantInt::get(int64, uint64_t(*known));
  Function &function = *use.at->getFunction();
  if (&function == use.sharing->init->getFunction()) {
    auto &evolution =
        sampler.analyses.getResult<ScalarEvolutionAnalysis>(function);
    const Value *pointer = getLoadStorePointerOperand(use.at);
    if (pointer) {
      const SCEV *address = evolution.getSCEV(const_cast<Value *>(pointer));
      if (auto *own = ownRecurrence(address, *use.sharing))
        if (Value *known = reach(own->getStepRecurrence(evolution), use.frame))
          return known;
    }
  }
  // Blocks of equal size then, which do not end where iterations end.
  if (use.sharing->schedule == LoopSchedule::block)
    return ConstantInt::get(int64, 1);
  return nullptr;
}

Value *FirstTouchCall::bytesValue() {
  Type *int64 = Type::getInt64Ty(before->getContext());
  if (source.global) {
    const DataLayout &layout = sampler.module.getDataLayout();
    return ConstantInt::get(
        int64, layout.getTypeAllocSize(source.global->getValueType()));
  }
  const Allocation &allocation = *source.allocation;
  Value *size = reach(allocation.bytes, source.object->frame);
  if (!size || !allocation.count)
    return size;
  Value *count = reach(allocation.count, source.object->frame);
  return count && builder ? builder->CreateMul(size, count) : count;
}

/// Of the worksharing loop or its region; null if unknown.
Value *FirstTouchCall::numberValue(Value *value) {
  // A chunk is an operand in the region's body, num_threads one around it.
  const Instruction *user =
      value == use.region->threads ? use.region->fork : use.sharing->init;
  return reach(value, findFrame(*user->getFunction(), use.frame));
}

/// Computes the operands or, without a builder, checks whether that is
/// possible.
void FirstTouchCall::findNumbers(IRBuilderBase *to) {
  builder = to;
  steps = 0;
  bytes = bytesValue();
  step = stepValue();
  Type *int64 = Type::getInt64Ty(before->getContext());
  Value *zero = ConstantInt::get(int64, 0);
  chunk = use.sharing->chunk ? numberValue(use.sharing->chunk) : zero;
  threads = use.region->threads ? numberValue(use.region->threads) : zero;
  if (!bytes)
    missing = "its size is unknown there";
  else if (!step)
    missing = "the bytes of an iteration are unknown there";
  else if (!chunk)
    missing = "the size of the chunks is unknown there";
  else if (!threads)
    missing = "the number of threads is unknown there";
}

// The call

/// A global array is touched where its first writer is called from the function
/// without callers, in front of all loops there.
static Instruction *placeForGlobal(const SerialWrite &init, Sampler &sampler) {
  Instruction *at = init.at;
  for (const CallFrame *frame = init.frame; frame; frame = frame->outer)
    at = frame->call;
  return inFrontOfLoops(
      at, nullptr,
      sampler.analyses.getResult<LoopAnalysis>(*at->getFunction()));
}

/// As late as possible, so that it takes no memory which the program does not
/// take, and no earlier. But in front of all arrays that one function makes,
/// and while posix_memalign's result is where it was put.
void FirstTouchCall::findPlace(ArrayRef<const SerialWrite *> writes) {
  if (source.fresh) {
    before = source.fresh == source.site && !source.allocation->result
                 ? findPlaceBefore(writes, *source.fresh, sampler)
                 : nullptr;
    if (!before)
      before = source.fresh;
    beforeFrame = source.freshFrame;
  } else if (init) {
    before = placeForGlobal(*init, sampler);
  }
  if (!before)
    missing = "there is no place for it in front of the initialisation";
  auto *call = dyn_cast_or_null<CallInst>(source.fresh);
  if (call && call->isMustTailCall()) {
    before = nullptr;
    missing = "a tail call returns it at once";
  }
}

FirstTouchCall::FirstTouchCall(const ArraySource &source,
                               const ParallelUse &use, const SerialWrite *init,
                               ArrayRef<const SerialWrite *> writes,
                               Sampler &sampler)
    : source(source), use(use), init(init), sampler(sampler) {
  findPlace(writes);
  if (before)
    findNumbers(nullptr);
}

/// Makes \p at conditional; returns the place of what runs under \p condition.
/// The analyses stay right: other calls will ask them.
Instruction *FirstTouchCall::onlyIf(Value *condition, Instruction *at) {
  Function &function = *at->getFunction();
  DomTreeUpdater updater(
      sampler.analyses.getResult<DominatorTreeAnalysis>(function),
      DomTreeUpdater::UpdateStrategy::Eager);
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  return SplitBlockAndInsertIfThen(condition, at->getIterator(), false, nullptr,
                                   &updater, &loops);
}

/// Where code goes that is to run in front of place(): see inFrontOfLoops().
Instruction *FirstTouchCall::placeBefore() {
  BasicBlock *block = before->getParent();
  Function &function = *block->getParent();
  LoopInfo &loops = sampler.analyses.getResult<LoopAnalysis>(function);
  const Loop *loop = loops.getLoopFor(block);
  bool isWay = before == &block->front() && loop &&
               loop->getHeader() == block &&
               !(source.fresh && loop->contains(source.fresh));
  if (!isWay)
    return before;
  return SplitEdge(loop->getLoopPredecessor(), block,
                   &sampler.analyses.getResult<DominatorTreeAnalysis>(function),
                   &loops)
      ->getTerminator();
}

/// The first place after \p call where its result is known.
Instruction *FirstTouchCall::placeAfter(CallBase &call) {
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke)
    return call.getNextNode();
  BasicBlock *normal = invoke->getNormalDest();
  Function &function = *call.getFunction();
  if (!normal->getSinglePredecessor())
    normal =
        SplitEdge(invoke->getParent(), normal,
                  &sampler.analyses.getResult<DominatorTreeAnalysis>(function),
                  &sampler.analyses.getResult<LoopAnalysis>(function));
  return &*normal->getFirstInsertionPt();
}

/// Runs what is inserted at \p at once in the life of the program: a function
/// that is not main may be called again.
Instruction *FirstTouchCall::onceAt(Instruction *at) {
  StringRef name = at->getFunction()->getName();
  if (name == "main" || name == "_QQmain")
    return at;
  Module &module = sampler.module;
  Type *type = Type::getInt8Ty(module.getContext());
  auto *done = new GlobalVariable(module, type, /*isConstant=*/false,
                                  GlobalValue::PrivateLinkage,
                                  ConstantInt::get(type, 0), "mpg.touched");
  IRBuilder<> builder(at);
  Value *isFirst = builder.CreateIsNull(builder.CreateLoad(type, done));
  Instruction *inside = onlyIf(isFirst, at);
  IRBuilder<>(inside).CreateStore(ConstantInt::get(type, 1), done);
  return inside;
}

bool FirstTouchCall::insert() {
  LLVMContext &context = sampler.module.getContext();
  Type *int32 = Type::getInt32Ty(context), *int64 = Type::getInt64Ty(context);
  Type *pointer = PointerType::get(context, 0);
  auto *type =
      FunctionType::get(Type::getVoidTy(context),
                        {pointer, int64, int32, int64, int64, int32}, false);
  Function *touch =
      callIfThere(sampler.module, "mpg_first_touch", type, nullptr);
  if (!touch)
    return false;
  Instruction *at =
      before == source.fresh ? placeAfter(*source.fresh) : placeBefore();
  if (!source.fresh)
    at = onceAt(at);
  Value *array = source.global ? static_cast<Value *>(source.global)
                               : static_cast<Value *>(source.fresh);
  if (source.allocation && source.allocation->result &&
      source.allocation->call == source.fresh) {
    IRBuilder<> test(at);
    Value *isDone = test.CreateIsNull(source.fresh);
    at = onlyIf(isDone, at);
    array = IRBuilder<>(at).CreateLoad(pointer, source.allocation->result);
  }
  IRBuilder<> inserter(at);
  inserter.SetCurrentDebugLocation(before->getDebugLoc());
  findNumbers(&inserter);
  bool isChunk = use.sharing->schedule == LoopSchedule::chunk;
  CallInst *call = inserter.CreateCall(
      touch, {array, inserter.CreateZExtOrTrunc(bytes, int64),
              ConstantInt::get(int32, isChunk),
              inserter.CreateSExtOrTrunc(step, int64),
              inserter.CreateSExtOrTrunc(chunk, int64),
              inserter.CreateZExtOrTrunc(threads, int32)});
  call->setDoesNotThrow();
  return true;
}
