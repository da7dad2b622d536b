// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim/SimPass.h"
#include "base/PassOptions.h"
#include "sim/SimFunction.h"
#include "sim/SimRegion.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

/// Whether code of ours can be in \p function: a resolver of an ifunc runs
/// before there is thread-local storage.
static bool canRecord(const Function &function) {
  if (function.isDeclarationForLinker() ||
      function.hasFnAttribute(Attribute::Naked) ||
      function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return false;
  for (const GlobalIFunc &choice : function.getParent()->ifuncs())
    if (choice.getResolverFunction() == &function)
      return false;
  return true;
}

PreservedAnalyses SimPass::run(Module &module,
                               ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (options.sim == Simulation::off || !isLastStage(module, stage) ||
      module.getNamedGlobal("mpg.sim.first"))
    return PreservedAnalyses::all();
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  SimTable table(module);
  for (Function &function : module) {
    if (!canRecord(function))
      continue;
    auto &loops = functions.getResult<LoopAnalysis>(function);
    auto &dominators = functions.getResult<DominatorTreeAnalysis>(function);
    addPreheaders(loops, dominators);
    SimFunction(table, loops,
                functions.getResult<ScalarEvolutionAnalysis>(function),
                module.getDataLayout(), options.sim == Simulation::check)
        .run(function, dominators);
    addSimRegion(function, table);
    function.removeFnAttr(Attribute::Memory); // it writes records
    functions.invalidate(function, PreservedAnalyses::none());
  }
  table.write();
  return PreservedAnalyses::none();
}
