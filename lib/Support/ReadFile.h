// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files that somebody may be writing to.

#ifndef MPG_SUPPORT_READFILE_H
#define MPG_SUPPORT_READFILE_H

#include "llvm/Support/MemoryBuffer.h"

namespace mpg {

/// The file at \p path, or what a pipe brings. Read, never mapped: a mapped
/// file that gets shorter ends the program.
inline llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readUnmapped(const llvm::Twine &path) {
  return llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                     /*RequiresNullTerminator=*/true,
                                     /*IsVolatile=*/true);
}

} // namespace mpg

#endif // MPG_SUPPORT_READFILE_H
