// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the functions of malloc are called. The shared library defines them under
// their own names. A static program gets them by --wrap, because it cannot have
// two definitions, and the C library's own come along with its fork(): there
// malloc is __wrap_malloc, and __real_malloc is the C library's.

#ifndef MPG_RUNTIME_MALLOCNAMES_H
#define MPG_RUNTIME_MALLOCNAMES_H

#include <features.h>

// Older C libraries have the numbers of 32 bits only; programs that were built
// with a newer one may ask us all the same. The headers of some cross compilers
// declare the others whatever C library is asked for.
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

#ifdef MPG_STATIC
#define MPG_MALLOC(name) __wrap_##name
/// The C library's \p name, which has the type of \p function.
#define MPG_NEXT(name) (&__real_##name)
#else
#include <dlfcn.h>
#define MPG_MALLOC(name) name
#define MPG_NEXT(name)                                                         \
  (reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)))
#endif

#endif // MPG_RUNTIME_MALLOCNAMES_H
