// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this process has from the pool of large pages.

#ifndef MPG_RUNTIME_POOLUSE_H
#define MPG_RUNTIME_POOLUSE_H

#include <stdint.h>

namespace mpg {

/// Bytes present on pages of the pool, whoever asked for them; 0 if the kernel
/// does not tell. Reads a file of /proc, allocates nothing.
uint64_t poolBytesInUse();

} // namespace mpg

#endif // MPG_RUNTIME_POOLUSE_H
