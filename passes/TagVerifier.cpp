// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TagVerifier.h"
#include "Access.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

const Instruction *mpg::findEscape(const Instruction &tagged) {
  SetVector<const Instruction *> pointers;
  pointers.insert(&tagged);
  for (unsigned next = 0; next < pointers.size(); ++next)
    for (const Use &use : pointers[next]->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (isa<PHINode>(user))
        pointers.insert(user);
      else if (isa<GetElementPtrInst>(user) &&
               use.getOperandNo() ==
                   GetElementPtrInst::getPointerOperandIndex())
        pointers.insert(user);
      else if (isa<SelectInst>(user) && use.getOperandNo() > 0)
        pointers.insert(user);
      else if (classifyUse(use) != Untaggable::no)
        return user;
    }
  return nullptr;
}
