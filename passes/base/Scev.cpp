// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Scev.h.

#include "base/Scev.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

std::optional<Distance> mpg::getDistance(const SCEV *expression) {
  if (std::optional<int64_t> bytes = smallConstant(expression))
    return Distance{*bytes, false};
  if (isa<SCEVVScale>(expression))
    return Distance{1, true};
  // A counter of 32 bits has room for a few registers.
  constexpr int64_t max = 1 << 20;
  if (isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(expression)) {
    std::optional<Distance> one =
        getDistance(cast<SCEVCastExpr>(expression)->getOperand());
    return one && one->bytes >= 0 && one->bytes <= max ? one : std::nullopt;
  }
  auto *product = dyn_cast<SCEVMulExpr>(expression);
  if (!product || product->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> factor = smallConstant(product->getOperand(0));
  std::optional<Distance> one = getDistance(product->getOperand(1));
  return factor && one && one->isScalable
             ? std::optional(Distance{*factor * one->bytes, true})
             : std::nullopt;
}

/// The length of the registers, if \p function is compiled for one; else 0.
static unsigned fixedScale(const Function &function) {
  Attribute range = function.getFnAttribute(Attribute::VScaleRange);
  if (!range.isValid())
    return 0;
  unsigned min = range.getVScaleRangeMin();
  return range.getVScaleRangeMax() == min ? min : 0;
}

std::optional<Distance> mpg::getSize(Type *type, const Function &function) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  if (!layout.typeSizeEqualsStoreSize(type))
    return std::nullopt;
  TypeSize size = layout.getTypeStoreSize(type);
  int64_t bytes = int64_t(size.getKnownMinValue());
  unsigned scale = fixedScale(function);
  if (size.isScalable() && scale)
    return Distance{bytes * scale, false};
  return Distance{bytes, size.isScalable()};
}

SCEVExpander mpg::makeExpander(ScalarEvolution &scev,
                               [[maybe_unused]] const Function &function,
                               const char *name) {
#if LLVM_VERSION_MAJOR >= 22
  return SCEVExpander(scev, name);
#else
  return SCEVExpander(scev, function.getParent()->getDataLayout(), name);
#endif
}

const SCEV *mpg::countTimes(const SCEV *repeats, ScalarEvolution &scev) {
  if (isa<SCEVCouldNotCompute>(repeats) ||
      scev.getTypeSizeInBits(repeats->getType()) > 64)
    return nullptr;
  Type *number = Type::getInt64Ty(scev.getContext());
  return scev.getAddExpr(scev.getNoopOrZeroExtend(repeats, number),
                         scev.getOne(number));
}
