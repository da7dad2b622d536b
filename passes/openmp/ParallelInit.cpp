// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ParallelInit.h.

#include "openmp/ParallelInit.h"
#include "base/Scev.h"
#include "openmp/IterationRanges.h"
#include "openmp/ParallelUses.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

/// Below it one thread is done before a team has begun, and the part of a
/// thread is not larger than the page that holds its edge.
static constexpr uint64_t minBytes = minPlacedBytes;
/// Above it numbers of bytes times numbers of threads need not fit 64 bits.
static constexpr uint64_t maxBytes = uint64_t(1) << 48;

namespace {
/// The facts about one loop.
class InitLoop {
public:
  InitLoop(Loop &loop, FunctionAnalysisManager &analyses)
      : loop(loop), function(*loop.getHeader()->getParent()),
        analyses(analyses),
        evolution(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        expander(makeExpander(evolution, function, "mpg")) {}
  std::string examine();
  void transform(const LoopShare &share);

private:
  std::string findShape();
  std::string findInductions();
  std::string findResults();
  const SCEV *settled(const SCEV *expression);
  Value *expand(const SCEV *expression, Type *type = nullptr);
  Value *guard(IRBuilderBase &builder);
  SmallVector<BasicBlock *, 16> copyInto(TeamLoop &team);
  void startFrom(PHINode &phi, Value &step, TeamLoop &team,
                 ValueToValueMapTy &copies);

  Loop &loop;
  Function &function;
  FunctionAnalysisManager &analyses;
  ScalarEvolution &evolution;
  SCEVExpander expander;
  SmallVector<std::pair<PHINode *, const SCEV *>, 4> inductions; ///< and step
  SmallVector<std::pair<PHINode *, const SCEV *>, 2>
      results; ///< after the loop
  SmallVector<RangeCheck, 8> checks;
  DenseMap<Value *, Value *> frozen;
};
} // namespace

/// Brings the loop into the form that the rest expects.
std::string InitLoop::findShape() {
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
  simplifyLoop(&loop, &dominators, &loops, &evolution, &assumptions,
               /*MSSAU=*/nullptr, /*PreserveLCSSA=*/false);
  formLCSSARecursively(loop, dominators, &loops, &evolution);
  if (!loop.isLoopSimplifyForm())
    return "it is entered in several ways";
  // A loop that is tested at its end has its test at one place.
  if (!loop.getExitBlock() || loop.getExitingBlock() != loop.getLoopLatch() ||
      !isa<BranchInst>(loop.getLoopLatch()->getTerminator()))
    return "it can be left in the middle";
  return "";
}

std::string InitLoop::findInductions() {
  for (PHINode &phi : loop.getHeader()->phis()) {
    auto *counter = evolution.isSCEVable(phi.getType())
                        ? dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi))
                        : nullptr;
    if (!counter || !counter->isAffine() || counter->getLoop() != &loop ||
        evolution.getTypeSizeInBits(phi.getType()) > 64)
      return "an iteration uses a value that the one before it has computed";
    inductions.push_back({&phi, counter->getStepRecurrence(evolution)});
  }
  return "";
}

std::string InitLoop::findResults() {
  for (PHINode &phi : loop.getExitBlock()->phis()) {
    Value *value = phi.getIncomingValueForBlock(loop.getExitingBlock());
    if (loop.isLoopInvariant(value)) {
      results.push_back({&phi, nullptr});
      continue;
    }
    const SCEV *end =
        evolution.isSCEVable(value->getType())
            ? evolution.getSCEVAtScope(value, loop.getParentLoop())
            : evolution.getCouldNotCompute();
    if (isa<SCEVCouldNotCompute>(end) || !evolution.isLoopInvariant(end, &loop))
      return "a value that it computes is used after it";
    results.push_back({&phi, end});
  }
  return "";
}

/// Why the iterations cannot run in any order on any thread; "" if they can.
std::string InitLoop::examine() {
  using Step = std::string (InitLoop::*)();
  for (Step step : {&InitLoop::findShape, &InitLoop::findInductions,
                    &InitLoop::findResults})
    if (std::string reason = (this->*step)(); !reason.empty())
      return reason;
  auto &library = analyses.getResult<TargetLibraryAnalysis>(function);
  if (std::string reason = whyNotOnAnyThread(loop, library); !reason.empty())
    return reason;
  auto &aliases = analyses.getResult<AAManager>(function);
  if (std::string reason =
          findRangeChecks(loop, evolution, aliases, minBytes, checks);
      !reason.empty())
    return reason;
  const Instruction *before = loop.getLoopPreheader()->getTerminator();
  SmallVector<const SCEV *, 32> needed = {
      evolution.getBackedgeTakenCount(&loop)};
  for (auto &[phi, step] : inductions)
    needed.push_back(step);
  for (auto &[phi, value] : results)
    needed.push_back(value);
  for (const RangeCheck &check : checks)
    needed.append({check.left, check.right, check.otherLeft, check.otherRight});
  for (const SCEV *expression : needed)
    if (expression && !expander.isSafeToExpandAt(expression, before))
      return "its range cannot be computed before it";
  return "";
}

