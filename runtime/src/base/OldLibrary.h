// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C library that runs does otherwise than today's.

#ifndef MPG_RUNTIME_OLDLIBRARY_H
#define MPG_RUNTIME_OLDLIBRARY_H

#include <gnu/libc-version.h>
#include <stdlib.h>

namespace mpg {

/// Whether system() and popen() make their shell by a fork: before glibc 2.29.
inline bool forksForShells() {
  const char *version = gnu_get_libc_version();
  return version[0] == '2' && version[1] == '.' && atoi(version + 2) < 29;
}

} // namespace mpg

#endif // MPG_RUNTIME_OLDLIBRARY_H
