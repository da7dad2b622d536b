// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MpgPasses.so: which pass runs where, and why there. Start reading here.
//
//   hints are read        at the start, where the code looks like the source
//   loops are kept        until the vectoriser: LoopIdiom runs before it
//   first touch           on simplified code, before the vectoriser; for LTO at
//                         the link, which sees all files
//   accesses are told     to mpgsim, if asked for: when nothing optimises any
//                         more, and before tags make addresses hard to read
//   tags are written      after everything else, once: not when compiling for
//                         LTO, where the link optimises again
//
// Nothing here may run before the version of LLVM has been compared: a global
// constructor would crash a compiler of another version.

#include "HostCompiler.h"
#include "base/PassOptions.h"
#include "hints/FirstTouchChoice.h"
#include "hints/HintSource.h"
#include "openmp/FirstTouchPass.h"
#include "openmp/ParallelRemarks.h"
#include "sim/SimPass.h"
#include "tags/KeepMarks.h"
#include "tags/TagForm.h"
#include "tags/TagWriter.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

using namespace llvm;
using namespace mpg;

using Stage = TagWriterPass::Stage;

static void addLast(ModulePassManager &passes, Stage stage) {
  passes.addPass(createModuleToFunctionPassAdaptor(ReleaseLoopsPass()));
  passes.addPass(SimPass(stage));
  passes.addPass(TagWriterPass(stage));
}

/// What is about OpenMP programs.
static void addParallel(ModulePassManager &passes, OptimizationLevel level) {
  if (level == OptimizationLevel::O0)
    return;
  passes.addPass(ParallelRemarksPass());
  passes.addPass(FirstTouchPass());
}

#if LLVM_VERSION_MAJOR >= 20
static bool isPreLink(ThinOrFullLTOPhase phase) {
  return phase == ThinOrFullLTOPhase::ThinLTOPreLink ||
         phase == ThinOrFullLTOPhase::FullLTOPreLink;
}

static void registerByPhase(PassBuilder &builder) {
  builder.registerPipelineEarlySimplificationEPCallback(
      [](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
        passes.addPass(KeepLoopsPass());
      });
  builder.registerOptimizerEarlyEPCallback([](ModulePassManager &passes,
                                              OptimizationLevel level,
                                              ThinOrFullLTOPhase phase) {
    if (!isPreLink(phase))
      addParallel(passes, level);
  });
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes,
                                             OptimizationLevel,
                                             ThinOrFullLTOPhase phase) {
    addLast(passes, isPreLink(phase) ? Stage::preLink : Stage::last);
  });
}
#else
static void registerByPhase(PassBuilder &builder) {
  builder.registerPipelineEarlySimplificationEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        passes.addPass(KeepLoopsPass());
      });
  builder.registerOptimizerEarlyEPCallback(addParallel);
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        addLast(passes, Stage::unknown);
      });
}
#endif

/// Whether our passes are there already: a compiler that is given the plugin
/// twice, by a wrapper and by a build file, registers it twice. If not, what
/// runs in the compiler is watched from now on.
static bool isRegistered(PassBuilder &builder) {
  static constexpr char name[] = "mpg-plugin";
  PassInstrumentationCallbacks *callbacks =
      builder.getPassInstrumentationCallbacks();
  if (!callbacks)
    return false;
  if (!callbacks->getPassNameForClassName(name).empty())
    return true;
  callbacks->addClassToPassName(name, name);
  watchAddressReaders(*callbacks);
  return false;
}

static void registerPasses(PassBuilder &builder) {
  if (isRegistered(builder))
    return;
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, OptimizationLevel level) {
        passes.addPass(HintSourcePass(level != OptimizationLevel::O0));
      });
  registerByPhase(builder);
  // Before a function is inlined into others, after others into it.
  builder.registerScalarOptimizerLateEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(TouchKeeperPass());
      });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(ReleaseLoopsPass());
        passes.addPass(BaseMarkerPass());
        passes.addPass(EarlyTagWriterPass());
      });
  // A link with full LTO has neither of the two places above.
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](ModulePassManager &passes, OptimizationLevel level) {
        addParallel(passes, level);
        passes.addPass(KeepLoopsPass());
      });
  builder.registerFullLinkTimeOptimizationLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        addLast(passes, Stage::last);
      });
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &passes,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (name == "mpg-hints")
          passes.addPass(HintSourcePass(/*optimised=*/true));
        else if (name == "mpg-first-touch")
          passes.addPass(FirstTouchPass());
        else if (name == "mpg-sim")
          passes.addPass(SimPass(Stage::last));
        else if (name == "mpg-tags")
          addLast(passes, Stage::last);
        else
          return false;
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  // A number that no LLVM knows: the compiler refuses the plugin.
  uint32_t version = 1000 + LLVM_VERSION_MAJOR;
  if (compilerFits()) {
    version = LLVM_PLUGIN_API_VERSION;
    registerPassOptions();
    registerDebugCounters();
  }
  PassPluginLibraryInfo info = {};
  info.APIVersion = version;
  info.PluginName = "MpgPasses";
  info.PluginVersion = MPG_VERSION;
  info.RegisterPassBuilderCallbacks = registerPasses;
  return info;
}
