// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which accesses can carry a tag: which instructions, targets and functions,
// and which operand of an instruction is the address.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/Instruction.h"

namespace mpg {

/// Why an instruction that uses an address gets no tag.
enum class Untaggable {
  no,              ///< it can be tagged
  notAnAccess,     ///< does not touch memory through the address
  isVolatile,      ///< what the hardware does with it is not documented
  isAtomic,        ///< the same
  memoryIntrinsic, ///< memcpy, memset: libc compares addresses
  escapes,         ///< a call, a comparison, a store of the address, ...
  merges,          ///< through a pointer that may be another one
  inTask           ///< in an OpenMP task
};

/// Whether \p use, an operand of an instruction, is the address of a plain
/// load, store or prefetch (vector and masked forms included).
Untaggable classifyUse(const Use &use);

/// The final uses of \p pointer and of the pointers computed from it, without
/// those that only compute another pointer.
SmallVector<const Use *, 16> findEndUses(const Instruction &pointer);

/// The base from which GEPs compute \p address, or as far as their indices are
/// constants. In unreachable code a GEP can be computed from itself; then that.
Value *withoutSteps(Value *address, bool onlyConstant = false);

/// The address operand of a load, store or prefetch that can be tagged, a
/// pointer or a vector of pointers; nullptr for any other instruction.
Use *taggableAddress(Instruction &instruction);

/// Whether \p instruction is a software prefetch.
bool isPrefetch(const Instruction &instruction);

/// \p code with words for a remark: "volatile", ...
const char *describe(Untaggable code);

/// Whether \p module is for 64-bit Linux, which has libmpg. False for the GPU
/// modules of an offload compile.
bool isLinux64(const Module &module);

/// Whether code for \p module's target can carry tags: AArch64 Linux.
bool targetHasTags(const Module &module);

/// Why no hint is applied in \p module; nullptr: its machine may act on tags.
const char *whyNoHints(const Module &module);

/// Why \p function is skipped; nullptr if it is not.
const char *whyUntagged(const Function &function);

/// Prints one remark for \p function, or for the whole \p module, that its
/// hints are ignored.
void remarkUntagged(Function &function, StringRef reason);
void remarkUntagged(Module &module, StringRef reason);

} // namespace mpg
