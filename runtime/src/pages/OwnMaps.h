// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG_MMAP=thp: memory that the program maps itself, past malloc (virtual
// machines, BLAS, pools of allocators), is asked onto transparent huge pages.
// The program cannot see it but by the address, which was the kernel's to
// choose in any case: lengths, rights, errors and limits are the kernel's.

#ifndef MPG_RUNTIME_OWNMAPS_H
#define MPG_RUNTIME_OWNMAPS_H

#include "base/Env.h"
#include "base/Messages.h"
#include "base/Range.h"

#include <sys/types.h>

/// Whether the program's calls of mmap come to us. Only in the shared library.
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

/// From here on the functions below act, if MPG_MMAP says so and the system
/// lets them. Call once.
void startOwnMaps(const Config &config, Messages &messages);

/// Whether they act.
bool watchesOwnMaps();

/// To be called after \p request has had \p result, which is no failure, and
/// before the program knows of it. Returns what the program gets. Thread-safe,
/// async-signal-safe; errno stays what it was.
void *adviseOwnMap(const MapCalls &calls, const MapRequest &request,
                   void *result);

/// What was in \p range is not there any more, or is not to be on large pages.
void forgetOwnMap(Range range);

/// The kernel has moved \p from, with its advice, to \p to.
void moveOwnMap(Range from, Range to);

} // namespace mpg

#endif // MPG_RUNTIME_OWNMAPS_H
