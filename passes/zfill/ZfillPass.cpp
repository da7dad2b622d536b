// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All innermost loops of a module, and a remark for each. See Zfill.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/InnermostLoops.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

namespace {
/// The outcome for one loop.
struct Verdict {
  DebugLoc place;
  BasicBlock *header;
  size_t streams;
  unsigned lines;
  const char *reason; ///< null: lines are zeroed
};
} // namespace

static void emitRemark(const Verdict &verdict) {
  OptimizationRemarkEmitter emitter(verdict.header->getParent());
  if (verdict.reason) {
    emitter.emit(OptimizationRemarkMissed(remarkPass, "ZfillSkipped",
                                          verdict.place, verdict.header)
                 << "no lines are zeroed ahead of this loop's stores: "
                 << ore::NV("Reason", verdict.reason));
    return;
  }
  emitter.emit(OptimizationRemark(remarkPass, "ZfillInserted", verdict.place,
                                  verdict.header)
               << "zeroes lines " << ore::NV("Lines", verdict.lines)
               << " ahead of the stores, of "
               << ore::NV("Streams", unsigned(verdict.streams))
               << (verdict.streams == 1 ? " stream" : " streams"));
}

/// Changes the loop that begins with \p header, if that is possible.
static void visitLoop(BasicBlock &header, FunctionAnalysisManager &analyses,
                      const PassOptions &options,
                      SmallVectorImpl<Verdict> &verdicts) {
  Function &function = *header.getParent();
  Loop *loop = prepareLoop(header, analyses);
  if (!loop)
    return;
  PassOptions own = options;
  if (std::optional<int> lines = getOptionalIntLoopAttribute(loop, zfillMark))
    own.zfill = unsigned(*lines);
  if (!own.zfill && !options.zfill)
    return;
  StreamLoop found = findStoreStreams(*loop, analyses, own);
  if (found.streams.empty() && !found.reason)
    return;
  Verdict verdict = {
      userLocation(loop->getStartLoc()), &header, found.streams.size(),
      own.zfill == zfillAuto ? zfillDefaultLines : own.zfill,
      own.zfill ? whyUnchanged(function) : "the source forbids it (nozfill)"};
  if (!verdict.reason)
    verdict.reason = found.reason;
  if (!verdict.reason)
    verdict.reason = writeZfillLoop(*loop, found, analyses, own);
  if (!verdict.reason)
    analyses.invalidate(function, PreservedAnalyses::none());
  verdicts.push_back(verdict);
}

static void visitFunction(Function &function, FunctionAnalysisManager &analyses,
                          const PassOptions &options, RemarkPlaces &said) {
  SmallVector<Verdict, 8> verdicts;
  for (BasicBlock *header : findInnermostLoops(function, analyses))
    visitLoop(*header, analyses, options, verdicts);
  if (options.verify && verifyFunction(function, &errs()))
    report_fatal_error("mpgtools' passes made code that is not valid in " +
                       Twine(function.getName()) + "; please report this");
  // A loop of the source may have become several: one that zeroes speaks first.
  for (bool zeroes : {true, false})
    for (const Verdict &verdict : verdicts)
      if (zeroes == !verdict.reason &&
          said.isNew("Zfill", verdict.place, *verdict.header))
        emitRemark(verdict);
}

PreservedAnalyses ZfillPass::run(Module &module,
                                 ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if ((!options.zfill && !module.getNamedMetadata(zfillMark)) ||
      !isLastStage(module, stage))
    return PreservedAnalyses::all();
  if (!targetHasTags(module) && options.sim == Simulation::off) {
    warn(module.getContext(), {},
         "zfill has no effect: only AArch64 Linux has DC ZVA");
    return PreservedAnalyses::all();
  }
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  RemarkPlaces said;
  for (Function &function : module)
    if (!function.isDeclaration())
      visitFunction(function, functions, options, said);
  return PreservedAnalyses::none();
}
