// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TagRemover.h"
#include "Access.h"
#include "HintMarks.h"
#include "HintNoteWriter.h"
#include "mpg/hints.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace mpg;

namespace {
/// inttoptr(or(ptrtoint plain, tag << 56)).
struct TaggedPointer {
  Instruction *pointer;
  Value *plain;
  uint8_t tag;
};
} // namespace

static SmallVector<TaggedPointer, 16> findTags(Function &function) {
  SmallVector<TaggedPointer, 16> found;
  for (Instruction &instruction : instructions(function)) {
    Value *plain;
    const APInt *bits;
    if (match(&instruction,
              m_IntToPtr(m_Or(m_PtrToInt(m_Value(plain)), m_APInt(bits)))) &&
        bits->getBitWidth() == 64 && bits->countr_zero() >= MPG_TAG_SHIFT)
      found.push_back(
          {&instruction, plain,
           static_cast<uint8_t>(bits->getZExtValue() >> MPG_TAG_SHIFT)});
  }
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
  for (Function &function : module)
    for (const TaggedPointer &tagged : findTags(function)) {
      markAccesses(tagged);
      tagged.pointer->replaceAllUsesWith(tagged.plain);
      tagged.pointer->eraseFromParent();
    }
  noteThatThereAreMarks(module);
  return true;
}
