// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Sampler.h. Numbers are 64 bits wide, signed, and never narrowed: samples
// are so small that a program without overflows has none here, so sign
// extensions and truncations have no effect.

#include "openmp/Allocations.h"
#include "openmp/Sampler.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

/// Of values for one address; what is deeper counts as unknown.
static constexpr unsigned maxStepsEach = 4000;

/// Give up on a location with more stores than this.
static constexpr size_t maxStores = 24;

/// A value that the module does not determine: positive, so that arrays have
/// elements, and divisible by most of what sizes are divided by. HASH decides.
static int64_t madeUp(uint64_t hash) {
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9;
  hash ^= hash >> 32;
  return 192 * int64_t(7 + hash % 29);
}

static uint64_t mix(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 31;
}

static int64_t wrap(uint64_t bits) { return static_cast<int64_t>(bits); }

Sampler::Evaluation::Evaluation(Sampler &sampler, const EvalContext &context)
    : sampler(sampler), context(context),
      fixed(sampler.fixed[context.seed % sampleSets]
                         [context.alternative % maxAlternatives]),
      atStart(sampler.samplesAtStart(context)) {
  if (context.iteration)
    changed.on(Dependence::iteration);
  for (auto &[loop, turn] : context.turns)
    if (turn)
      changed.on(sampler.getBit(*loop));
}

bool Sampler::Evaluation::isOver() {
  if (sampler.stepsLeft > 0 && ++steps <= maxStepsEach) {
    --sampler.stepsLeft;
    return false;
  }
  depends.on(Dependence::all);
  return true;
}

// Expressions of loops

/// Conditions are 0 or 1 here.
static int64_t conditioned(int64_t value, const Type &type) {
  return type.isIntegerTy(1) ? value & 1 : value;
}

int64_t Sampler::Evaluation::scevOperands(const SCEVNAryExpr &expression,
                                          Function &function,
                                          const CallFrame *frame) {
  int64_t result = 0;
  bool isFirst = true;
  for (const SCEV *operand : expression.operands()) {
    int64_t next = scev(operand, function, frame);
    if (isFirst) {
      result = next;
      isFirst = false;
      continue;
    }
    switch (expression.getSCEVType()) {
    case scAddExpr:
      result = wrap(uint64_t(result) + uint64_t(next));
      break;
    case scMulExpr:
      result = wrap(uint64_t(result) * uint64_t(next));
      break;
    case scSMaxExpr:
    case scUMaxExpr:
      result = std::max(result, next);
      break;
    default: // minima
      result = std::min(result, next);
    }
  }
  return conditioned(result, *expression.getType());
}

/// \p value truncated to \p bits bits. Only small widths matter (the remainder
/// of a power of two, a condition): other truncations drop bits shifted out of
/// a length, and products of samples are wider than lengths are.
static int64_t narrowed(int64_t value, unsigned bits, bool isSigned) {
  constexpr unsigned maxBits = 16;
  if (bits > maxBits)
    return value;
  return isSigned ? SignExtend64(uint64_t(value), bits)
                  : int64_t(uint64_t(value) & maskTrailingOnes<uint64_t>(bits));
}

int64_t Sampler::Evaluation::evaluateCast(const SCEVCastExpr &cast,
                                          Function &function,
                                          const CallFrame *frame) {
  int64_t operand = scev(cast.getOperand(), function, frame);
  if (!cast.getOperand()->getType()->isIntegerTy())
    return operand;
  unsigned from = cast.getOperand()->getType()->getIntegerBitWidth();
  unsigned to = cast.getType()->getIntegerBitWidth();
  return narrowed(operand, std::min(from, to), isa<SCEVSignExtendExpr>(cast));
}

