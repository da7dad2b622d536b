// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small text files of the loader: ld.so.conf with what it includes, and
// ld.so.preload.

#ifndef MPG_LOADER_CONFIGFILE_H
#define MPG_LOADER_CONFIGFILE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// The whole file; nothing if it is no regular file, cannot be read, or is
/// larger than \p limitBytes.
std::optional<std::string> readWholeFile(const std::string &path,
                                         uint64_t limitBytes);

/// The folders in \p sysroot's /etc/ld.so.conf and the files that it includes,
/// in order, with the sysroot in front.
std::vector<std::string> readLoaderConfig(const std::string &sysroot);

/// The names in \p sysroot's /etc/ld.so.preload.
std::vector<std::string> readPreloadFile(const std::string &sysroot);

/// The words of \p text between any of \p separators.
std::vector<std::string> splitNames(llvm::StringRef text,
                                    llvm::StringRef separators);

} // namespace mpg

#endif // MPG_LOADER_CONFIGFILE_H
