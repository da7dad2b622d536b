// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of the file that lld writes for --dependency-file, for make and
// ninja.

#ifndef MPG_LINK_DEPENDENCYFILE_H
#define MPG_LINK_DEPENDENCYFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mpg {

/// \p text of a dependency file without the inputs \p paths, which exist only
/// while ld.mpg runs: ninja would link again every time.
std::string withoutDependencies(llvm::StringRef text,
                                llvm::ArrayRef<std::string> paths);

} // namespace mpg

#endif // MPG_LINK_DEPENDENCYFILE_H
