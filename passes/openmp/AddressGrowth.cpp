// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/AddressGrowth.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// Numbers of threads
//===----------------------------------------------------------------------===//

/// Calls of \p function; empty if there may be others than those in sight.
static SmallVector<const CallBase *, 4> callsOf(const Function &function) {
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
  auto calls = callsOf(*argument->getParent());
  return !calls.empty() && all_of(calls, [&](const CallBase *call) {
    return number < call->arg_size() &&
           isThreadNumber(*call->getArgOperand(number), depth + 1);
  });
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

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

static std::optional<int64_t> smallConstant(const SCEV *expression) {
  auto *number = dyn_cast<SCEVConstant>(expression);
  if (!number || number->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  return number->getAPInt().getSExtValue();
}

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

/// A constant comes first.
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
