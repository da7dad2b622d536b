// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RemarkPlaces.h"
#include "Diagnostics.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;
using namespace mpg;

void RemarkPlaces::missed(StringRef name, const DebugLoc &location,
                          const BasicBlock &block, AddText addText) {
  DebugLoc where = userLocation(location);
  if (!isUserCode(where))
    return;
  // Without lines a place is its function.
  Place place(name.str(), block.getParent()->getName().str(), 0, 0);
  if (where)
    place = Place(name.str(), where->getFilename().str(), where.getLine(),
                  where.getCol());
  if (!places.insert(place).second)
    return;
  OptimizationRemarkMissed remark(remarkPass, name, where, &block);
  addText(remark);
  OptimizationRemarkEmitter(block.getParent()).emit(remark);
}

void RemarkPlaces::missed(StringRef name, const Instruction &at,
                          AddText addText) {
  missed(name, at.getDebugLoc(), *at.getParent(), addText);
}
