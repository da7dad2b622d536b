// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which code can carry tags at all.

#ifndef MPG_PASSES_ELIGIBILITY_H
#define MPG_PASSES_ELIGIBILITY_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace mpg {

/// Whether code for \p module's target can carry tags: AArch64 Linux.
bool targetHasTags(const llvm::Module &module);

/// Why \p function is left alone; nullptr if it is not.
const char *whyUntagged(const llvm::Function &function);

/// One remark for \p function, or for the whole \p module, whose hints are not
/// used.
void remarkUntagged(llvm::Function &function, llvm::StringRef reason);
void remarkUntagged(llvm::Module &module, llvm::StringRef reason);

} // namespace mpg

#endif // MPG_PASSES_ELIGIBILITY_H
