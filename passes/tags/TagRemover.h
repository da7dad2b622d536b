// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns tags back into marks, for code that is compiled a second time: bitcode
// that clang -c -emit-llvm wrote has its tags, and the optimiser must not see
// them (TagWriter.h).

#ifndef MPG_PASSES_TAGREMOVER_H
#define MPG_PASSES_TAGREMOVER_H

namespace llvm {
class Module;
}

namespace mpg {

/// Marks the accesses of \p module that have a tag, takes the tags off, and
/// removes the note. Returns whether there were any.
bool removeTags(llvm::Module &module);

} // namespace mpg

#endif // MPG_PASSES_TAGREMOVER_H
