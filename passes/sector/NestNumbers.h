// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of a nest, such as sizes, as code in front of it or of the parallel
// region around it. There a value of the region's body is the operand that the
// region passes to it.

#ifndef MPG_PASSES_NESTNUMBERS_H
#define MPG_PASSES_NESTNUMBERS_H

#include "openmp/Allocations.h"
#include "sector/SectorAuto.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include <optional>

namespace llvm {
class SCEVNAryExpr;
} // namespace llvm

namespace mpg {

/// Writes numbers of a nest at the place where its ways are set.
class NumberWriter {
public:
  NumberWriter(const NestPlace &place, llvm::Instruction *at,
               llvm::LLVMContext &context)
      : place(place), at(at), number(llvm::Type::getInt64Ty(context)) {}
  bool isKnown(const llvm::SCEV *expression) const;
  bool isKnown(const ArraySize &size) const;
  llvm::Value *write(const llvm::SCEV *expression,
                     llvm::IRBuilder<> &builder) const;
  llvm::Value *write(const ArraySize &size, llvm::IRBuilder<> &builder) const;
  /// Whether isAnyIteration() can be written.
  bool isLastKnown() const;
  /// Whether the team has an iteration to share.
  llvm::Value *isAnyIteration(llvm::IRBuilder<> &builder) const;

private:
  bool isKnown(const llvm::Value *value, unsigned depth = 0) const;
  llvm::Value *get(llvm::Value *value, llvm::IRBuilder<> &builder) const;
  bool isBoundLoad(const llvm::Value *value, const llvm::Value *variable) const;
  llvm::Value *fold(const llvm::SCEVNAryExpr &expression,
                    llvm::IRBuilder<> &builder) const;
  std::optional<Allocation> findObject(const llvm::Value &pointer) const;

  const NestPlace &place;
  llvm::Instruction *at;
  llvm::IntegerType *number;
};

} // namespace mpg

#endif // MPG_PASSES_NESTNUMBERS_H
