// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of Interpose.cpp for static programs, which are linked with
// --wrap=pthread_create. Only in libmpgrt.a, in a separate object: the linker
// includes it if something calls the wrapped name, so a program without threads
// needs none of it, and one linked without --wrap still links.

#include "stack/ThreadStack.h"

// The linker's names for the C library's own.
extern "C" int __real_pthread_create(pthread_t *, const pthread_attr_t *,
                                     void *(*)(void *), void *);

extern "C" int __wrap_pthread_create(pthread_t *thread,
                                     const pthread_attr_t *attributes,
                                     void *(*function)(void *),
                                     void *argument) {
  // Static programs have few mappings: what the C library takes from a stack
  // is read from the memory map.
  mpg::ThreadCalls calls{__real_pthread_create, nullptr};
  return mpg::createThread(calls, thread, attributes, function, argument);
}
