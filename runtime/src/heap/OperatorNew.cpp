// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// operator new and delete, in the forms to which the C++ library's others come
// down. It has them on top of malloc already; these are here because an
// allocator behind us may have them on top of its own, with delete calling free
// by name, which is ours. Under their linkage names: libmpg is no C++ program.
// They call each other by name too, so that what a program replaces is used.
//
// Only in the shared library.

#include "base/CLibrary.h"
#include "base/Messages.h"
#include "heap/Heap.h"

#include <stdlib.h>

using namespace mpg;

extern "C" void *_Znwm(size_t);
extern "C" void *_ZnwmSt11align_val_t(size_t, size_t);
extern "C" void _ZdlPv(void *);
extern "C" void _ZdlPvSt11align_val_t(void *, size_t);

/// The C++ library's own, which calls the new-handler and throws
/// std::bad_alloc. It is not behind us if only a plug-in has it.
static void *nextDefinition(const char *name) {
  static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};
  void *found = dlsym(RTLD_NEXT, name);
  for (const char *library : libraries) {
    void *handle = found ? nullptr : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
      continue;
    found = dlsym(handle, name);
    dlclose(handle);
  }
  if (found)
    return found;
  LineBuffer line;
  line.add("mpg: operator new: out of memory, and no C++ library to throw "
           "std::bad_alloc; the program ends");
  line.print();
  abort();
}

/// operator new(size_t)
MPG_EXPORT void *_Znwm(size_t bytes) {
  if (void *block = malloc(bytes))
    return block;
  return reinterpret_cast<decltype(&_Znwm)>(nextDefinition("_Znwm"))(bytes);
}

/// operator new(size_t, align_val_t)
MPG_EXPORT void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment) {
  if (void *block = aligned_alloc(alignment, bytes))
    return block;
  using Function = decltype(&_ZnwmSt11align_val_t);
  return reinterpret_cast<Function>(nextDefinition("_ZnwmSt11align_val_t"))(
      bytes, alignment);
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