int64_t Sampler::Evaluation::scev(const SCEV *expression, Function &function,
                                  const CallFrame *frame) {
  if (isOver())
    return 0;
  if (auto *constant = dyn_cast<SCEVConstant>(expression))
    return conditioned(constant->getAPInt().trySExtValue().value_or(0),
                       *constant->getType());
  if (auto *unknown = dyn_cast<SCEVUnknown>(expression))
    return value(unknown->getValue(), frame);
  if (auto *cast = dyn_cast<SCEVCastExpr>(expression))
    return evaluateCast(*cast, function, frame);
  if (auto *division = dyn_cast<SCEVUDivExpr>(expression)) {
    int64_t divisor = scev(division->getRHS(), function, frame);
    int64_t dividend = scev(division->getLHS(), function, frame);
    return divisor > 0 ? dividend / divisor : 0;
  }
  if (auto *recurrence = dyn_cast<SCEVAddRecExpr>(expression)) {
    int64_t start = scev(recurrence->getStart(), function, frame);
    depends.on(sampler.getBit(*recurrence->getLoop()));
    int64_t turn = context.turns.lookup(recurrence->getLoop());
    if (turn == 0)
      return start;
    ScalarEvolution &evolution =
        sampler.analyses.getResult<ScalarEvolutionAnalysis>(function);
    int64_t step =
        scev(recurrence->getStepRecurrence(evolution), function, frame);
    return wrap(uint64_t(start) + uint64_t(step) * uint64_t(turn));
  }
  if (auto *several = dyn_cast<SCEVNAryExpr>(expression))
    return scevOperands(*several, function, frame);
  return 1; // vscale
}

// Values

/// The same in every run of the compiler, unlike the value's address.
uint64_t Sampler::Evaluation::identity(const Value *value) {
  return uint64_t(sampler.getAddress(const_cast<Value *>(value), nullptr));
}

uint64_t Sampler::Evaluation::seed(const Value *value, const CallFrame *frame) {
  uint64_t hash = mix(context.seed + 1, identity(value));
  for (; frame; frame = frame->outer)
    hash = mix(hash, identity(frame->call));
  return hash;
}

int64_t Sampler::Evaluation::value(Value *value, const CallFrame *frame) {
  if (isOver())
    return 0;
  if (auto *constant = dyn_cast<Constant>(value))
    return this->constant(*constant, frame);
  std::pair<const void *, const CallFrame *> key(value, frame);
  if (auto known = fixed.find(key); known != fixed.end())
    return use(known->second);
  if (atStart)
    if (auto known = atStart->find(key);
        known != atStart->end() && !known->second.depends.isOn(changed))
      return use(known->second);
  auto [entry, isNew] = open.insert({key, {{}, false}});
  if (!isNew) {
    isCyclic |= !entry->second.isDone;
    return use(entry->second.sample);
  }
  bool wasCyclic = isCyclic;
  Dependence before = depends;
  isCyclic = false;
  depends = {};
  Sample result = {compute(value, frame), depends};
  bool isAsAtStart = !depends.isUnknown() && !depends.isOn(changed);
  Samples *kept = depends.isFixed() ? &fixed : isAsAtStart ? atStart : nullptr;
  if (isCyclic || kept)
    open.erase(key);
  else
    open[key] = {result, true};
  if (!isCyclic && kept)
    (*kept)[key] = result;
  isCyclic |= wasCyclic;
  depends.on(before);
  return result.value;
}

int64_t Sampler::Evaluation::compute(Value *value, const CallFrame *frame) {
  if (auto *argument = dyn_cast<Argument>(value))
    return this->argument(*argument, frame);
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return 0;
  Function &function = *instruction->getFunction();
  ScalarEvolution &evolution =
      sampler.analyses.getResult<ScalarEvolutionAnalysis>(function);
  if (evolution.isSCEVable(value->getType())) {
    const SCEV *expression = evolution.getSCEV(value);
    auto *unknown = dyn_cast<SCEVUnknown>(expression);
    if (!unknown || unknown->getValue() != value)
      return scev(expression, function, frame);
  }
  if (isa<AllocaInst>(instruction))
    return sampler.getAddress(instruction, frame);
  if (auto *load = dyn_cast<LoadInst>(instruction))
    return this->load(*load, frame);
  if (auto *phi = dyn_cast<PHINode>(instruction))
    return this->phi(*phi, frame);
  if (auto *call = dyn_cast<CallBase>(instruction))
    return this->call(*call, frame);
  return operation(*instruction, frame);
}

int64_t Sampler::Evaluation::constant(const Constant &constant,
                                      const CallFrame *frame) {
  if (auto *number = dyn_cast<ConstantInt>(&constant))
    return conditioned(number->getValue().trySExtValue().value_or(0),
                       *number->getType());
  if (auto *global = dyn_cast<GlobalValue>(&constant))
    return sampler.getAddress(const_cast<GlobalValue *>(global), nullptr);
  auto *expression = dyn_cast<ConstantExpr>(&constant);
  if (!expression || expression->getNumOperands() == 0)
    return 0;
  if (auto *address = dyn_cast<GEPOperator>(expression)) {
    APInt offset(64, 0);
    const DataLayout &layout = sampler.module.getDataLayout();
    Value *base = const_cast<Value *>(
        address->stripAndAccumulateConstantOffsets(layout, offset, true));
    return wrap(uint64_t(value(base, frame)) + offset.getZExtValue());
  }
  return value(expression->getOperand(0), frame);
}

