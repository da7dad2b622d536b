// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tags/BaseMarker.h"
#include "base/Access.h"
#include "base/Hint.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace mpg;

/// On functions that have marked bases, so that others need not be looked at.
static constexpr StringLiteral functionFlag = "mpg-bases";

/// What \p address is computed from by GEPs.
static Value *baseOf(Value *address) {
  while (auto *gep = dyn_cast<GEPOperator>(address))
    address = gep->getPointerOperand();
  return address;
}

PreservedAnalyses BaseMarkerPass::run(Function &function,
                                      FunctionAnalysisManager &) {
  if (!hasMarks(*function.getParent()))
    return PreservedAnalyses::all();
  MapVector<Value *, Mark> marks;
  for (Instruction &instruction : instructions(function)) {
    Use *address = taggableAddress(instruction);
    if (!address)
      continue;
    Mark own = readMark(instruction);
    Mark &all = marks.try_emplace(baseOf(address->get()), own).first->second;
    if (own.kind != Mark::one || own.tag != all.tag)
      all.kind = Mark::conflict;
  }
  SmallVector<std::pair<GlobalVariable *, uint8_t>, 4> globals;
  for (auto &[base, mark] : marks) {
    if (mark.kind != Mark::one)
      continue;
    if (auto *global = dyn_cast<GlobalVariable>(base))
      globals.push_back({global, mark.tag});
    else
      writeBaseMark(*base, function, mark.tag);
    function.addFnAttr(functionFlag);
  }
  if (!globals.empty())
    writeGlobalMarks(function, globals);
  return PreservedAnalyses::all(); // of what any analysis looks at
}

void mpg::restoreMarks(Function &function) {
  if (!function.hasFnAttribute(functionFlag))
    return;
  BaseMarks bases(function);
  for (Instruction &instruction : instructions(function)) {
    Use *address = taggableAddress(instruction);
    if (!address || readMark(instruction).kind != Mark::none)
      continue;
    Mark mark = bases.of(*baseOf(address->get()));
    if (mark.kind == Mark::one)
      writeMark(instruction, mark.tag);
  }
}
