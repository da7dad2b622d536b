// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/CacheShape.h"
#include "llvm/IR/Function.h"

using namespace llvm;
using namespace mpg;

/// HW:a64fx-l1d-way, HW:a64fx-cmgs
static constexpr CacheShape a64fx = {256, 16384, 4, 48};

/// HW:x86-l1d-way. Other processors of AArch64 have lines of this size as well;
/// few of them have fewer ways of less than 4 KiB.
static constexpr CacheShape others = {64, 4096, 8, std::nullopt};

CacheShape mpg::cacheShapeFor(const Function &function) {
  bool isA64fx =
      function.getFnAttribute("target-cpu").getValueAsString() == "a64fx";
  return isA64fx ? a64fx : others;
}
