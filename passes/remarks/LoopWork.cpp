// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopWork.h.

#include "remarks/LoopWork.h"
#include "base/Scev.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

/// A division or square root keeps its unit busy for about as long as this many
/// other instructions take.
static constexpr uint64_t slowInstruction = 10;

static std::optional<uint64_t> constantCount(const Value *value) {
  auto *number = dyn_cast_or_null<ConstantInt>(value);
  if (!number || number->isNegative() ||
      number->getValue().getActiveBits() > 62)
    return std::nullopt;
  return number->getZExtValue();
}

std::optional<uint64_t>
mpg::constantIterations(const WorksharingLoop &sharing) {
  // __kmpc_dispatch_init_*(loc, thread, schedule, lower, upper, stride, chunk):
  // lower is 0 in clang's code and 1 in flang's.
  bool isDispatch = sharing.init->arg_size() == 7;
  const Value *lower = isDispatch ? sharing.init->getArgOperand(3) : nullptr;
  std::optional<uint64_t> first = isDispatch ? constantCount(lower) : 0;
  std::optional<uint64_t> last = constantCount(sharing.last);
  if (!first || !last || *last < *first)
    return std::nullopt;
  return *last - *first + 1;
}

/// Calls that belong to a worksharing loop or to the end of a region.
static bool isPartOfSharing(StringRef name) {
  for (StringRef part : {"__kmpc_for_static_", "__kmpc_dispatch_",
                         "__kmpc_reduce", "__kmpc_end_reduce", "__kmpc_barrier",
                         "__kmpc_global_thread_num", "omp_get_"})
    if (name.starts_with(part))
      return true;
  return false;
}

static std::optional<uint64_t> workOfCall(const CallBase &call) {
  if (auto *memory = dyn_cast<MemIntrinsic>(&call)) {
    std::optional<uint64_t> bytes = constantCount(memory->getLength());
    return bytes ? std::optional<uint64_t>(*bytes / 8 + 1) : std::nullopt;
  }
  if (call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd())
    return 0;
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return intrinsic->getIntrinsicID() == Intrinsic::sqrt ? slowInstruction : 1;
  const Function *callee = call.getCalledFunction();
  if (callee && isPartOfSharing(callee->getName()))
    return 1;
  return std::nullopt;
}

/// IR instructions that become no machine instruction count nothing.
static std::optional<uint64_t> countWork(const Instruction &instruction) {
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return workOfCall(*call);
  if (isa<PHINode, GetElementPtrInst, CastInst>(instruction))
    return 0;
  switch (instruction.getOpcode()) {
  case Instruction::FDiv:
  case Instruction::FRem:
    return slowInstruction;
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    // By a constant it is a multiplication: collapsed loops have one.
    return isa<Constant>(instruction.getOperand(1)) ? 1 : slowInstruction;
  default:
    return 1;
  }
}

static std::optional<uint64_t> countWork(const BasicBlock &block) {
  uint64_t sum = 0;
  for (const Instruction &instruction : block) {
    std::optional<uint64_t> work = countWork(instruction);
    if (!work)
      return std::nullopt;
    sum = SaturatingAdd(sum, *work);
  }
  return sum;
}

static std::optional<uint64_t> constantTrips(const Loop &loop,
                                             ScalarEvolution &evolution) {
  unsigned trips = evolution.getSmallConstantTripCount(&loop);
  return trips ? std::optional<uint64_t>(trips) : std::nullopt;
}

/// How often all threads together run \p loop for each time that what is around
/// it runs.
static std::optional<uint64_t> tripsIn(const Loop &loop,
                                       ArrayRef<WorksharingLoop> sharings,
                                       ScalarEvolution &evolution) {
  for (const WorksharingLoop &sharing : sharings) {
    if (!is_contained(sharing.loops, &loop))
      continue;
    // The loop over chunks only deals out what the one in it counts.
    return &loop == sharing.loops.back() ? constantIterations(sharing) : 1;
  }
  return constantTrips(loop, evolution);
}

std::optional<uint64_t> mpg::workOfRegion(Function &function,
                                          ArrayRef<WorksharingLoop> sharings,
                                          const LoopInfo &loops,
                                          ScalarEvolution &evolution) {
  uint64_t sum = 0;
  for (const BasicBlock &block : function) {
    std::optional<uint64_t> work = countWork(block);
    if (!work)
      return std::nullopt;
    for (const Loop *loop = loops.getLoopFor(&block); loop;
         loop = loop->getParentLoop()) {
      std::optional<uint64_t> trips = tripsIn(*loop, sharings, evolution);
      if (!trips)
        return std::nullopt;
      work = SaturatingMultiply(*work, *trips);
    }
    sum = SaturatingAdd(sum, *work);
  }
  return sum;
}

// Numbers of threads

/// Calls of \p function; empty if there may be others than those in sight.
static SmallVector<const CallBase *, 4> findCalls(const Function &function) {
  SmallVector<const CallBase *, 4> calls;
  if (!function.hasLocalLinkage())
    return calls;
  for (const Use &use : function.uses()) {
    auto *call = dyn_cast<CallBase>(use.getUser());
    if (!call || !call->isCallee(&use))
      return {};
    calls.push_back(call);
  }
  return calls;
}

