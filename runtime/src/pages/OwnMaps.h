// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG_MMAP=thp: asks for transparent huge pages for memory that the program
// maps itself, past malloc (virtual machines, BLAS, pools of allocators). The
// program sees only a different address, which was the kernel's choice in any
// case: lengths, rights, errors and limits are the kernel's.

#pragma once

#include "base/Env.h"
#include "base/Messages.h"
#include "base/Range.h"

#include <sys/types.h>

/// Whether libmpg interposes the program's mmap. Only in the shared library.
extern "C" __attribute__((weak, visibility("hidden"))) bool mpg_sees_maps();

namespace mpg {

/// The arguments of mmap.
struct MapRequest {
  void *address;
  size_t bytes;
  int protection, flags, file;
  off_t offset;
};

/// The C library's functions.
struct MapCalls {
  void *(*map)(void *, size_t, int, int, int, off_t);
  int (*unmap)(void *, size_t);
};

/// From here on the functions below act, if MPG_MMAP asks for it and the system
/// lets them. Call once.
void startOwnMaps(const Config &config, Messages &messages);

/// Whether they act.
bool watchesOwnMaps();

/// Call after \p request succeeded with \p result and before the program sees
/// it. Returns the address for the program. Thread-safe, async-signal-safe;
/// keeps errno.
void *adviseOwnMap(const MapCalls &calls, const MapRequest &request,
                   void *result);

/// Removes \p range: it was unmapped, or must not be on large pages.
void forgetOwnMap(Range range);

/// The kernel has moved \p from, with its advice, to \p to.
void moveOwnMap(Range from, Range to);

} // namespace mpg
