// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Lookup.h.

#include "prefetch/Lookup.h"
#include "base/Access.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mpg;

/// Of two addresses so near only one is prefetched: the smallest lines.
static constexpr int64_t nearBytes = 64;

/// Whether \p address is in a variable that the first caches hold.
static bool isInSmallVariable(const Value *address) {
  const Value *object = getUnderlyingObject(address);
  auto *table = dyn_cast<GlobalVariable>(object);
  if (!table)
    return isa<AllocaInst>(object);
  // Another file may define what is declared as T table[] or, in Fortran, (1).
  uint64_t size =
      table->getDataLayout().getTypeAllocSize(table->getValueType());
  return size < minTableBytes && (table->hasInitializer() || size > 64);
}

Value *mpg::getPrefetchable(Instruction &access) {
  Use *use = taggableAddress(access);
  return use && use->get()->getType()->isPointerTy() && !access.isVolatile() &&
                 !access.isAtomic() && !isInSmallVariable(*use)
             ? use->get()
             : nullptr;
}

namespace {
/// Takes (u32)(i + 1) for 1 after (u32)i: most are.
struct WithoutWrap : SCEVRewriteVisitor<WithoutWrap> {
  using SCEVRewriteVisitor::SCEVRewriteVisitor;
  const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *wide) {
    auto *sum = dyn_cast<SCEVAddExpr>(wide->getOperand());
    auto *first = sum ? dyn_cast<SCEVConstant>(sum->getOperand(0)) : nullptr;
    if (!first)
      return wide;
    Type *type = wide->getType();
    const SCEV *rest = SE.getMinusSCEV(sum, first);
    return SE.getAddExpr(SE.getSignExtendExpr(first, type),
                         SE.getZeroExtendExpr(rest, type));
  }
};
} // namespace

bool mpg::joinNear(MutableArrayRef<Lookup> lookups, const SCEV *place,
                   const Instruction &access, ScalarEvolution &scev) {
  for (Lookup &known : lookups) {
    auto *apart = dyn_cast<SCEVConstant>(
        WithoutWrap(scev).visit(scev.getMinusSCEV(place, known.place)));
    if (apart && apart->getAPInt().abs().ult(nearBytes)) {
      known.isWritten |= access.mayWriteToMemory();
      return true;
    }
  }
  return false;
}

bool mpg::isFloating(const Instruction &step) {
  return step.getType()->isFPOrFPVectorTy() ||
         llvm::any_of(step.operands(), [](const Value *operand) {
           return operand->getType()->isFPOrFPVectorTy();
         });
}

Instruction *mpg::copyStep(const Instruction &step) {
  Instruction *copy = step.clone();
  copy->dropPoisonGeneratingFlags();
  copy->dropUnknownNonDebugMetadata();
  return copy;
}

Value *mpg::areApart(Value *now, Value *then, uint64_t bytes,
                     IRBuilderBase &builder) {
  Type *number = builder.getInt64Ty();
  Value *apart = builder.CreateSub(builder.CreatePtrToInt(then, number),
                                   builder.CreatePtrToInt(now, number));
  // Frozen: an iteration may skip an access whose index is no good for a shift.
  return builder.CreateFreeze(
      builder.CreateICmpUGT(builder.CreateAdd(apart, builder.getInt64(bytes)),
                            builder.getInt64(2 * bytes)));
}

Instruction *mpg::splitUnlikely(Value *condition, BasicBlock::iterator at,
                                LoopInfo &loops) {
  return SplitBlockAndInsertIfThen(
      condition, at, /*Unreachable=*/false,
      MDBuilder(at->getContext()).createUnlikelyBranchWeights(),
      /*DTU=*/nullptr, &loops);
}
