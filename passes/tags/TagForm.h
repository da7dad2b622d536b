// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one form that a tagged address has, made, recognised, checked and taken
// off here:
//
//   number = ptrtoint base
//   whole  = or number, tag << 56
//   opaque = asm "", "=r,0"(whole)      no instruction, no side effect
//   tagged = inttoptr opaque
//
// The asm keeps code generation from looking through. Without it SelectionDAG
// reads "or" as an addition wherever it can prove the top byte to be zero (a
// masked or unboxed pointer, a handle of 32 bits), takes base and base + 2^56
// for different memory, and deletes stores. The asm follows the "or", which has
// no other user, so that no other rule can join the two either. In front of it,
// it would cost a mov. "freeze" would not help: code generation looks through
// it.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instruction.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// A pointer with a tag, and the pointer it was made from.
struct TaggedPointer {
  Instruction *pointer;
  Value *plain;
  uint8_t tag;
};

/// Puts \p tag on \p base. Returns the pointer with it.
Instruction *writeTagged(IRBuilder<> &builder, Value *base, uint8_t tag);

/// What \p instruction is if it has the form, or the one without asm that
/// version 0.1 wrote.
std::optional<TaggedPointer> readTagged(Instruction &instruction);

/// Puts the plain pointer into the place of \p tagged everywhere.
void dropTag(const TaggedPointer &tagged);

/// Walks all that is computed from \p tagged, which must get nowhere but into
/// loads, stores and prefetches: compared, stored or passed on it would change
/// what the program computes. Returns the first instruction that may not have
/// it, or nullptr.
const Instruction *findEscape(const Instruction &tagged);

/// Turns tags back into marks, for code that is compiled a second time: bitcode
/// that clang -c -emit-llvm wrote has its tags, and the optimiser must not see
/// them (TagWriter.h). Marks the accesses of \p module that have a tag, takes
/// the tags off, and removes the note. Returns whether there were any.
bool removeTags(Module &module);

/// Removes tags just before instrumentation that computes with the addresses of
/// accesses and runs after our last pass: -fsanitize=dataflow, -fmemory-profile
/// and -fsanitize-coverage. The tag would become a part of its addresses, and
/// nothing in a function shows that such instrumentation will run; other
/// sanitizers have an attribute (base/Access.h).
void watchAddressReaders(PassInstrumentationCallbacks &callbacks);

// Alias scopes (AliasScopes.cpp). They keep the knowledge of which
// accesses in loops are to different memory. Alias analysis can no longer find
// the object of a tagged address, so code generation would keep loads after
// unrelated stores. So before tags are written, each object behind a tagged
// access gets an alias scope, and each access lists the scopes it does not
// touch.
//
// A scope covers a whole function run: all iterations of its loops, and all of
// an object. So alias analysis is asked about objects, not about accesses, and
// only where one of the two never changes.

/// Writes scopes on \p tagged, the accesses that will have a tag, and on what
/// else is loaded and stored in the loops of \p function.
void writeObjectScopes(Function &function, ArrayRef<Instruction *> tagged,
                       AAResults &aliases, LoopInfo &loops);

/// Removes the scopes again, for code that is optimised once more: in a loop
/// that the function is inlined into they would also cover other runs.
void eraseObjectScopes(Instruction &access);

} // namespace mpg
