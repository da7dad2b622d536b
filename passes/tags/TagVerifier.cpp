// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tags/TagVerifier.h"
#include "base/Access.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

const Instruction *mpg::findEscape(const Instruction &tagged) {
  for (const Use *use : findEndUses(tagged))
    if (classifyUse(*use) != Untaggable::no)
      return cast<Instruction>(use->getUser());
  return nullptr;
}
