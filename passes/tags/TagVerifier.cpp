// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tags/TagVerifier.h"
#include "base/Access.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

/// Whether \p pointer is computed from \p tagged alone; if \p inOrder, by steps
/// that do not wrap round.
static bool comesFrom(const Value *pointer, const Instruction &tagged,
                      bool inOrder) {
  SmallSetVector<const Value *, 8> origins;
  origins.insert(pointer);
  for (unsigned next = 0; next < origins.size(); ++next) {
    const Value *one = origins[next];
    if (one == &tagged)
      continue;
    if (auto *gep = dyn_cast<GetElementPtrInst>(one)) {
      if (inOrder && !gep->hasNoUnsignedSignedWrap())
        return false;
      origins.insert(gep->getPointerOperand());
    } else if (auto *phi = dyn_cast<PHINode>(one)) {
      for (const Value *incoming : phi->incoming_values())
        origins.insert(incoming);
    } else if (auto *select = dyn_cast<SelectInst>(one)) {
      origins.insert(select->getTrueValue());
      origins.insert(select->getFalseValue());
    } else {
      return false;
    }
  }
  return true;
}

/// Whether \p use is in a comparison or a difference of two pointers that both
/// come from \p tagged: it has the same result without the tag.
static bool comparesTwins(const Use &use, const Instruction &tagged) {
  const User *user = use.getUser();
  if (auto *compare = dyn_cast<ICmpInst>(user))
    return all_of(compare->operands(), [&](const Value *operand) {
      return comesFrom(operand, tagged, !compare->isEquality());
    });
  if (!isa<PtrToIntInst>(user) || !user->hasOneUse())
    return false;
  const User *difference = *user->user_begin();
  return isa<BinaryOperator>(difference) &&
         cast<BinaryOperator>(difference)->getOpcode() == Instruction::Sub &&
         all_of(difference->operands(), [&](const Value *operand) {
           auto *number = dyn_cast<PtrToIntInst>(operand);
           return number && number->getType()->isIntegerTy(64) &&
                  comesFrom(number->getPointerOperand(), tagged,
                            /*inOrder=*/false);
         });
}

const Instruction *mpg::findEscape(const Instruction &tagged) {
  for (const Use *use : findEndUses(tagged))
    if (classifyUse(*use) != Untaggable::no && !comparesTwins(*use, tagged))
      return cast<Instruction>(use->getUser());
  return nullptr;
}
