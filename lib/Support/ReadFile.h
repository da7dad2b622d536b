// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files that somebody may be writing to, and that may have no end.

#ifndef MPG_SUPPORT_READFILE_H
#define MPG_SUPPORT_READFILE_H

#include "llvm/Support/MemoryBuffer.h"

namespace mpg {

/// Above this a script or a list is taken for something else: /dev/zero.
constexpr uint64_t mostTextBytes = uint64_t(64) << 20;

/// The file at \p path, or what a pipe brings; "-" is standard input. Read,
/// never mapped: a mapped file that gets shorter ends the program. Error
/// file_too_large if there are more than \p mostBytes.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readUnmapped(const std::string &path, uint64_t mostBytes = mostTextBytes);

/// The reason for a message: \p error, or in words that there is too much.
std::string readFailure(std::error_code error);

} // namespace mpg

#endif // MPG_SUPPORT_READFILE_H
