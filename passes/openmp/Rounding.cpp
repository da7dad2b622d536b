// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Rounding.h.

#include "openmp/Rounding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace mpg;

/// Whether the processor has no instruction that rounds a product and a sum
/// together.
static bool hasNoFused(const Function &function) {
  Triple triple(function.getParent()->getTargetTriple());
  auto attribute = [&](const char *name) {
    return function.getFnAttribute(name).getValueAsString();
  };
  StringRef features = attribute("target-features");
  // What other processors have need not be written down.
  static constexpr StringLiteral without[] = {"", "generic", "x86-64",
                                              "x86-64-v2"};
  return triple.getArch() == Triple::x86_64 && !features.contains("+fma") &&
         !features.contains("+avx512") &&
         is_contained(without, attribute("target-cpu"));
}

/// Whether \p value is an operation for which \p question holds, or is chosen,
/// converted or negated from one.
static bool comesFrom(const Value *value,
                      bool (*question)(const FPMathOperator &),
                      unsigned depth = 0) {
  constexpr unsigned maxDepth = 6;
  auto *operation = dyn_cast<Instruction>(value);
  if (!operation)
    return false;
  if (isa<PHINode, SelectInst, FPExtInst, FPTruncInst, UnaryOperator>(
          operation))
    return depth == maxDepth ||
           any_of(operation->operand_values(), [&](const Value *operand) {
             return comesFrom(operand, question, depth + 1);
           });
  auto *math = dyn_cast<FPMathOperator>(operation);
  return math && question(*math);
}

static bool isFusable(const FPMathOperator &math) {
  return math.getOpcode() == Instruction::FMul && math.hasAllowContract();
}

static bool isReorderable(const FPMathOperator &math) {
  return math.hasAllowReassoc();
}

/// Whether a product and a sum are rounded once in some places and twice in
/// others. Of llvm.fmuladd a processor with FMA rounds once, another one twice;
/// LLVM itself once where it knows all three numbers, twice where it knows the
/// factors alone. With flags instead it rounds twice.
static bool isRoundedOnceOrTwice(const FPMathOperator &math,
                                 const Function &function) {
  auto *call = dyn_cast<IntrinsicInst>(&math);
  if (call && call->getIntrinsicID() == Intrinsic::fmuladd)
    return true;
  unsigned code = math.getOpcode();
  return (code == Instruction::FAdd || code == Instruction::FSub) &&
         math.hasAllowContract() && !hasNoFused(function) &&
         any_of(math.operand_values(), [](const Value *operand) {
           return comesFrom(operand, isFusable);
         });
}

const char *mpg::whyRoundedInSeveralWays(const Instruction &instruction) {
  auto *math = dyn_cast<FPMathOperator>(&instruction);
  if (!math || !isa<BinaryOperator, CallBase>(instruction))
    return nullptr;
  if (isRoundedOnceOrTwice(*math, *instruction.getFunction()))
    return "it has a product and a sum that may be rounded once or twice "
           "(-ffp-contract)";
  bool isQuotient = instruction.getOpcode() == Instruction::FDiv;
  if ((isQuotient && math->hasAllowReciprocal()) ||
      ((isQuotient || isa<CallBase>(instruction)) && math->hasApproxFunc()))
    return "it has a quotient or a function that may be approximated "
           "(-ffast-math)";
  if (math->hasAllowReassoc() &&
      any_of(instruction.operand_values(), [](const Value *operand) {
        return comesFrom(operand, isReorderable);
      }))
    return "it has arithmetic that may be done in any order (-ffast-math)";
  return nullptr;
}
