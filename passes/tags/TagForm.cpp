// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TagForm.h.

#include "tags/TagForm.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "mpg/hints.h"
#include "tags/TagWriter.h"
#include "llvm/ADT/Any.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace mpg;

/// The same number in the same register, which no analysis knows anything
/// about.
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

const Instruction *mpg::findEscape(const Instruction &tagged) {
  for (const Use *use : findEndUses(tagged))
    if (classifyUse(*use) != Untaggable::no)
      return cast<Instruction>(use->getUser());
  return nullptr;
}

static SmallVector<Instruction *, 16> findTags(Function &function) {
  SmallVector<Instruction *, 16> found;
  for (Instruction &instruction : instructions(function))
    if (readTagged(instruction))
      found.push_back(&instruction);
  return found;
}

/// Marks all accesses whose address is computed from \p tagged.
static void markAccesses(const TaggedPointer &tagged) {
  for (const Use *use : findEndUses(*tagged.pointer))
    if (classifyUse(*use) == Untaggable::no)
      writeMark(*cast<Instruction>(use->getUser()), tagged.tag);
}

bool mpg::removeTags(Module &module) {
  if (!eraseHintNote(module))
    return false;
  for (Function &function : module) {
    for (Instruction *pointer : findTags(function)) {
      TaggedPointer tagged = *readTagged(*pointer);
      markAccesses(tagged);
      dropTag(tagged);
    }
    for (Instruction &instruction : instructions(function))
      eraseObjectScopes(instruction);
  }
  noteThatThereAreMarks(module);
  return true;
}

static bool readsAddresses(StringRef pass) {
  static constexpr StringLiteral readers[] = {
      "DataFlowSanitizerPass", "MemProfilerPass", "SanitizerCoveragePass"};
  return is_contained(readers, pass);
}

/// The module that a pass is about to run on, or on a part of.
static Module *getModule(const Any &ir) {
  const Module *module = nullptr;
  if (const auto *whole = any_cast<const Module *>(&ir))
    module = *whole;
  else if (const auto *function = any_cast<const Function *>(&ir))
    module = (*function)->getParent();
  return const_cast<Module *>(module);
}

static void untag(Module &module) {
  if (!removeTags(module))
    return;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      eraseMark(instruction);
  remarkUntagged(module, "the tags are taken off again, because of "
                         "instrumentation that computes with addresses "
                         "(-fsanitize=dataflow, -fmemory-profile or "
                         "-fsanitize-coverage)");
}

void mpg::watchAddressReaders(PassInstrumentationCallbacks &callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback([](StringRef pass, Any ir) {
    Module *module = readsAddresses(pass) ? getModule(ir) : nullptr;
    if (module)
      untag(*module);
  });
}