int64_t Sampler::Evaluation::argument(Argument &argument,
                                      const CallFrame *frame) {
  if (frame && frame->callee == argument.getParent())
    if (Value *operand = frame->operandFor(argument))
      return value(operand, frame->outer);
  if (argument.getType()->isPointerTy())
    return sampler.getAddress(&argument, frame);
  return madeUp(seed(&argument, nullptr));
}

/// The value if it can be one: null pointers and values that depend on
/// themselves are not what an array is accessed through.
std::optional<int64_t> Sampler::Evaluation::add(Value *candidate,
                                                const CallFrame *frame) {
  if (isa<ConstantPointerNull, UndefValue>(candidate))
    return std::nullopt;
  bool wasCyclic = isCyclic;
  isCyclic = false;
  int64_t result = value(candidate, frame);
  bool counts = !isCyclic;
  isCyclic = wasCyclic;
  if (!counts) // another start of the cycle has other values
    depends.on(Dependence::all);
  return counts ? std::optional(result) : std::nullopt;
}

/// One value for several possible ones. A number becomes a sample that depends
/// on these and on the \p turns of loops that change it, because the same
/// variable appears as a phi in one function and as memory in another. \p where
/// it appears counts if nothing is known.
int64_t Sampler::Evaluation::choose(ArrayRef<int64_t> values, bool isPointer,
                                    uint64_t turns, uint64_t where) {
  SmallVector<int64_t, 4> distinct;
  for (int64_t value : values)
    if (!is_contained(distinct, value))
      distinct.push_back(value);
  if (distinct.size() == 1)
    return distinct.front();
  if (distinct.empty())
    return madeUp(mix(where, turns));
  if (isPointer) {
    depends.on(Dependence::alternative);
    return distinct[context.alternative % distinct.size()];
  }
  llvm::sort(distinct);
  uint64_t hash = mix(turns, context.seed + 1);
  for (int64_t value : distinct)
    hash = mix(hash, uint64_t(value));
  return madeUp(hash);
}

void Sampler::Evaluation::dependOnLoopsAround(const Instruction &instruction) {
  Function &function = *const_cast<Function *>(instruction.getFunction());
  const Loop *loop =
      sampler.analyses.getResult<LoopAnalysis>(function).getLoopFor(
          instruction.getParent());
  for (; loop; loop = loop->getParentLoop())
    depends.on(sampler.getBit(*loop));
}

/// Mixes in the iterations that the loops around \p instruction have done.
uint64_t Sampler::Evaluation::addTurns(uint64_t hash,
                                       const Instruction &instruction) {
  dependOnLoopsAround(instruction);
  for (auto &[loop, turn] : context.turns)
    if (turn != 0 && loop->contains(&instruction))
      hash = mix(hash, uint64_t(turn));
  const WorksharingLoop *sharing = context.sharing;
  if (sharing && any_of(sharing->loops, [&](const Loop *loop) {
        return loop->contains(&instruction);
      })) {
    depends.on(Dependence::iteration);
    hash = mix(hash, uint64_t(context.iteration));
  }
  return hash;
}

/// The point at which \p function is left on the call path that leads to \p
/// load, reached by \p frame; null if it is not on the path.
static const Instruction *leftAt(const Function &function, const LoadInst &load,
                                 const CallFrame *frame) {
  const Instruction *at = &load;
  for (; at->getFunction() != &function; frame = frame->outer) {
    if (!frame)
      return nullptr;
    at = frame->call;
  }
  return at;
}

/// Whether \p load never sees \p stored: a later one of \p all has always
/// replaced it, or it is only written after the load. Flang writes descriptors
/// of no array, then of an allocation, and again of no array at the end.
static bool isNotSeen(const Sampler::Stored &stored,
                      ArrayRef<Sampler::Stored> all, const LoadInst &load,
                      const CallFrame *frame, Sampler &sampler) {
  Function &function = *stored.by->getFunction();
  const Instruction *left = leftAt(function, load, frame);
  if (!left)
    return false;
  auto &dominators =
      sampler.analyses.getResult<DominatorTreeAnalysis>(function);
  if (!isPotentiallyReachable(stored.by, left, nullptr, &dominators))
    return true;
  return any_of(all, [&](const Sampler::Stored &later) {
    return later.frame == stored.frame &&
           later.by->getFunction() == &function && later.by != stored.by &&
           dominators.dominates(later.by, left) &&
           (dominators.dominates(stored.by, later.by) ||
            !isPotentiallyReachable(later.by, stored.by, nullptr, &dominators));
  });
}

