// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where libmpg is, for the programs that preload it.

#ifndef MPG_RUN_RUNTIMELIBRARY_H
#define MPG_RUN_RUNTIMELIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mpg {

/// libmpg.so, which lies beside the folder of the program \p self: in
/// \p installed, relative to it, or in the build tree. "" if it is not there.
std::string findRuntimeLibrary(llvm::StringRef self, llvm::StringRef installed);

/// Whether the loader takes \p path out of LD_PRELOAD, where spaces and colons
/// end a name.
bool canBePreloaded(llvm::StringRef path);

} // namespace mpg

#endif // MPG_RUN_RUNTIMELIBRARY_H
