// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TagForm.h.

#include "tags/TagForm.h"
#include "mpg/hints.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace mpg;

/// The same number in the same register, which nobody knows anything about.
static InlineAsm *opaqueCopy(LLVMContext &context) {
  Type *number = Type::getInt64Ty(context);
  return InlineAsm::get(FunctionType::get(number, {number}, false), "", "=r,0",
                        /*hasSideEffects=*/false);
}

Instruction *mpg::writeTagged(IRBuilder<> &builder, Value *base, uint8_t tag) {
  Value *number = builder.CreatePtrToInt(base, builder.getInt64Ty());
  // Not "or disjoint", which may be taken for an addition; and not folded, when
  // the base is a constant.
  Value *whole = builder.Insert(BinaryOperator::CreateOr(
      number, builder.getInt64(uint64_t(tag) << MPG_TAG_SHIFT)));
  CallInst *opaque =
      builder.CreateCall(opaqueCopy(builder.getContext()), {whole});
  opaque->setDoesNotAccessMemory();
  opaque->setDoesNotThrow();
  opaque->addFnAttr(Attribute::WillReturn); // so that it can be removed
  return builder.Insert(
      CastInst::Create(Instruction::IntToPtr, opaque, base->getType()),
      "tagged");
}

std::optional<TaggedPointer> mpg::readTagged(Instruction &instruction) {
  Value *number, *plain;
  const APInt *bits;
  if (!match(&instruction, m_IntToPtr(m_Value(number))))
    return std::nullopt;
  if (auto *call = dyn_cast<CallInst>(number);
      call && call->getCalledOperand() == opaqueCopy(call->getContext()))
    number = call->getArgOperand(0);
  if (!match(number, m_Or(m_PtrToInt(m_Value(plain)), m_APInt(bits))) ||
      bits->getBitWidth() != 64 || bits->countr_zero() < MPG_TAG_SHIFT)
    return std::nullopt;
  return TaggedPointer{
      &instruction, plain,
      static_cast<uint8_t>(bits->getZExtValue() >> MPG_TAG_SHIFT)};
}

void mpg::dropTag(const TaggedPointer &tagged) {
  tagged.pointer->replaceAllUsesWith(tagged.plain);
  RecursivelyDeleteTriviallyDeadInstructions(tagged.pointer);
}