/// The increment that \p by adds to the variable it is stored in; 0 if it is
/// not a counter.
static int64_t counterStep(const Instruction &by) {
  auto *store = dyn_cast<StoreInst>(&by);
  auto *sum =
      store ? dyn_cast<BinaryOperator>(store->getValueOperand()) : nullptr;
  if (!sum || sum->getOpcode() != Instruction::Add)
    return 0;
  auto *before = dyn_cast<LoadInst>(sum->getOperand(0));
  auto *step = dyn_cast<ConstantInt>(sum->getOperand(1));
  bool isCounter = before && step &&
                   before->getPointerOperand() == store->getPointerOperand() &&
                   step->getBitWidth() <= 64;
  return isCounter ? step->getSExtValue() : 0;
}

/// The same for a phi that holds such a variable at the start of \p loop.
static int64_t counterStep(const PHINode &phi, const Loop &loop) {
  const BasicBlock *latch = loop.getLoopLatch();
  const Value *next = latch ? phi.getIncomingValueForBlock(latch) : nullptr;
  if (next)
    for (const User *user : next->users())
      if (auto *store = dyn_cast<StoreInst>(user))
        if (int64_t step = counterStep(*store))
          return step;
  return 0;
}

/// How far a counter in memory, which a parallel region has the address of, has
/// come by the turns of the loops around \p by.
static int64_t countedBy(const Instruction &by, const EvalContext &context) {
  int64_t turns = 0;
  for (auto &[loop, turn] : context.turns)
    if (loop->contains(&by))
      turns += turn;
  return counterStep(by) * turns;
}

int64_t Sampler::Evaluation::load(LoadInst &load, const CallFrame *frame) {
  const WorksharingLoop *sharing = context.sharing;
  if (sharing && (load.getPointerOperand() == sharing->lower ||
                  load.getPointerOperand() == sharing->upper)) {
    depends.on(Dependence::iteration);
    return context.iteration;
  }
  int64_t address = value(load.getPointerOperand(), frame);
  uint64_t where = mix(context.seed + 1, uint64_t(address)), turns = 0;
  int64_t counted = 0;
  SmallVector<int64_t, 4> values;
  ArrayRef<Stored> all = sampler.storesTo(address);
  if (all.size() > maxStores)
    return load.getType()->isPointerTy() ? sampler.getAddress(&load, frame)
                                         : madeUp(where);
  for (const Stored &stored : all) {
    if (all.size() > 1 && isNotSeen(stored, all, load, frame, sampler))
      continue;
    if (counterStep(*stored.by)) {
      dependOnLoopsAround(*stored.by);
      counted += countedBy(*stored.by, context);
      continue;
    }
    turns = addTurns(turns, *stored.by);
    if (auto *store = dyn_cast<StoreInst>(stored.by)) {
      if (auto result = add(store->getValueOperand(), stored.frame))
        values.push_back(*result);
    } else {
      values.push_back(sampler.getAddress(stored.by, stored.frame));
    }
  }
  auto *global = dyn_cast<GlobalVariable>(load.getPointerOperand());
  if (values.empty() && global && global->hasDefinitiveInitializer() &&
      global->getValueType() == load.getType() &&
      (global->isConstant() || global->hasLocalLinkage()))
    return value(global->getInitializer(), nullptr);
  return choose(values, load.getType()->isPointerTy(), turns, where) + counted;
}

int64_t Sampler::Evaluation::phi(PHINode &phi, const CallFrame *frame) {
  // In a loop's first iteration a number is what it was before; a pointer may
  // be one of two that are swapped, in any iteration.
  bool isPointer = phi.getType()->isPointerTy();
  const Loop *loop =
      sampler.analyses.getResult<LoopAnalysis>(*phi.getFunction())
          .getLoopFor(phi.getParent());
  bool isHeader = loop && loop->getHeader() == phi.getParent();
  SmallVector<int64_t, 4> values;
  uint64_t where = seed(&phi, frame);
  uint64_t turns = addTurns(0, phi);
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (isHeader && !isPointer && loop->contains(phi.getIncomingBlock(i)))
      continue;
    if (auto result = add(phi.getIncomingValue(i), frame))
      values.push_back(*result);
  }
  int64_t done = isHeader && !isPointer ? context.turns.lookup(loop) : 0;
  if (int64_t step = done ? counterStep(phi, *loop) : 0)
    return choose(values, isPointer, 0, where) + step * done;
  if (done)
    return madeUp(mix(where, turns));
  return choose(values, isPointer, turns, where);
}

