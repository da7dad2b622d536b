// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where libmpg is, for the programs that preload it.

#ifndef MPG_PROCESS_RUNTIMELIBRARY_H
#define MPG_PROCESS_RUNTIMELIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace mpg {

/// libmpg, which lies beside the folder of the program \p self: in \p
/// installed, relative to it, or in the build tree. "" if it is not there.
std::string findRuntimeLibrary(llvm::StringRef self, llvm::StringRef installed);

/// Whether the loader can be told of \p path: colons and semicolons end the
/// name of a folder.
bool canBePreloaded(llvm::StringRef path);

/// What brings \p path into every program: LD_PRELOAD, where blanks end a name.
/// If it has some the folder comes by LD_LIBRARY_PATH, where they do not, in
/// front of what that is now.
std::vector<std::pair<std::string, std::string>>
preloadSettings(llvm::StringRef path);

} // namespace mpg

#endif // MPG_PROCESS_RUNTIMELIBRARY_H
