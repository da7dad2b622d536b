// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ChangeLoops.h.

#include "base/ChangeLoops.h"
#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/PassOptions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <optional>
#include <vector>

using namespace llvm;
using namespace mpg;

/// Whether \p loop computes what can be in no PHI node: convergence, or a place
/// where a garbage collector may run.
static bool hasTokens(const Loop &loop) {
  return llvm::any_of(loop.blocks(), [](const BasicBlock *block) {
    return llvm::any_of(*block, [](const Instruction &instruction) {
      return instruction.getType()->isTokenTy();
    });
  });
}

/// Headers stay the same while loops are changed.
static SmallVector<BasicBlock *, 8> findLoops(Function &function,
                                              FunctionAnalysisManager &analyses,
                                              bool isOuterToo) {
  SmallVector<BasicBlock *, 8> headers;
  for (Loop *loop :
       analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if ((isOuterToo || loop->isInnermost()) && !hasTokens(*loop))
      headers.push_back(loop->getHeader());
  return headers;
}

namespace {
/// A preheader for a loop that has none. It can be taken away again so that
/// the code is as before, to the order of uses, which later passes look at.
class NewPreheader {
public:
  NewPreheader(Loop &loop, FunctionAnalysisManager &analyses);
  void remove();

private:
  struct Merge {
    PHINode *phi;
    SmallVector<Value *, 4> values;
    SmallVector<BasicBlock *, 4> blocks;
  };
  void keepUses(Value &value);

  Loop &loop;
  BasicBlock &header;
  Function &function;
  FunctionAnalysisManager &analyses;
  LoopInfo &loops;
  DominatorTree &dominators;
  MapVector<Value *, SmallVector<Use *, 8>> uses;
  SmallVector<Merge, 4> merges;
};
} // namespace

NewPreheader::NewPreheader(Loop &loop, FunctionAnalysisManager &analyses)
    : loop(loop), header(*loop.getHeader()), function(*header.getParent()),
      analyses(analyses), loops(analyses.getResult<LoopAnalysis>(function)),
      dominators(analyses.getResult<DominatorTreeAnalysis>(function)) {
  keepUses(header);
  for (PHINode &phi : header.phis()) {
    merges.push_back(
        {&phi, to_vector<4>(phi.operand_values()), to_vector<4>(phi.blocks())});
    for (Value *value : phi.operand_values())
      if (!isa<Constant>(value))
        keepUses(*value);
  }
  InsertPreheaderForLoop(&loop, &dominators, &loops, nullptr,
                         /*PreserveLCSSA=*/false);
}

void NewPreheader::keepUses(Value &value) {
  SmallVector<Use *, 8> &places = uses[&value];
  if (places.empty())
    for (Use &use : value.uses())
      places.push_back(&use);
}

void NewPreheader::remove() {
  BasicBlock *front = loop.getLoopPreheader();
  for (auto &[phi, values, blocks] : merges) {
    while (phi->getNumOperands() < values.size())
      phi->addIncoming(values.front(), front);
    for (unsigned at = 0; at < values.size(); ++at) {
      phi->setIncomingValue(at, values[at]);
      phi->setIncomingBlock(at, blocks[at]);
    }
  }
  // The last one that is set becomes the first use.
  for (auto &[value, places] : uses)
    for (Use *use : llvm::reverse(places))
      use->set(value);
  dominators.changeImmediateDominator(
      &header, dominators.getNode(front)->getIDom()->getBlock());
  dominators.eraseNode(front);
  loops.removeBlock(front);
  front->eraseFromParent();
  if (auto *scev = analyses.getCachedResult<ScalarEvolutionAnalysis>(function))
    scev->forgetLoop(&loop);
}

namespace {
struct VisitedLoop {
  DebugLoc place;
  const BasicBlock *header;
  LoopOutcome outcome;
};
} // namespace

/// \returns whether it has changed.
static bool changeFunction(Function &function,
                           FunctionAnalysisManager &analyses,
                           const PassOptions &options, LoopVisitor visit,
                           std::vector<VisitedLoop> &visited, bool isOuterToo) {
  bool isChanged = false;
  for (BasicBlock *header : findLoops(function, analyses, isOuterToo)) {
    Loop *loop = analyses.getResult<LoopAnalysis>(function).getLoopFor(header);
    std::optional<NewPreheader> added;
    if (!loop->getLoopPreheader())
      added.emplace(*loop, analyses);
    if (!loop->getLoopPreheader())
      continue;
    DebugLoc place = userLocation(loop->getStartLoc());
    LoopOutcome outcome;
    if (!isRemainder(*loop))
      outcome = visit(*loop, place, analyses);
    isChanged |= outcome.isChanged;
    if (outcome.isChanged)
      analyses.invalidate(function, PreservedAnalyses::none());
    else if (added)
      added->remove();
    if (outcome.isChanged || outcome.remark)
      visited.push_back({place, header, std::move(outcome)});
  }
  if (options.verify && verifyFunction(function, &errs()))
    report_fatal_error("mpgtools' passes made code that is not valid in " +
                       Twine(function.getName()) + "; please report this");
  return isChanged;
}

/// One remark for each place. A changed loop speaks for its copies, in other
/// functions too. The user cannot change a loop of a system header, so why it
/// stays as it is says nothing.
static void emitRemarks(ArrayRef<VisitedLoop> visited, StringRef subject) {
  RemarkPlaces changed, others;
  auto isFirst = [&](RemarkPlaces &places, const VisitedLoop &one) {
    return places.isNew(subject, one.place, *one.header);
  };
  for (const VisitedLoop &one : visited)
    if (one.outcome.isChanged)
      isFirst(others, one);
  for (const VisitedLoop &one : visited)
    if (one.outcome.remark &&
        (one.outcome.isChanged || isUserCode(one.place)) &&
        isFirst(one.outcome.isChanged ? changed : others, one))
      OptimizationRemarkEmitter(one.header->getParent())
          .emit(*one.outcome.remark);
}

PreservedAnalyses mpg::changeLoops(Module &module,
                                   ModuleAnalysisManager &analyses,
                                   const PassOptions &options,
                                   StringRef subject, LoopVisitor visit,
                                   bool isOuterToo) {
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  std::vector<VisitedLoop> visited;
  bool isChanged = false;
  for (Function &function : module)
    if (!function.isDeclaration())
      isChanged |= changeFunction(function, functions, options, visit, visited,
                                  isOuterToo);
  emitRemarks(visited, subject);
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

bool mpg::isRemainder(const Loop &loop) {
  const BasicBlock *front = loop.getLoopPredecessor();
  if (!front || !getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized"))
    return false;
  // It does not begin to count at 0, nor do the rounds around it.
  const Loop *parent = loop.getParentLoop();
  return llvm::none_of(loop.getHeader()->phis(), [&](const PHINode &phi) {
    const Value *begin = phi.getIncomingValueForBlock(front);
    auto *round = dyn_cast<PHINode>(begin);
    if (round && parent && parent->getHeader() == round->getParent() &&
        parent->getLoopPreheader())
      begin = round->getIncomingValueForBlock(parent->getLoopPreheader());
    auto *number = dyn_cast<ConstantInt>(begin);
    return number && number->isZero();
  });
}

SmallVector<BasicBlock *, 4> mpg::makeOwnExits(const Loop &loop,
                                               const char *suffix) {
  SmallVector<BasicBlock *, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (BasicBlock *&exit : exits) {
    SmallVector<BasicBlock *, 4> inside;
    for (BasicBlock *from : predecessors(exit))
      if (loop.contains(from))
        inside.push_back(from);
    if (inside.size() != size_t(pred_size(exit)))
      exit = SplitBlockPredecessors(exit, inside, suffix);
  }
  return exits;
}

bool mpg::canCopy(const Loop &loop) {
  return loop.isSafeToClone() && !hasTokens(loop);
}

Instruction &mpg::copyLoop(Loop &loop, Value &condition, const char *suffix,
                           LoopInfo &loops, DominatorTree &dominators,
                           ScalarEvolution &scev) {
  formLCSSARecursively(loop, dominators, &loops, &scev);
  BasicBlock *front = loop.getLoopPreheader();
  BasicBlock *begin =
      SplitBlock(front, front->getTerminator(), &dominators, &loops);
  SmallVector<BasicBlock *, 4> ends;
  loop.getUniqueExitBlocks(ends);
  ValueToValueMapTy copies;
  SmallVector<BasicBlock *, 8> blocks;
  cloneLoopWithPreheader(begin, front, &loop, copies, suffix, &loops,
                         &dominators, blocks);
  remapInstructionsInBlocks(blocks, copies);
  for (BasicBlock *next : ends)
    for (PHINode &phi : next->phis())
      for (unsigned at = 0, count = phi.getNumIncomingValues(); at < count;
           ++at)
        if (Value *from = copies.lookup(phi.getIncomingBlock(at))) {
          Value *value = phi.getIncomingValue(at);
          Value *copy = copies.lookup(value);
          phi.addIncoming(copy ? copy : value, cast<BasicBlock>(from));
        }
  Instruction *jump = front->getTerminator();
  Instruction *branch = IRBuilder<>(jump).CreateCondBr(
      &condition, begin, cast<BasicBlock>(copies[begin]));
  jump->eraseFromParent();
  dominators.recalculate(*front->getParent());
  scev.forgetBlockAndLoopDispositions();
  return *branch;
}

bool mpg::getsPrefetches(const Loop &loop, const PassOptions &options) {
  return options.prefetch == Prefetch::far ||
         llvm::any_of(ArrayRef({prefetchMark, prefetchL1Mark, prefetchL2Mark}),
                      [&](const char *mark) {
                        return getOptionalIntLoopAttribute(&loop, mark);
                      });
}

const char *mpg::whyUnchanged(const Function &function) {
  if (const char *reason = whyUntagged(function))
    return reason;
  return function.hasOptSize() ? "it is optimised for size" : nullptr;
}