int64_t Sampler::Evaluation::call(CallBase &call, const CallFrame *frame) {
  Function *callee = findCallee(call);
  if (callee && callee->isDeclaration() && findAllocation(call))
    return sampler.getAddress(&call, frame);
  if (callee && !callee->isDeclaration())
    if (Value *returned = sampler.returnedBy(*callee))
      if (const CallFrame *inner = sampler.frames.enter(call, *callee, frame))
        return value(returned, inner);
  if (auto *intrinsic = dyn_cast<MinMaxIntrinsic>(&call)) {
    int64_t left = value(intrinsic->getLHS(), frame);
    int64_t right = value(intrinsic->getRHS(), frame);
    return ICmpInst::isGT(intrinsic->getPredicate()) ? std::max(left, right)
                                                     : std::min(left, right);
  }
  if (Value *same = call.getReturnedArgOperand())
    return value(same, frame);
  return opaque(call, frame);
}

/// Some value that depends on the operands, whatever is done with them.
int64_t Sampler::Evaluation::opaque(Instruction &instruction,
                                    const CallFrame *frame) {
  if (instruction.getType()->isPointerTy())
    return sampler.getAddress(&instruction, frame);
  uint64_t hash = addTurns(seed(&instruction, frame), instruction);
  for (Value *operand : instruction.operands())
    if (const Type &type = *operand->getType();
        type.isIntegerTy() || type.isPointerTy() || type.isFloatingPointTy())
      hash = mix(hash, uint64_t(value(operand, frame)));
  return madeUp(hash);
}

static bool isTrue(CmpInst::Predicate predicate, int64_t left, int64_t right) {
  switch (predicate) {
  case CmpInst::ICMP_EQ:
    return left == right;
  case CmpInst::ICMP_NE:
    return left != right;
  case CmpInst::ICMP_SLT:
  case CmpInst::ICMP_ULT:
    return left < right;
  case CmpInst::ICMP_SLE:
  case CmpInst::ICMP_ULE:
    return left <= right;
  case CmpInst::ICMP_SGT:
  case CmpInst::ICMP_UGT:
    return left > right;
  default:
    return left >= right;
  }
}

int64_t Sampler::Evaluation::operation(Instruction &instruction,
                                       const CallFrame *frame) {
  if (isa<CastInst, FreezeInst>(instruction) &&
      !instruction.getOperand(0)->getType()->isFPOrFPVectorTy())
    return value(instruction.getOperand(0), frame);
  if (auto *compare = dyn_cast<ICmpInst>(&instruction))
    return isTrue(compare->getPredicate(), value(compare->getOperand(0), frame),
                  value(compare->getOperand(1), frame));
  if (auto *select = dyn_cast<SelectInst>(&instruction))
    return value(value(select->getCondition(), frame) ? select->getTrueValue()
                                                      : select->getFalseValue(),
                 frame);
  auto *binary = dyn_cast<BinaryOperator>(&instruction);
  if (!binary || !binary->getType()->isIntegerTy())
    return opaque(instruction, frame);
  int64_t left = value(binary->getOperand(0), frame);
  int64_t right = value(binary->getOperand(1), frame);
  bool isShift = right >= 0 && right < 64;
  switch (binary->getOpcode()) {
  case Instruction::Add:
    return wrap(uint64_t(left) + uint64_t(right));
  case Instruction::Sub:
    return wrap(uint64_t(left) - uint64_t(right));
  case Instruction::Mul:
    return wrap(uint64_t(left) * uint64_t(right));
  case Instruction::SDiv:
  case Instruction::UDiv:
    return right > 0 ? left / right : 0;
  case Instruction::SRem:
  case Instruction::URem:
    return right > 0 ? left % right : 0;
  case Instruction::Shl:
    return isShift ? wrap(uint64_t(left) << right) : 0;
  case Instruction::AShr:
  case Instruction::LShr:
    return isShift ? left >> right : 0;
  case Instruction::And:
    return left & right;
  case Instruction::Or:
    return left | right;
  case Instruction::Xor:
    return left ^ right;
  default:
    return opaque(instruction, frame);
  }
}
