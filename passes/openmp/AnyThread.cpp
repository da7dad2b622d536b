// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/AnyThread.h"
#include "base/Access.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace mpg;

/// Whether \p function is run by OpenMP's runtime on a thread of a team: its
/// address is given to one of libomp's entry points.
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

/// What reads or sets how a thread rounds and which exceptions it has seen.
/// Threads start with the settings that their parent had when they started.
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
  if (auto *call = dyn_cast<CallBase>(&instruction))
    if (std::string reason = whyNotCalled(*call, library, depth);
        !reason.empty())
      return reason;
  if (instruction.isVolatile() || instruction.isAtomic())
    return "it has volatile or atomic accesses";
  if (isa<AllocaInst>(instruction) && depth == 0)
    return "it has a variable on the stack in each iteration";
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

std::string mpg::whyNotOnAnyThread(const Loop &loop,
                                   const TargetLibraryInfo &library) {
  bool hasFloat = false;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      if (std::string reason = whyNot(instruction, library, 0); !reason.empty())
        return reason;
      auto *phi = dyn_cast<PHINode>(&instruction);
      if (phi && isReorderedSum(*phi))
        return "it has a sum that may be formed in any order (-ffast-math)";
      // Copying a number is no arithmetic.
      hasFloat |= isa<FPMathOperator>(instruction) &&
                  !isa<PHINode, SelectInst>(instruction);
      hasFloat |=
          isa<SIToFPInst, UIToFPInst, FPToSIInst, FPToUIInst>(instruction);
    }
  if (hasFloat && usesFloatingPointEnvironment(*loop.getHeader()->getModule()))
    return "the program sets or reads the floating-point environment, which "
           "each thread has its own of";
  return "";
}