static bool isThreadNumber(const Value &value, unsigned depth = 0) {
  // Enough for a wrapper of a wrapper; also ends recursion in the program.
  if (depth > 2)
    return false;
  if (auto *cast = dyn_cast<CastInst>(&value))
    return isThreadNumber(*cast->getOperand(0), depth);
  if (auto *call = dyn_cast<CallBase>(&value)) {
    const Function *callee = call->getCalledFunction();
    return callee && callee->getName() == "omp_get_thread_num";
  }
  auto *argument = dyn_cast<Argument>(&value);
  if (!argument)
    return false;
  unsigned number = argument->getArgNo();
  auto calls = findCalls(*argument->getParent());
  return !calls.empty() && all_of(calls, [&](const CallBase *call) {
    return number < call->arg_size() &&
           isThreadNumber(*call->getArgOperand(number), depth + 1);
  });
}

// Expressions

namespace {
struct Growth {
  const Loop *loop; ///< null: from thread to thread

  std::optional<int64_t> of(const SCEV *expression) const;

private:
  bool isFixed(const SCEV *expression) const {
    std::optional<int64_t> growth = of(expression);
    return growth && *growth == 0;
  }
  std::optional<int64_t> ofValue(const Value &value) const;
  std::optional<int64_t> ofSum(ArrayRef<const SCEV *> operands) const;
  std::optional<int64_t> ofProduct(const SCEVMulExpr &product) const;
  std::optional<int64_t> ofSteps(const SCEVAddRecExpr &steps) const;
};
} // namespace

std::optional<int64_t> Growth::ofValue(const Value &value) const {
  if (!loop)
    return isThreadNumber(value) ? 1 : 0;
  auto *instruction = dyn_cast<Instruction>(&value);
  if (instruction && loop->contains(instruction))
    return std::nullopt;
  return 0;
}

std::optional<int64_t> Growth::ofSum(ArrayRef<const SCEV *> operands) const {
  int64_t sum = 0;
  for (const SCEV *operand : operands) {
    std::optional<int64_t> growth = of(operand);
    if (!growth)
      return std::nullopt;
    sum += *growth;
  }
  return sum;
}

/// Of a constant times one other factor: ScalarEvolution sorts constants first.
std::optional<int64_t> Growth::ofProduct(const SCEVMulExpr &product) const {
  std::optional<int64_t> factor = smallConstant(product.getOperand(0));
  std::optional<int64_t> growth = of(product.getOperand(1));
  if (!factor || !growth || product.getNumOperands() != 2)
    return std::nullopt;
  return *factor * *growth;
}

/// Where a loop begins may depend on the thread or on another loop; its steps
/// may not.
std::optional<int64_t> Growth::ofSteps(const SCEVAddRecExpr &steps) const {
  bool stepsFixed = all_of(drop_begin(steps.operands()),
                           [&](const SCEV *step) { return isFixed(step); });
  if (!stepsFixed)
    return std::nullopt;
  if (steps.getLoop() != loop)
    return of(steps.getStart());
  if (!isFixed(steps.getStart()) || steps.getNumOperands() != 2)
    return std::nullopt;
  return smallConstant(steps.getOperand(1));
}

std::optional<int64_t> Growth::of(const SCEV *expression) const {
  if (auto *unknown = dyn_cast<SCEVUnknown>(expression))
    return ofValue(*unknown->getValue());
  if (auto *cast = dyn_cast<SCEVCastExpr>(expression))
    return of(cast->getOperand());
  if (auto *steps = dyn_cast<SCEVAddRecExpr>(expression))
    return ofSteps(*steps);
  ArrayRef<const SCEV *> operands = expression->operands();
  if (isa<SCEVAddExpr>(expression))
    return ofSum(operands);
  if (all_of(operands, [&](const SCEV *operand) { return isFixed(operand); }))
    return 0;
  auto *product = dyn_cast<SCEVMulExpr>(expression);
  return product ? ofProduct(*product) : std::nullopt;
}

std::optional<int64_t> mpg::growthPerThread(const SCEV *expression) {
  return Growth{nullptr}.of(expression);
}

std::optional<int64_t> mpg::growthPerIteration(const SCEV *expression,
                                               const Loop &loop) {
  return Growth{&loop}.of(expression);
}

/// HW:a64fx-l1d-way, HW:a64fx-cmgs
static constexpr CacheShape a64fx = {256, 16384, 4, 48};

/// HW:x86-l1d-way. Other processors of AArch64 have lines of this size as well;
/// few of them have fewer ways of less than 4 KiB.
static constexpr CacheShape others = {64, 4096, 8, std::nullopt};

CacheShape mpg::cacheShapeFor(const Function &function) {
  bool isA64fx =
      function.getFnAttribute("target-cpu").getValueAsString() == "a64fx";
  return isA64fx ? a64fx : others;
}
