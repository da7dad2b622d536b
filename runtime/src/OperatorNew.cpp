// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// operator new and delete, in the forms to which the C++ library's others come
// down. It has them on top of malloc already; these are here because an
// allocator behind us may have them on top of its own, with delete calling free
// by name, which is ours. Under their linkage names: libmpg is no C++ program.
// They call each other by name too, so that what a program replaces is used.
//
// Only in the shared library.

#include "Heap.h"
#include "MallocNames.h"

#include <stdlib.h>

using namespace mpg;

// What comes next calls the new-handler and throws std::bad_alloc.
extern "C" void *_Znwm(size_t);
extern "C" void *_ZnwmSt11align_val_t(size_t, size_t);
extern "C" void _ZdlPv(void *);
extern "C" void _ZdlPvSt11align_val_t(void *, size_t);

/// operator new(size_t)
MPG_EXPORT void *_Znwm(size_t bytes) {
  if (void *block = malloc(bytes))
    return block;
  auto *next = MPG_NEXT(_Znwm);
  return next ? next(bytes) : nullptr;
}

/// operator new(size_t, align_val_t)
MPG_EXPORT void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment) {
  if (void *block = aligned_alloc(alignment, bytes))
    return block;
  auto *next = MPG_NEXT(_ZnwmSt11align_val_t);
  return next ? next(bytes, alignment) : nullptr;
}

/// operator delete(void *)
MPG_EXPORT void _ZdlPv(void *block) { free(block); }

/// operator delete(void *, align_val_t)
MPG_EXPORT void _ZdlPvSt11align_val_t(void *block, size_t) { free(block); }

/// operator delete(void *, size_t)
MPG_EXPORT void _ZdlPvm(void *block, size_t) { _ZdlPv(block); }

/// operator delete(void *, size_t, align_val_t)
MPG_EXPORT void _ZdlPvmSt11align_val_t(void *block, size_t, size_t alignment) {
  _ZdlPvSt11align_val_t(block, alignment);
}
