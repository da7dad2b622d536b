// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a device, or the kernel on its own, may read or write memory of this
// process by the frames that it lies on now (DMA).

#ifndef MPG_RUNTIME_FORKPINS_H
#define MPG_RUNTIME_FORKPINS_H

namespace mpg {

/// True if that may be, or cannot be told: a device that is not known to be
/// harmless, io_uring or asynchronous I/O is open, or libibverbs is loaded.
bool memoryMayBePinned();

} // namespace mpg

#endif // MPG_RUNTIME_FORKPINS_H
