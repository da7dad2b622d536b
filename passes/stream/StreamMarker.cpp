// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks, in front of the vectoriser, the loops whose elements differ in their
// addresses and in sums alone. LLVM knows that an iteration of a vectorised
// loop begins at a multiple of its lanes, and makes constants, permutations
// and other places of whatever a loop computes from the bits of an element's
// number, such as x[i ^ 1] or i & 7. Such an iteration must begin there.

#include "base/PassOptions.h"
#include "stream/Stream.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

static constexpr char aloneMark[] = "mpg.elements.alone";

/// Whether \p compare, of the element's number, only ends the loop.
static bool onlyEnds(const Loop &loop, const Instruction &compare) {
  return llvm::all_of(compare.users(), [&](const User *user) {
    auto *jump = dyn_cast<BranchInst>(user);
    return jump && loop.isLoopExiting(jump->getParent());
  });
}

/// Whether \p instruction, of a value that grows with the element's number,
/// makes no more than another sum of it.
static bool addsOnly(const Loop &loop, const Instruction &instruction) {
  bool isReal = instruction.getType()->isFPOrFPVectorTy();
  switch (instruction.getOpcode()) {
  case Instruction::PHI:
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::GetElementPtr:
  case Instruction::Load:
  case Instruction::Store:
  case Instruction::Br:
    return true;
  case Instruction::Shl:
    return isa<ConstantInt>(instruction.getOperand(1));
  case Instruction::Trunc:
    return instruction.getType()->getScalarSizeInBits() >= 8;
  case Instruction::ICmp:
    return onlyEnds(loop, instruction);
  case Instruction::Call: {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return isReal || (call && call->isAssumeLikeIntrinsic());
  }
  case Instruction::Select:
  case Instruction::BitCast:
    return false;
  default:
    return isReal || isSum(instruction);
  }
}

static bool areElementsAlone(const Loop &loop) {
  SmallPtrSet<const Value *, 32> grown;
  for (PHINode &phi : loop.getHeader()->phis())
    grown.insert(&phi);
  // In a loop without inner ones, operands come first, but for phis.
  for (bool hasMore = true; hasMore;) {
    hasMore = false;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block) {
        if (llvm::none_of(instruction.operands(), [&](const Value *operand) {
              return grown.contains(operand);
            }))
          continue;
        if (!addsOnly(loop, instruction))
          return false;
        if (!isa<LoadInst>(instruction))
          hasMore |= grown.insert(&instruction).second;
      }
  }
  return true;
}

bool mpg::isMarkedAlone(const Loop &loop) {
  return getBooleanLoopAttribute(&loop, aloneMark);
}

PreservedAnalyses StreamMarkerPass::run(Function &function,
                                        FunctionAnalysisManager &analyses) {
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty() || !loadPassOptions(*function.getParent()).streamStores)
    return PreservedAnalyses::all();
  for (Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && areElementsAlone(*loop))
      addStringMetadataToLoop(loop, aloneMark, 1);
  return PreservedAnalyses::all();
}