/// Right after its definition: it may be part of the counter of a loop around.
static Value *freeze(Value &value) {
  std::optional<BasicBlock::iterator> place;
  if (auto *instruction = dyn_cast<Instruction>(&value))
    place = instruction->getInsertionPointAfterDef();
  else if (auto *argument = dyn_cast<Argument>(&value))
    place = argument->getParent()->getEntryBlock().getFirstInsertionPt();
  return place ? new FreezeInst(&value, value.getName() + ".mpg", *place)
               : &value;
}

/// \p expression with every value that might be poison made some number: one
/// access that never happens must not decide about the others.
const SCEV *InitLoop::settled(const SCEV *expression) {
  Instruction *before = loop.getLoopPreheader()->getTerminator();
  SmallVector<Value *, 8> leaves;
  struct Collector {
    SmallVectorImpl<Value *> &leaves;
    bool follow(const SCEV *part) {
      if (auto *leaf = dyn_cast<SCEVUnknown>(part))
        leaves.push_back(leaf->getValue());
      return true;
    }
    bool isDone() const { return false; }
  } collector{leaves};
  visitAll(expression, collector);
  ValueToSCEVMapTy replacements;
  for (Value *leaf : leaves) {
    Value *&value = frozen[leaf];
    if (!value)
      value = isGuaranteedNotToBeUndefOrPoison(
                  leaf, &analyses.getResult<AssumptionAnalysis>(function),
                  before, &analyses.getResult<DominatorTreeAnalysis>(function))
                  ? leaf
                  : freeze(*leaf);
    if (value != leaf)
      replacements[leaf] = evolution.getSCEV(value);
  }
  return SCEVParameterRewriter::rewrite(expression, evolution, replacements);
}

Value *InitLoop::expand(const SCEV *expression, Type *type) {
  return expander.expandCodeFor(settled(expression),
                                type ? type : expression->getType(),
                                loop.getLoopPreheader()->getTerminator());
}

/// Whether the iterations may run in parallel this time.
Value *InitLoop::guard(IRBuilderBase &builder) {
  Value *all = builder.getTrue();
  auto compare = [&](const SCEV *left, const SCEV *right) {
    Value *leftValue = expand(left), *rightValue = expand(right);
    return builder.CreateFreeze(builder.CreateICmpSLE(leftValue, rightValue));
  };
  for (const RangeCheck &check : checks) {
    Value *holds = compare(check.left, check.right);
    if (check.otherLeft)
      holds =
          builder.CreateOr(holds, compare(check.otherLeft, check.otherRight));
    all = builder.CreateAnd(all, holds);
  }
  return all;
}

/// Makes the copy of \p phi begin where iteration team.first does. Arithmetic
/// wraps as often as it did in the loop, so the low bits are right.
void InitLoop::startFrom(PHINode &phi, Value &step, TeamLoop &team,
                         ValueToValueMapTy &copies) {
  IRBuilder<> builder(team.run);
  Value *start = phi.getIncomingValueForBlock(loop.getLoopPreheader());
  Value *first = builder.CreateZExtOrTrunc(team.first, step.getType());
  Value *distance = builder.CreateMul(first, &step);
  Value *value = phi.getType()->isPointerTy()
                     ? builder.CreatePtrAdd(start, distance)
                     : builder.CreateAdd(start, distance);
  auto *copy = cast<PHINode>(copies[&phi]);
  int index = copy->getBasicBlockIndex(loop.getLoopPreheader());
  copy->setIncomingBlock(index, team.run);
  copy->setIncomingValue(index, value);
}

