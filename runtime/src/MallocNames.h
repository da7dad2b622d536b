// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the functions of malloc are called. The shared library defines them under
// their own names. A static program gets them by --wrap, because it cannot have
// two definitions, and the C library's own come along with its fork(): there
// malloc is __wrap_malloc, and __real_malloc is the C library's.

#ifndef MPG_RUNTIME_MALLOCNAMES_H
#define MPG_RUNTIME_MALLOCNAMES_H

#define MPG_EXPORT extern "C" __attribute__((visibility("default")))

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
