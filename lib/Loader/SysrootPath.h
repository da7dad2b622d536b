// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic links inside a sysroot: an absolute one means a path in the sysroot,
// as it will on the machine that the sysroot is a copy of.

#ifndef MPG_LOADER_SYSROOTPATH_H
#define MPG_LOADER_SYSROOTPATH_H

#include <string>

namespace mpg {

/// \p path without symbolic links, if it lies in \p sysroot; else \p path as it
/// is. Also as it is when the links go in a circle.
std::string followLinks(const std::string &path, const std::string &sysroot);

} // namespace mpg

#endif // MPG_LOADER_SYSROOTPATH_H