/// Copies the loop to run from team.first to team.last.
SmallVector<BasicBlock *, 16> InitLoop::copyInto(TeamLoop &team) {
  SmallVector<Value *, 4> steps;
  for (auto &[phi, step] : inductions)
    steps.push_back(expand(step));
  ValueToValueMapTy copies;
  SmallVector<BasicBlock *, 16> blocks;
  for (BasicBlock *block : loop.blocks()) {
    BasicBlock *copy = CloneBasicBlock(block, copies, ".mpg", &function);
    copies[block] = copy;
    blocks.push_back(copy);
  }
  copies[loop.getExitBlock()] = team.next;
  remapInstructionsInBlocks(blocks, copies);
  for (unsigned i = 0; i < inductions.size(); i++)
    startFrom(*inductions[i].first, *steps[i], team, copies);

  auto *header = cast<BasicBlock>(copies[loop.getHeader()]);
  auto *latch = cast<BasicBlock>(copies[loop.getLoopLatch()]);
  IRBuilder<>(team.run).CreateBr(header);
  auto *branch = cast<BranchInst>(latch->getTerminator());
  IRBuilder<> builder(header, header->begin());
  PHINode *iteration = builder.CreatePHI(team.first->getType(), 2);
  builder.SetInsertPoint(branch);
  iteration->addIncoming(team.first, team.run);
  iteration->addIncoming(builder.CreateAdd(iteration, builder.getInt64(1)),
                         latch);
  Value *isLast = builder.CreateICmpEQ(iteration, team.last);
  bool endsIfTrue = branch->getSuccessor(0) == team.next;
  branch->setCondition(endsIfTrue ? isLast : builder.CreateNot(isLast));
  return blocks;
}

/// Tells the analyses of \p blocks, which are new in the loop \p around, if
/// any: each with the block that dominates it.
static void addBlocks(ArrayRef<std::pair<BasicBlock *, BasicBlock *>> blocks,
                      Loop *around, FunctionAnalysisManager &analyses) {
  Function &function = *blocks.front().first->getParent();
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  for (auto &[block, dominator] : blocks) {
    dominators.addNewBlock(block, dominator);
    if (around)
      around->addBasicBlockToLoop(block, loops);
  }
}

/// To make them anew for each loop would take time by the square of the loops
/// of a function.
static void keepAnalyses(Function &function,
                         FunctionAnalysisManager &analyses) {
  PreservedAnalyses kept;
  kept.preserve<DominatorTreeAnalysis>();
  kept.preserve<LoopAnalysis>();
  kept.preserve<ScalarEvolutionAnalysis>();
  analyses.invalidate(function, kept);
}

/// Ends the block of \p builder: branches to \p team if \p isAllowed and
/// outside of any parallel region, otherwise to \p serial.
static void chooseTeam(IRBuilderBase &builder, Value *isAllowed,
                       const TeamLoop &team, BasicBlock &query,
                       BasicBlock &serial) {
  builder.CreateCondBr(isAllowed, &query, &serial);
  builder.SetInsertPoint(&query);
  Module &module = *query.getModule();
  FunctionCallee inParallel = module.getOrInsertFunction(
      "omp_in_parallel", FunctionType::get(builder.getInt32Ty(), false));
  Value *isInside = builder.CreateCall(inParallel, {});
  builder.CreateCondBr(builder.CreateIsNull(isInside), team.entry(), &serial);
}

void InitLoop::transform(const LoopShare &share) {
  BasicBlock *before = loop.getLoopPreheader(), *exit = loop.getExitBlock(),
             *header = loop.getHeader();
  IRBuilder<> builder(before->getTerminator());
  builder.SetCurrentDebugLocation(loop.getStartLoc());
  Type *number = builder.getInt64Ty();
  Value *isAllowed = guard(builder);
  Value *iterations =
      builder.CreateAdd(expand(evolution.getNoopOrZeroExtend(
                            evolution.getBackedgeTakenCount(&loop), number)),
                        builder.getInt64(1));
  auto addBlock = [&](const char *name, BasicBlock *next) {
    return BasicBlock::Create(function.getContext(), name, &function, next);
  };
  BasicBlock *after = addBlock("mpg.done", exit);
  for (auto &[phi, value] : results)
    phi->addIncoming(
        value ? expand(value, phi->getType())
              : phi->getIncomingValueForBlock(loop.getExitingBlock()),
        after);
  BranchInst::Create(exit, after)->setDebugLoc(loop.getStartLoc());

  TeamLoop team(builder, iterations, share, *after);
  SmallVector<BasicBlock *, 16> blocks = copyInto(team);
  BasicBlock *query = addBlock("mpg.ask", header),
             *serial = addBlock("mpg.serial", header);
  Instruction *end = before->getTerminator();
  builder.SetInsertPoint(end);
  chooseTeam(builder, isAllowed, team, *query, *serial);
  end->eraseFromParent();
  BranchInst::Create(header, serial)->setDebugLoc(loop.getStartLoc());
  header->replacePhiUsesWith(before, serial);
  BasicBlock *call = team.outline(blocks);

  addBlocks({{query, before}, {serial, before}, {call, query}, {after, call}},
            loop.getParentLoop(), analyses);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  dominators.changeImmediateDominator(header, serial);
  dominators.changeImmediateDominator(exit, before);
  evolution.forgetLoop(&loop);
  for (auto &[phi, value] : results)
    evolution.forgetValue(phi);
  evolution.forgetBlockAndLoopDispositions();
}

