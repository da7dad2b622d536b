// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MpgParallelAll.so, a pass plugin for tests: makes every loop and memset
// parallel that ParallelInit allows, wanted or not, where the first-touch pass
// runs. Of nested loops the outermost that can be. Says for each loop what
// became of it (-Rpass=mpg-test, -Rpass-missed=mpg-test).
//
// MPG_PARALLEL_ALL=CHUNK,THREADS,STEP sets the share, 0 for none; STEP is the
// bytes of memset in one iteration (8).

#include "openmp/ParallelInit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include <cstdlib>

using namespace llvm;
using namespace mpg;

namespace {
class ParallelAllPass : public PassInfoMixin<ParallelAllPass> {
public:
  ParallelAllPass() {
    if (const char *text = getenv("MPG_PARALLEL_ALL"))
      for (unsigned &number : share) {
        if (!*text)
          break;
        number = strtoul(text, const_cast<char **>(&text), 10);
        text += *text == ',';
      }
  }
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager);

private:
  void convert(Function &function, FunctionAnalysisManager &analyses);
  bool convertOne(Function &function, FunctionAnalysisManager &analyses);
  bool convert(Loop &loop, FunctionAnalysisManager &analyses);
  bool convert(MemSetInst &memset, FunctionAnalysisManager &analyses);
  void say(DebugLoc where, const BasicBlock &block, StringRef reason);
  LoopShare shareIn(LLVMContext &context) const;

  unsigned share[3] = {0, 0, 8}; ///< chunk, threads, step
  SmallPtrSet<const BasicBlock *, 8> knownLoops;
  SmallPtrSet<const Instruction *, 8> knownSets;
};
} // namespace

LoopShare ParallelAllPass::shareIn(LLVMContext &context) const {
  auto number = [&](unsigned value) {
    return value ? ConstantInt::get(Type::getInt32Ty(context), value) : nullptr;
  };
  return {number(share[0]), number(share[1])};
}

void ParallelAllPass::say(DebugLoc where, const BasicBlock &block,
                          StringRef reason) {
  OptimizationRemarkEmitter emitter(block.getParent());
  if (reason.empty())
    emitter.emit(OptimizationRemark("mpg-test", "Parallel", where, &block)
                 << "parallel");
  else
    emitter.emit(OptimizationRemarkMissed("mpg-test", "Serial", where, &block)
                 << "serial: " << reason);
}

bool ParallelAllPass::convert(Loop &loop, FunctionAnalysisManager &analyses) {
  BasicBlock *header = loop.getHeader();
  if (knownLoops.insert(header).second) {
    DebugLoc where = loop.getStartLoc();
    std::string reason =
        parallelise(loop, shareIn(header->getContext()), analyses);
    say(where, *header, reason);
    if (reason.empty())
      return true;
    for (Loop *inner : loop)
      if (convert(*inner, analyses))
        return true;
  }
  return false;
}

bool ParallelAllPass::convert(MemSetInst &memset,
                              FunctionAnalysisManager &analyses) {
  if (!knownSets.insert(&memset).second)
    return false;
  LLVMContext &context = memset.getContext();
  std::string reason = parallelise(
      memset, *ConstantInt::get(Type::getInt64Ty(context), share[2]),
      shareIn(context), analyses);
  say(memset.getDebugLoc(), *memset.getParent(), reason);
  return reason.empty();
}

bool ParallelAllPass::convertOne(Function &function,
                                 FunctionAnalysisManager &analyses) {
  for (Loop *loop : analyses.getResult<LoopAnalysis>(function))
    if (convert(*loop, analyses))
      return true;
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (auto *memset = dyn_cast<MemSetInst>(&instruction))
        if (convert(*memset, analyses))
          return true;
  return false;
}

void ParallelAllPass::convert(Function &function,
                              FunctionAnalysisManager &analyses) {
  knownLoops.clear();
  knownSets.clear();
  while (convertOne(function, analyses))
    // The serial copy keeps its header and its memset: they are known.
    ;
}

PreservedAnalyses ParallelAllPass::run(Module &module,
                                       ModuleAnalysisManager &manager) {
  auto &analyses = manager.getResult<FunctionAnalysisManagerModuleProxy>(module)
                       .getManager();
  SmallVector<Function *, 16> functions;
  for (Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (Function *function : functions)
    convert(*function, analyses);
  return PreservedAnalyses::none();
}

static void registerPass(PassBuilder &builder) {
  builder.registerOptimizerEarlyEPCallback(
#if LLVM_VERSION_MAJOR >= 20
      [](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
#else
      [](ModulePassManager &passes, OptimizationLevel) {
#endif
        passes.addPass(ParallelAllPass());
      });
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &passes,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (name == "mpg-parallel-all")
          passes.addPass(ParallelAllPass());
        return name == "mpg-parallel-all";
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  PassPluginLibraryInfo info = {};
  info.APIVersion = LLVM_PLUGIN_API_VERSION;
  info.PluginName = "MpgParallelAll";
  info.PluginVersion = MPG_VERSION;
  info.RegisterPassBuilderCallbacks = registerPass;
  return info;
}
