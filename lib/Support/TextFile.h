// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole text files that a project keeps beside its sources.

#ifndef MPG_SUPPORT_TEXTFILE_H
#define MPG_SUPPORT_TEXTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mpg {

/// Reads \p path, which may have at most \p limitBytes. Errors name the path:
/// unreadable, no regular file, too large, no text.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readTextFile(const std::string &path, uint64_t limitBytes);

/// "path: reason" or "path:line: reason".
llvm::Error fileError(llvm::StringRef path, const llvm::Twine &reason);

} // namespace mpg

#endif // MPG_SUPPORT_TEXTFILE_H