std::string mpg::parallelise(Loop &loop, const LoopShare &share,
                             FunctionAnalysisManager &analyses) {
  Function &function = *loop.getHeader()->getParent();
  if (std::string reason = whyNotOutlined(function); !reason.empty())
    return reason;
  {
    InitLoop init(loop, analyses);
    if (std::string reason = init.examine(); !reason.empty())
      return reason;
    init.transform(share);
  }
  keepAnalyses(function, analyses);
  return "";
}

/// Fills team.run: sets the bytes of iterations first to last.
static void setBytes(TeamLoop &team, MemSetInst &memset, Value *bytes,
                     Value *bytesPerIteration) {
  IRBuilder<> builder(team.run);
  builder.SetCurrentDebugLocation(memset.getDebugLoc());
  Value *from = builder.CreateMul(team.first, bytesPerIteration);
  Value *after = builder.CreateAdd(team.last, builder.getInt64(1));
  Value *to = builder.CreateBinaryIntrinsic(
      Intrinsic::umin, builder.CreateMul(after, bytesPerIteration), bytes);
  Value *place = builder.CreatePtrAdd(memset.getRawDest(), from);
  CallInst *part = builder.CreateMemSet(place, memset.getValue(),
                                        builder.CreateSub(to, from), Align(1));
  part->setAAMetadata(memset.getAAMetadata());
  builder.CreateBr(team.next);
}

/// Why no team can do \p memset; "" if one can.
static std::string whyNotByTeam(MemSetInst &memset,
                                FunctionAnalysisManager &analyses) {
  Function &function = *memset.getFunction();
  if (std::string reason = whyNotOutlined(function); !reason.empty())
    return reason;
  if (std::string reason = whyNotOnAnyThread(
          memset, analyses.getResult<TargetLibraryAnalysis>(function));
      !reason.empty())
    return reason;
  if (memset.getDestAddressSpace() != 0)
    return "it uses another address space";
  auto *object =
      dyn_cast<GlobalVariable>(getUnderlyingObject(memset.getDest()));
  if (object && object->isThreadLocal())
    return "it uses a thread-local variable";
  auto *constant = dyn_cast<ConstantInt>(memset.getLength());
  if (constant && constant->getValue().ult(minBytes))
    return "it writes less than 4 MiB";
  return "";
}

std::string mpg::parallelise(MemSetInst &memset, Value &bytesPerIteration,
                             const LoopShare &share,
                             FunctionAnalysisManager &analyses) {
  if (std::string reason = whyNotByTeam(memset, analyses); !reason.empty())
    return reason;
  Function &function = *memset.getFunction();
  BasicBlock *before = memset.getParent();
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  BasicBlock *serial = SplitBlock(before, &memset, &dominators, &loops);
  BasicBlock *after =
      SplitBlock(serial, memset.getNextNode(), &dominators, &loops);
  Instruction *end = before->getTerminator();
  IRBuilder<> builder(end);
  builder.SetCurrentDebugLocation(memset.getDebugLoc());
  Value *bytes = builder.CreateFreeze(
      builder.CreateZExtOrTrunc(memset.getLength(), builder.getInt64Ty()));
  Value *step = builder.CreateFreeze(
      builder.CreateZExtOrTrunc(&bytesPerIteration, builder.getInt64Ty()));
  Value *isAllowed = builder.CreateAnd(
      builder.CreateICmpUGE(bytes, builder.getInt64(minBytes)),
      builder.CreateICmpULT(bytes, builder.getInt64(maxBytes)));
  // 0 becomes the largest number, which is too large.
  Value *stepLessOne = builder.CreateSub(step, builder.getInt64(1));
  isAllowed =
      builder.CreateAnd(isAllowed, builder.CreateICmpULT(stepLessOne, bytes));
  // Computed in any case, so not divided by 0.
  Value *divisor =
      builder.CreateBinaryIntrinsic(Intrinsic::umax, step, builder.getInt64(1));
  Value *iterations = builder.CreateAdd(
      builder.CreateUDiv(builder.CreateSub(bytes, builder.getInt64(1)),
                         divisor),
      builder.getInt64(1));
  TeamLoop team(builder, iterations, share, *after);
  setBytes(team, memset, bytes, divisor);
  BasicBlock *query =
      BasicBlock::Create(function.getContext(), "mpg.ask", &function, serial);
  chooseTeam(builder, isAllowed, team, *query, *serial);
  end->eraseFromParent();
  BasicBlock *call = team.outline({});
  Loop *around = loops.getLoopFor(before);
  addBlocks({{query, before}, {call, query}}, around, analyses);
  dominators.changeImmediateDominator(after, before);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  if (around) // before may have been its last block
    evolution.forgetTopmostLoop(around);
  evolution.forgetBlockAndLoopDispositions();
  keepAnalyses(function, analyses);
  return "";
}
