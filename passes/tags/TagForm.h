// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one form that a tagged address has, made and recognised here:
//
//   number = ptrtoint base
//   whole  = or number, tag << 56
//   opaque = asm "", "=r,0"(whole)      no instruction, no side effect
//   tagged = inttoptr opaque
//
// The asm is what keeps code generation from looking through. Without it
// SelectionDAG reads "or" as an addition wherever it can prove the top byte to
// be zero (a masked or unboxed pointer, a handle of 32 bits), takes base and
// base + 2^56 for different memory, and deletes stores. It stands behind the
// "or", which has no other user, so that no other rule can join the two either.
// In front of it, it would cost a mov. "freeze" is looked through.

#ifndef MPG_PASSES_TAGFORM_H
#define MPG_PASSES_TAGFORM_H

#include "llvm/IR/IRBuilder.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// A pointer with a tag, and what it was made of.
struct TaggedPointer {
  llvm::Instruction *pointer;
  llvm::Value *plain;
  uint8_t tag;
};

/// Puts \p tag on \p base. Returns the pointer with it.
llvm::Instruction *writeTagged(llvm::IRBuilder<> &builder, llvm::Value *base,
                               uint8_t tag);

/// What \p instruction is if it has the form, or the one without asm that
/// version 0.1 wrote.
std::optional<TaggedPointer> readTagged(llvm::Instruction &instruction);

/// Puts the plain pointer into the place of \p tagged everywhere.
void dropTag(const TaggedPointer &tagged);

} // namespace mpg

#endif // MPG_PASSES_TAGFORM_H
