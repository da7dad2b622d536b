// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass, and its remarks. See Zfill.h.

#include "base/A64fx.h"
#include "base/Access.h"
#include "base/ChangeLoops.h"
#include "base/Diagnostics.h"
#include "base/PassOptions.h"
#include "base/StoreStreams.h"
#include "base/WeakCalls.h"
#include "tags/TagWriter.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static std::unique_ptr<DiagnosticInfoOptimizationBase>
makeRemark(const char *reason, size_t streams, unsigned lines,
           const DebugLoc &place, const BasicBlock *header) {
  if (reason) {
    auto missed = std::make_unique<OptimizationRemarkMissed>(
        remarkPass, "ZfillSkipped", place, header);
    *missed << "no lines are zeroed ahead of this loop's stores: "
            << ore::NV("Reason", reason);
    return missed;
  }
  auto remark = std::make_unique<OptimizationRemark>(
      remarkPass, "ZfillInserted", place, header);
  *remark << "zeroes lines " << ore::NV("Lines", lines)
          << " ahead of the stores, of "
          << ore::NV("Streams", unsigned(streams))
          << (streams == 1 ? " stream" : " streams");
  return remark;
}

/// As for PassOptions::zfill: the source decides, or else the option.
static unsigned chooseLines(const Loop &loop, const PassOptions &options) {
  std::optional<int> lines = getOptionalIntLoopAttribute(&loop, zfillMark);
  return lines ? unsigned(*lines) : options.zfill;
}

/// Changes \p loop, if that is possible.
static LoopOutcome visitLoop(Loop &loop, const DebugLoc &place,
                             FunctionAnalysisManager &analyses,
                             const PassOptions &options, unsigned lines) {
  BasicBlock *header = loop.getHeader();
  PassOptions own = options;
  own.zfill = lines;
  if (!own.zfill && !options.zfill)
    return {};
  StreamLoop found =
      findStoreStreams(loop, analyses, own, StreamUse::overwritten);
  if (found.streams.empty() && !found.reason)
    return {};
  const char *reason = own.zfill ? whyUnchanged(*header->getParent())
                                 : "the source forbids it (nozfill)";
  if (!reason)
    reason = found.reason;
  if (!reason)
    reason = writeZfillLoop(loop, found, analyses, own);
  if (lines == zfillAuto)
    lines = zfillDefaultLines;
  return {!reason,
          makeRemark(reason, found.streams.size(), lines, place, header)};
}

/// Bytes of the smallest block that a loop with \p lines is made for.
static unsigned minBlockBytes(unsigned lines) {
  return lines == zfillAuto ? smallLineBytes : unsigned(a64fx::lineBytes);
}

/// Lets libmpg say, when the program starts, that its machine has other blocks
/// than some loop of \p module is made for.
static void addStartCheck(Module &module, unsigned minBytes) {
  std::string name = "mpg_zfill_start_" + std::to_string(minBytes);
  if (module.getNamedValue(name))
    return;
  LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  auto *type = FunctionType::get(builder.getVoidTy(), builder.getInt32Ty(),
                                 /*isVarArg=*/false);
  Function *check = callIfThere(module, "mpg_check_zero_fill", type, nullptr);
  if (!check)
    return;
  // One of a program's many.
  auto *start = Function::Create(FunctionType::get(builder.getVoidTy(), false),
                                 GlobalValue::LinkOnceODRLinkage, name, module);
  start->setVisibility(GlobalValue::HiddenVisibility);
  start->setComdat(module.getOrInsertComdat(name));
  start->addFnAttr(Attribute::NoUnwind);
  builder.SetInsertPoint(BasicBlock::Create(context, "", start));
  builder.CreateCall(check, builder.getInt32(minBytes));
  builder.CreateRetVoid();
  constexpr int usualPriority = 65535;
  appendToGlobalCtors(module, start, usualPriority, start);
}

PreservedAnalyses ZfillPass::run(Module &module,
                                 ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if ((!options.zfill && !module.getNamedMetadata(zfillMark)) ||
      !isLastStage(module, stage))
    return PreservedAnalyses::all();
  if (!targetHasTags(module) && options.sim == Simulation::off) {
    remarkNoEffect(module, "zfill",
                   "only AArch64 Linux has DC ZVA; on x86-64 "
                   "--mpg-stream-stores saves the same reads");
    return PreservedAnalyses::all();
  }
  unsigned minBytes = 0;
  PreservedAnalyses preserved =
      changeLoops(module, analyses, options, "Zfill",
                  [&](Loop &loop, const DebugLoc &place,
                      FunctionAnalysisManager &functions) {
                    unsigned lines = chooseLines(loop, options);
                    LoopOutcome outcome =
                        visitLoop(loop, place, functions, options, lines);
                    if (outcome.isChanged)
                      minBytes = std::max(minBytes, minBlockBytes(lines));
                    return outcome;
                  });
  if (minBytes && targetHasTags(module))
    addStartCheck(module, minBytes);
  return preserved;
}
