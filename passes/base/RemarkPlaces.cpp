// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "base/RemarkPlaces.h"
#include "base/Diagnostics.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;
using namespace mpg;

bool RemarkPlaces::isNew(StringRef name, const DebugLoc &location,
                         const BasicBlock &block, StringRef subject) {
  // Without lines a place is its function.
  Place place(name.str(), block.getParent()->getName().str(), 0, 0,
              subject.str());
  if (location)
    place = Place(name.str(), location->getFilename().str(), location.getLine(),
                  location.getCol(), subject.str());
  return places.insert(place).second;
}

void RemarkPlaces::missed(StringRef name, const DebugLoc &location,
                          const BasicBlock &block, AddText addText) {
  DebugLoc where = userLocation(location);
  if (!isUserCode(where))
    return;
  if (!isNew(name, where, block))
    return;
  OptimizationRemarkMissed remark(remarkPass, name, where, &block);
  addText(remark);
  OptimizationRemarkEmitter(block.getParent()).emit(remark);
}

void RemarkPlaces::missed(StringRef name, const Instruction &at,
                          AddText addText) {
  missed(name, at.getDebugLoc(), *at.getParent(), addText);
}
