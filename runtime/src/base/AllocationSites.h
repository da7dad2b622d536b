// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records for `mpgrun --profile` where large blocks are allocated, in the
// tables of <mpg/profile.h>. Otherwise nothing is recorded: the heap compares
// the size of blocks that are not small with a threshold that no block reaches.

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mpg {

/// Blocks of at least this many bytes are recorded; SIZE_MAX: none.
extern size_t watchedBytes;

/// Whether there is a table for them.
inline bool isProfiled() { return watchedBytes != SIZE_MAX; }

/// \p fd: the file of MPG_STATE_FD, if this process is the program.
void startAllocationSites(int fd);

// Keeps errno. pre: the calling thread holds no lock of the heap, because the C
// library allocates while it finds the callers.

void noteBlock(const void *block, size_t bytes);
/// Call before \p block is freed. Ignores pointers that are not recorded.
void forgetBlock(const void *block);
/// After a block became longer or shorter where it is.
void noteResized(const void *block, size_t bytes);
/// A mapping that the program makes itself; with \p site, one that stayed
/// because the call failed for which forgetMapping() has returned that.
void noteMapping(const void *start, size_t bytes, uint32_t site = 0);
/// Call before the kernel unmaps a mapping or its start. \returns its site if
/// it is a recorded mapping and all of it, else 0.
uint32_t forgetMapping(const void *start, size_t bytes);

/// Records \p block, which may be null, if it is large enough. Returns it.
inline void *watched(void *block, size_t bytes) {
  if (__builtin_expect(bytes >= watchedBytes, 0) && block)
    noteBlock(block, bytes);
  return block;
}

/// \p bytes: at least those that were asked for.
inline void unwatch(const void *block, size_t bytes) {
  if (__builtin_expect(bytes >= watchedBytes, 0))
    forgetBlock(block);
}

} // namespace mpg
