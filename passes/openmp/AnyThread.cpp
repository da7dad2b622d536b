// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On which thread code may run (IterationRanges.h), and whether the source
// alone determines the last bit of a result. Where the compiler may choose, the
// surrounding code decides: the vectors of a loop, the remaining iterations,
// those with known numbers, which the compiler evaluates. A copy of the loop
// that other threads enter elsewhere then has other last bits in some places.

#include "base/Access.h"
#include "openmp/IterationRanges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
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
  // Features of other processors need no entry.
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

/// How \p instruction, with what it is computed from, may be rounded in several
/// ways, of the form "it has a sum that ..."; null if there is one way.
static const char *whyRoundedInSeveralWays(const Instruction &instruction) {
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

/// Whether OpenMP's runtime runs \p function on threads of a team: its address
/// is passed to one of libomp's entry points.
static bool isOutlinedAlready(const Function &function) {
  return any_of(function.uses(), [](const Use &use) {
    auto *call = dyn_cast<CallBase>(use.getUser());
    return call && !call->isCallee(&use) && call->getCalledFunction() &&
           call->getCalledFunction()->getName().starts_with("__kmpc_");
  });
}

bool mpg::isConstructor(const Function &function) {
  if (function.getSection() == ".text.startup")
    return true;
  for (const char *name : {"llvm.global_ctors", "llvm.global_dtors"})
    if (auto *list = function.getParent()->getGlobalVariable(name))
      if (list->hasInitializer() &&
          isa<ConstantArray>(list->getInitializer()) &&
          any_of(list->getInitializer()->operand_values(),
                 [&](const Value *entry) {
                   return is_contained(cast<User>(entry)->operand_values(),
                                       &function);
                 }))
        return true;
  return false;
}

std::string mpg::whyNotOutlined(const Function &function) {
  if (const char *reason = whyUntagged(function))
    return reason;
  if (function.hasAvailableExternallyLinkage())
    return "its function is compiled elsewhere";
  if (function.isPresplitCoroutine())
    return "its function is a coroutine";
  if (function.callsFunctionThatReturnsTwice())
    return "its function calls setjmp";
  if (isConstructor(function))
    return "its function runs before main";
  if (isOutlinedAlready(function))
    return "its function is part of a parallel region";
  return "";
}

/// Functions that read or set a thread's rounding mode or exception flags.
/// Threads inherit the settings that their parent had when they started.
static bool usesFloatingPointEnvironment(const Module &module) {
  for (const char *name :
       {"fesetround", "fesetenv", "feholdexcept", "feupdateenv",
        "feenableexcept", "fedisableexcept", "fetestexcept", "feraiseexcept",
        "feclearexcept", "fegetexceptflag", "fesetexceptflag",
        "llvm.set.rounding", "llvm.x86.sse.ldmxcsr", "llvm.x86.sse.stmxcsr",
        "llvm.aarch64.set.fpcr", "llvm.aarch64.get.fpsr",
        "_FortranAMapException", "_FortranASetUnderflowMode"})
    if (module.getFunction(name))
      return true;
  return any_of(module.functions(), [](const Function &function) {
    // Those of Fortran's IEEE modules, and the intrinsics with a type in their
    // name.
    StringRef name = function.getName();
    return name.starts_with("llvm.set.fp") ||
           name.starts_with("llvm.reset.fp") || name.contains("ieee_set_");
  });
}

/// Whether \p value is a thread-local variable or computed from one.
static bool isThreadLocal(const Value *value) {
  if (auto *variable = dyn_cast<GlobalValue>(value))
    return variable->isThreadLocal();
  auto *expression = dyn_cast<ConstantExpr>(value);
  return expression && any_of(expression->operand_values(), isThreadLocal);
}

/// Whether \p value is the address of a label or computed from one: code with
/// it cannot be moved to another function.
static bool isLabel(const Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  return constant && !isa<GlobalValue>(constant) &&
         (isa<BlockAddress>(constant) ||
          any_of(constant->operand_values(), isLabel));
}

static std::string whyNot(const Instruction &instruction,
                          const TargetLibraryInfo &library, unsigned depth);

static bool isNoCode(const CallBase &call) {
  if (call.isDebugOrPseudoInst() && !isa<PseudoProbeInst>(call))
    return true;
  return call.getIntrinsicID() == Intrinsic::assume ||
         call.getIntrinsicID() == Intrinsic::experimental_noalias_scope_decl;
}

/// Whether the vectoriser may call something else in the place of \p callee,
/// whose last bits differ: which elements it does that for depends on where a
/// thread's iterations begin.
static bool hasVectorVariant(const CallBase &call,
                             const TargetLibraryInfo &library) {
  return library.isFunctionVectorizable(call.getCalledFunction()->getName()) ||
         call.hasFnAttr(VFABI::MappingsAttrName);
}

static std::string whyNotCalled(const CallBase &call,
                                const TargetLibraryInfo &library,
                                unsigned depth) {
  const Function *callee = call.getCalledFunction();
  if (isNoCode(call) || isa<MemSetInst>(call) || isa<MemTransferInst>(call))
    return "";
  if (!callee)
    return "it calls a function through a pointer";
  std::string name = callee->getName().str();
  if (!call.doesNotAccessMemory() || !call.doesNotThrow() ||
      !call.hasFnAttr(Attribute::WillReturn) || call.isConvergent() ||
      callee->getIntrinsicID() == Intrinsic::threadlocal_address)
    return "it calls " + name + ", which may do more than compute its result";
  if (hasVectorVariant(call, library))
    return "it calls " + name + ", whose vector variant may give other results";
  LibFunc known;
  if (callee->isIntrinsic() || library.getLibFunc(*callee, known))
    return "";
  // "Does not access memory" is also said of functions of the C library whose
  // result is of the calling thread: pthread_self, __errno_location.
  constexpr unsigned maxDepth = 4;
  if (!callee->hasExactDefinition() || depth == maxDepth)
    return "it calls " + name + ", which is not seen here";
  for (const Instruction &instruction : instructions(*callee))
    if (std::string reason = whyNot(instruction, library, depth + 1);
        !reason.empty())
      return reason;
  return "";
}

static std::string whyNot(const Instruction &instruction,
                          const TargetLibraryInfo &library, unsigned depth) {
  if (any_of(instruction.operand_values(), isThreadLocal))
    return "it uses a thread-local variable";
  if (any_of(instruction.operand_values(), isLabel))
    return "it uses the address of a label";
  if (auto *call = dyn_cast<CallBase>(&instruction))
    if (std::string reason = whyNotCalled(*call, library, depth);
        !reason.empty())
      return reason;
  if (instruction.isVolatile() || instruction.isAtomic())
    return "it has volatile or atomic accesses";
  if (isa<AllocaInst>(instruction) && depth == 0)
    return "it has a variable on the stack in each iteration";
  if (const char *reason = whyRoundedInSeveralWays(instruction))
    return reason;
  if (instruction.isTerminator() &&
      !isa<BranchInst, SwitchInst, ReturnInst, UnreachableInst>(instruction))
    return "it may throw or jump";
  return "";
}

/// Whether a sum of the inner loop that \p phi belongs to may be formed in
/// another order than written: in which one, the two copies of the loop need
/// not agree about.
static bool isReorderedSum(const PHINode &phi) {
  auto *operation = dyn_cast<FPMathOperator>(&phi);
  return operation && any_of(phi.incoming_values(), [](const Value *value) {
           auto *next = dyn_cast<FPMathOperator>(value);
           return next && !isa<PHINode>(value) && next->hasAllowReassoc();
         });
}

std::string mpg::whyNotOnAnyThread(const Instruction &instruction,
                                   const TargetLibraryInfo &library) {
  return whyNot(instruction, library, 0);
}

std::string mpg::whyNotOnAnyThread(const Loop &loop,
                                   const TargetLibraryInfo &library) {
  bool hasFloat = false;
  for (const BasicBlock *block : loop.blocks()) {
    if (block->hasAddressTaken())
      return "the address of a label in it is used";
    for (const Instruction &instruction : *block) {
      if (std::string reason = whyNot(instruction, library, 0); !reason.empty())
        return reason;
      auto *phi = dyn_cast<PHINode>(&instruction);
      if (phi && isReorderedSum(*phi))
        return "it has a sum that may be formed in any order (-ffast-math)";
      // Copying a number is not arithmetic.
      hasFloat |= isa<FPMathOperator>(instruction) &&
                  !isa<PHINode, SelectInst>(instruction);
      hasFloat |=
          isa<SIToFPInst, UIToFPInst, FPToSIInst, FPToUIInst>(instruction);
    }
  }
  if (hasFloat && usesFloatingPointEnvironment(*loop.getHeader()->getModule()))
    return "the program sets or reads the floating-point environment, which "
           "each thread has its own of";
  return "";
}
