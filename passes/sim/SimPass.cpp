// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-sim: the program reports its accesses to mpgsim, and computes the same.
// Runs after all optimisations, so that the loops are those of the plain
// program; spills of the code generator to the stack are not seen.

#include "LabPasses.h"
#include "base/Access.h"
#include "base/PassOptions.h"
#include "sim/SimFunction.h"
#include "sim/SimTable.h"
#include "tags/TagWriter.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mpg;

// Functions that mpgsim --sample=FUNCTION may name

/// Whether an instruction can call a function of \p convention. Those that
/// answer interrupts, and a GPU's kernels, are entered by the hardware only.
static bool isCallable(CallingConv::ID convention) {
#if LLVM_VERSION_MAJOR >= 22
  return convention != CallingConv::X86_INTR && isCallableCC(convention);
#else
  switch (convention) {
  case CallingConv::X86_INTR:
  case CallingConv::AMDGPU_CS:
  case CallingConv::AMDGPU_CS_Chain:
  case CallingConv::AMDGPU_CS_ChainPreserve:
  case CallingConv::AMDGPU_ES:
  case CallingConv::AMDGPU_GS:
  case CallingConv::AMDGPU_HS:
  case CallingConv::AMDGPU_KERNEL:
  case CallingConv::AMDGPU_LS:
  case CallingConv::AMDGPU_PS:
  case CallingConv::AMDGPU_VS:
  case CallingConv::SPIR_KERNEL:
    return false;
  default:
    return true;
  }
#endif
}

/// Whether \p function can pass on its arguments unchanged.
static bool canCallItself(const Function &function) {
  if (function.isVarArg() || !isCallable(function.getCallingConv()))
    return false;
  for (const Argument &argument : function.args())
    if (argument.hasAttribute(Attribute::InAlloca) ||
        argument.hasAttribute(Attribute::Preallocated) ||
        argument.hasAttribute(Attribute::SwiftError) ||
        argument.hasAttribute(Attribute::Nest))
      return false;
  return true;
}

/// After the memory of all variables, which must not leave the first block.
static Instruction &getBegin(Function &function) {
  BasicBlock &entry = function.getEntryBlock();
  BasicBlock::iterator begin = entry.getFirstNonPHIOrDbgOrAlloca();
  for (Instruction &instruction :
       make_early_inc_range(make_range(std::next(begin), entry.end())))
    if (auto *memory = dyn_cast<AllocaInst>(&instruction))
      if (memory->isStaticAlloca())
        memory->moveBefore(entry, begin);
  return *begin;
}

/// Calls \p function with its own arguments, reports its return, and returns.
static void addCall(IRBuilder<> &builder, Function &function) {
  SmallVector<Value *, 8> arguments;
  for (Argument &argument : function.args())
    arguments.push_back(&argument);
  CallInst *call = builder.CreateCall(&function, arguments);
  call->setAttributes(function.getAttributes());
  for (Attribute::AttrKind one : {Attribute::Memory, Attribute::NoRecurse})
    call->removeFnAttr(one);
  call->setCallingConv(function.getCallingConv());
  call->setTailCallKind(CallInst::TCK_NoTail);
  builder.CreateCall(function.getParent()->getOrInsertFunction(
      "mpg_sim_leave", builder.getVoidTy()));
  if (call->getType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

/// Makes \p function read a byte at its begin, so that the runtime learns when
/// the region of --sample=FUNCTION begins and ends.
///
/// A function whose byte is set calls itself once more, and so has one place
/// where it begins and one where it ends. Watching each of its exits would cost
/// other functions their tail calls, and with those the stack depth that they
/// were written for.
static void addSimRegion(Function &function, SimTable &table) {
  if (!canCallItself(function))
    return;
  function.removeFnAttr(Attribute::NoRecurse);
  IRBuilder<> builder(&getBegin(function));
  DebugLoc location;
  if (DISubprogram *subprogram = function.getSubprogram())
    location = DILocation::get(function.getContext(), subprogram->getLine(), 0,
                               subprogram);
  builder.SetCurrentDebugLocation(location);
  MDNode *rarely =
      MDBuilder(function.getContext()).createUnlikelyBranchWeights();
  Value *byte =
      builder.CreateLoad(builder.getInt8Ty(), table.addFunction(function));
  Instruction *then = SplitBlockAndInsertIfThen(builder.CreateIsNotNull(byte),
                                                &*builder.GetInsertPoint(),
                                                /*Unreachable=*/false, rarely);
  builder.SetInsertPoint(then);
  Value *isEntered =
      builder.CreateCall(function.getParent()->getOrInsertFunction(
          "mpg_sim_enter", builder.getInt32Ty()));
  Instruction *end = SplitBlockAndInsertIfThen(
      builder.CreateIsNotNull(isEntered), then, /*Unreachable=*/true);
  builder.SetInsertPoint(end);
  // Not that of the instruction there: it may have none, and a call must.
  builder.SetCurrentDebugLocation(location);
  addCall(builder, function);
  end->eraseFromParent();
}

// The pass

/// The resolvers of ifuncs and what they call: they run before there is
/// thread-local storage.
static SmallSetVector<const Function *, 8> findEarly(const Module &module) {
  SmallSetVector<const Function *, 8> early;
  for (const GlobalIFunc &choice : module.ifuncs())
    if (const Function *resolver = choice.getResolverFunction())
      early.insert(resolver);
  for (size_t at = 0; at < early.size(); ++at)
    for (const Instruction &instruction : instructions(*early[at]))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = call->getCalledFunction())
          early.insert(callee);
  return early;
}

/// Whether instrumentation is possible in \p function.
static bool canRecord(const Function &function) {
  return !function.isDeclarationForLinker() &&
         !function.hasFnAttribute(Attribute::Naked) &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation);
}

namespace {
struct SimPass : StagePass<SimPass> {
  using StagePass::StagePass;
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};
} // namespace

PreservedAnalyses SimPass::run(Module &module,
                               ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (options.sim == Simulation::off || !isLinux64(module) ||
      !isLastStage(module, stage) || module.getNamedGlobal("mpg.sim.first"))
    return PreservedAnalyses::all();
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  SimTable table(module);
  auto early = findEarly(module);
  for (Function &function : module) {
    if (!canRecord(function) || early.contains(&function))
      continue;
    auto &loops = functions.getResult<LoopAnalysis>(function);
    auto &dominators = functions.getResult<DominatorTreeAnalysis>(function);
    addPreheaders(loops, dominators);
    SimFunction(table, loops,
                functions.getResult<ScalarEvolutionAnalysis>(function),
                functions.getResult<TargetLibraryAnalysis>(function),
                module.getDataLayout(), options.sim == Simulation::check)
        .run(function, dominators);
    addSimRegion(function, table);
    function.removeFnAttr(Attribute::Memory); // it writes records
    functions.invalidate(function, PreservedAnalyses::none());
  }
  table.write();
  return PreservedAnalyses::none();
}

void mpg::addAccessRecorder(ModulePassManager &passes, Stage stage) {
  passes.addPass(SimPass(stage));
}
