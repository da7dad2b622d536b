// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables of the code for prefetches, and which iterations skip it: those for
// which ListLoop.cpp finds it of no use. An iteration without use doubles how
// many skip it, one with a use sets it to none; a variable keeps it for the
// next run. The first iterations of each run skip all. Skipping costs a
// comparison with a number that the loop counts anyway.

#include "prefetch/ListLoop.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;
using namespace mpg;

/// Iterations to skip, in parts of one: the first useless ones skip none.
static constexpr uint64_t skipParts = 8, maxSkipped = 2048;
/// Other runs of the loop begin with a part of what the last one skipped, if it
/// is not too few: threads must not write the state often.
static constexpr uint64_t entryParts = 4 * skipParts, minState = 8 * skipParts;

bool IterationState::findCounter() {
  for (PHINode &phi : lookups.loop.getHeader()->phis()) {
    const SCEVConstant *each = lookups.getStep(phi, lookups.loop);
    // An atomic variable has no 48 bits.
    unsigned bits = each ? each->getAPInt().getBitWidth() : 0;
    if (bits != 32 && bits != 64)
      continue;
    counter = &phi;
    step = each->getAPInt().getSExtValue();
    formDedicatedExitBlocks(&lookups.loop, &lookups.dominators, &lookups.loops,
                            /*MSSAU=*/nullptr, /*PreserveLCSSA=*/false);
    return true;
  }
  return false;
}

/// The counter as a number, or what it is when the loop begins. Frozen: one
/// that the loop never uses may be poison.
static Value *getCount(Value *value, IRBuilder<> &builder) {
  return builder.CreateFreeze(
      value->getType()->isPointerTy()
          ? builder.CreatePtrToInt(value, builder.getInt64Ty())
          : value);
}

static Value *addSteps(Value *count, Value *iterations, int64_t step,
                       IRBuilder<> &builder) {
  return builder.CreateAdd(
      count, builder.CreateMul(iterations,
                               ConstantInt::getSigned(count->getType(), step)));
}

/// Threads share \p state, so a plain access would be a race.
static Value *loadState(GlobalVariable &state, IRBuilder<> &builder) {
  LoadInst *load = builder.CreateLoad(state.getValueType(), &state);
  load->setAtomic(AtomicOrdering::Monotonic);
  return load;
}

Value *IterationState::isActive(Instruction &place) {
  BasicBlock *front = lookups.loop.getLoopPreheader();
  IRBuilder<> builder(front->getTerminator());
  Value *begin = getCount(counter->getIncomingValueForBlock(front), builder);
  Type *type = begin->getType();
  state = new GlobalVariable(*lookups.function.getParent(), type,
                             /*isConstant=*/false, GlobalValue::PrivateLinkage,
                             ConstantInt::get(type, minState), "mpg.skipped");
  lookups.function.removeFnAttr(Attribute::Memory); // it may exclude variables
  Value *known = loadState(*state, builder);
  skipped = addVariable(known, true);
  Value *iterations =
      builder.CreateAdd(builder.CreateLShr(known, Log2_64(entryParts)),
                        ConstantInt::get(type, distance / 2));
  resume = addVariable(addSteps(begin, iterations, step, builder), true);
  builder.SetInsertPoint(&place);
  count = getCount(counter, builder);
  CmpInst::Predicate reaches = step < 0 ? CmpInst::ICMP_SLE : CmpInst::ICMP_SGE;
  return builder.CreateICmp(reaches, count, builder.CreateLoad(type, resume));
}

/// Keeps for the next run of the loop what it skips at its end.
void IterationState::keepSkipped() {
  SmallVector<BasicBlock *, 4> exits;
  lookups.loop.getUniqueExitBlocks(exits);
  for (BasicBlock *exit : exits) {
    if (exit->isEHPad() || !llvm::all_of(predecessors(exit), [&](auto *block) {
          return lookups.loop.contains(block);
        }))
      continue;
    Instruction *at = &*exit->getFirstInsertionPt();
    IRBuilder<> builder(at);
    Type *type = count->getType();
    Value *now = builder.CreateLoad(type, skipped);
    Value *isOther = builder.CreateICmpNE(now, loadState(*state, builder));
    builder.SetInsertPoint(
        splitUnlikely(isOther, at->getIterator(), lookups.loops));
    Value *isFew = builder.CreateICmpULT(now, ConstantInt::get(type, minState));
    now = builder.CreateSelect(isFew, ConstantInt::get(type, 1), now);
    builder.CreateStore(now, state)->setAtomic(AtomicOrdering::Monotonic);
  }
}

void IterationState::skipUseless(Value *isUseful, IRBuilder<> &builder) {
  Type *type = count->getType();
  Value *more = builder.CreateBinaryIntrinsic(
      Intrinsic::umin, builder.CreateShl(builder.CreateLoad(type, skipped), 1),
      ConstantInt::get(type, maxSkipped * skipParts));
  more = builder.CreateSelect(isUseful, ConstantInt::get(type, 1), more);
  builder.CreateStore(more, skipped);
  builder.CreateStore(addSteps(count,
                               builder.CreateLShr(more, Log2_64(skipParts)),
                               step, builder),
                      resume);
  keepSkipped();
}

AllocaInst *IterationState::addVariable(Value *begin, bool isKept) {
  IRBuilder<> builder(&*lookups.function.getEntryBlock().begin());
  AllocaInst *variable = builder.CreateAlloca(begin->getType());
  builder.SetInsertPoint(lookups.loop.getLoopPreheader()->getTerminator());
  if (isKept)
    builder.CreateStore(begin, variable);
  variables[variable] = isKept ? nullptr : cast<Constant>(begin);
  return variable;
}

/// Sets variables back after calls that may free memory.
void IterationState::forget(ArrayRef<BasicBlock *> begins) {
  Constant *yes = ConstantInt::getTrue(lookups.function.getContext());
  AllocaInst *areForgotten = addVariable(yes, true);
  for (BasicBlock *block : lookups.loop.blocks())
    for (Instruction &instruction : *block)
      if (mayFree(instruction))
        new StoreInst(yes, areForgotten, instruction.getIterator());
  for (BasicBlock *block : begins) {
    IRBuilder<> builder(block, block->begin());
    Value *areUnknown = builder.CreateLoad(yes->getType(), areForgotten);
    builder.SetInsertPoint(
        splitUnlikely(areUnknown, builder.GetInsertPoint(), lookups.loops));
    for (auto [variable, begin] : variables)
      if (begin)
        builder.CreateStore(begin, variable);
    builder.CreateStore(builder.getFalse(), areForgotten);
  }
}

void IterationState::finish(ArrayRef<BasicBlock *> begins) {
  if (llvm::any_of(variables, [](auto &one) { return one.second; }))
    forget(begins);
  lookups.dominators.recalculate(lookups.function);
  PromoteMemToReg(to_vector(make_first_range(variables)), lookups.dominators);
}
