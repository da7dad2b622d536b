// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tags/TagRemover.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "tags/AliasScopes.h"
#include "tags/HintNoteWriter.h"
#include "tags/TagForm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

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
