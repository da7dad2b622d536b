// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The size that OpenMP's variables give to the stacks of its threads.

#ifndef MPG_RUNTIME_OMPSTACKSIZE_H
#define MPG_RUNTIME_OMPSTACKSIZE_H

#include <stddef.h>

namespace mpg {

/// What OMP_STACKSIZE, GOMP_STACKSIZE (libgomp) or KMP_STACKSIZE (libomp) say,
/// in bytes; the first one that is set counts. 0: none is, or its value makes
/// no sense, which is for the OpenMP library to tell.
size_t readOmpStackSize(const char *const *environment);

} // namespace mpg

#endif // MPG_RUNTIME_OMPSTACKSIZE_H
