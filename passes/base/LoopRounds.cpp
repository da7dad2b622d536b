// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for (left = times; left; left -= n) {
//     n = count(left)
//     n iterations
//   }

#include "base/LoopRounds.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace mpg;

/// Metadata of the branch that ends a round.
static constexpr char roundsMark[] = "mpg.rounds";

/// Lets \p latch go back \p now times, then to \p next.
static void countIterations(BasicBlock &header, BasicBlock &latch,
                            BasicBlock &begin, BasicBlock &next, Value &now) {
  auto *end = cast<BranchInst>(latch.getTerminator());
  IRBuilder<> builder(end);
  PHINode *counter = PHINode::Create(now.getType(), 2, "", header.begin());
  Value *rest = builder.CreateSub(counter, ConstantInt::get(now.getType(), 1));
  counter->addIncoming(&now, &begin);
  counter->addIncoming(rest, &latch);
  builder.CreateCondBr(builder.CreateIsNull(rest), &next, &header)
      ->copyMetadata(*end);
  Value *condition = end->getCondition();
  end->eraseFromParent();
  RecursivelyDeleteTriviallyDeadInstructions(condition);
}

LoopRounds mpg::divideLoop(
    Loop &loop, Value *times,
    function_ref<Value *(IRBuilder<> &builder, Value *left)> count) {
  BasicBlock *front = loop.getLoopPreheader(), *header = loop.getHeader();
  BasicBlock *latch = loop.getLoopLatch();
  BasicBlock *exit = loop.getExitBlock();
  LLVMContext &context = header->getContext();
  Function *function = header->getParent();
  BasicBlock *begin = BasicBlock::Create(context, "", function, header);
  BasicBlock *next =
      BasicBlock::Create(context, "", function, latch->getNextNode());
  front->getTerminator()->replaceSuccessorWith(header, begin);
  for (PHINode &phi : header->phis()) {
    PHINode *first = PHINode::Create(phi.getType(), 2, "", begin->end());
    first->addIncoming(phi.getIncomingValueForBlock(front), front);
    first->addIncoming(phi.getIncomingValueForBlock(latch), next);
    phi.setIncomingValueForBlock(front, first);
    phi.replaceIncomingBlockWith(front, begin);
  }
  IRBuilder<> builder(begin);
  builder.SetCurrentDebugLocation(loop.getStartLoc());
  PHINode *left = builder.CreatePHI(times->getType(), 2);
  Value *now = count(builder, left);
  builder.CreateBr(header);
  builder.SetInsertPoint(next);
  Value *fewer = builder.CreateSub(left, now);
  builder.CreateCondBr(builder.CreateIsNull(fewer), exit, begin)
      ->setMetadata(roundsMark, MDNode::get(context, {}));
  exit->replacePhiUsesWith(latch, next);
  left->addIncoming(times, front);
  left->addIncoming(fewer, next);
  countIterations(*header, *latch, *begin, *next, *now);
  return {begin, next};
}

bool mpg::isRounds(const Loop *loop) {
  return loop && loop->getLoopPreheader() && loop->getLoopLatch() &&
         loop->getLoopLatch()->getTerminator()->hasMetadata(roundsMark);
}

/// left - now, at the end of a round.
static BinaryOperator &getFewer(const Loop &rounds) {
  auto *end = cast<BranchInst>(rounds.getLoopLatch()->getTerminator());
  return *cast<BinaryOperator>(
      cast<ICmpInst>(end->getCondition())->getOperand(0));
}

Value *mpg::getLeft(const Loop &rounds) {
  return getFewer(rounds).getOperand(0);
}

Value *mpg::getNow(const Loop &rounds) {
  return getFewer(rounds).getOperand(1);
}

const SCEV *mpg::getFirstStart(const SCEV *start, const Loop &rounds,
                               ScalarEvolution &scev) {
  auto *line = dyn_cast<SCEVAddRecExpr>(start);
  if (line && line->getLoop() == &rounds)
    return line->getStart();
  ValueToSCEVMapTy first;
  for (PHINode &phi : rounds.getHeader()->phis())
    first[&phi] =
        scev.getSCEV(phi.getIncomingValueForBlock(rounds.getLoopPreheader()));
  return SCEVParameterRewriter::rewrite(start, scev, first);
}
