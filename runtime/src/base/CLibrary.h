// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library's functions that libmpg replaces: the names of ours, how to
// find the C library's, and what its older versions do differently.
//
// The shared library defines malloc and related functions under their own
// names. A static program gets them by --wrap, because it cannot have two
// definitions, and fork() pulls in the C library's own: there malloc is
// __wrap_malloc, and __real_malloc is the C library's.

#pragma once

#include <atomic>
#include <dlfcn.h>
#include <errno.h>
#include <features.h>
#include <gnu/libc-version.h>
#include <stdlib.h>

// Older C libraries have only the 32-bit numbers, yet programs built with a
// newer one may still call us. The headers of some cross compilers declare the
// others whichever C library is selected.
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define MPG_LIBC_MALLINFO mallinfo2
#else
#define mallinfo2 mpg_declared_mallinfo2
#include <malloc.h>
#undef mallinfo2
#define MPG_LIBC_MALLINFO mallinfo
struct mallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks,
      fordblks, keepcost;
};
extern "C" struct mallinfo2 mallinfo2();
extern "C" struct mallinfo2 __real_mallinfo2() __attribute__((weak));
#endif

#define MPG_EXPORT extern "C" __attribute__((visibility("default")))

/// For a \p name that is a macro.
#define MPG_REAL(name) MPG_REAL_NAME(name)
#define MPG_REAL_NAME(name) __real_##name
#define MPG_NEXT_OF(name) MPG_NEXT(name)

/// The version of the C library's first functions, malloc's among them.
#if defined(__x86_64__)
#define MPG_FIRST_VERSION "GLIBC_2.2.5"
#else
#define MPG_FIRST_VERSION "GLIBC_2.17"
#endif

#ifdef MPG_STATIC
#define MPG_MALLOC(name) __wrap_##name
/// The C library's \p name, which has the type of \p function.
#define MPG_NEXT(name) (&__real_##name)
#else
#define MPG_MALLOC(name) name
#define MPG_NEXT(name)                                                         \
  (reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)))
#endif

namespace mpg {

/// The next definition of a function after ours: the C library's, or that of
/// another library loaded before it. Only in the shared library. Looked up
/// once, because dlsym() would overwrite the program's dlerror() state.
template <typename Function> class Next {
public:
  Function *get(const char *name) {
    Function *known = function.load(std::memory_order_relaxed);
    if (!known) {
      known = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
      function.store(known, std::memory_order_relaxed);
    }
    return known;
  }

private:
  std::atomic<Function *> function{nullptr};
};

/// What a function returns if the C library has none of its name.
inline int notThere() {
  errno = ENOSYS;
  return -1;
}

/// 36 for glibc 2.36.
inline int cLibraryMinor() { return atoi(gnu_get_libc_version() + 2); }

/// Whether system() and popen() make their shell by a fork.
inline bool forksForShells() { return cLibraryMinor() < 29; }

/// Whether dlopen() makes the stack executable for a library that asks for it.
/// From 2.41 on it refuses to open one.
inline bool opensExecutableStacks() { return cLibraryMinor() < 41; }

} // namespace mpg
