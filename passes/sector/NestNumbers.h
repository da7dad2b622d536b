// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of a nest, such as sizes, as code in front of it or of the parallel
// region around it. There a value of the region's body is the operand that the
// region passes to it.

#pragma once

#include "openmp/Allocations.h"
#include "sector/SectorAuto.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include <optional>

namespace mpg {

/// Writes numbers of a nest at the place where its ways are set.
class NumberWriter {
public:
  NumberWriter(const NestPlace &place, Instruction *at, LLVMContext &context)
      : place(place), at(at), number(Type::getInt64Ty(context)) {}
  bool isKnown(const SCEV *expression) const;
  bool isKnown(const ArraySize &size) const;
  Value *write(const SCEV *expression, IRBuilder<> &builder) const;
  Value *write(const ArraySize &size, IRBuilder<> &builder) const;
  /// Whether isAnyIteration() can be written.
  bool isLastKnown() const;
  /// Whether the team has an iteration to share.
  Value *isAnyIteration(IRBuilder<> &builder) const;

private:
  bool isKnown(const Value *value, unsigned depth = 0) const;
  Value *get(Value *value, IRBuilder<> &builder) const;
  bool isBoundLoad(const Value *value, const Value *variable) const;
  Value *fold(const SCEVNAryExpr &expression, IRBuilder<> &builder) const;
  std::optional<Allocation> findObject(const Value &pointer) const;

  const NestPlace &place;
  Instruction *at;
  IntegerType *number;
};

} // namespace mpg
