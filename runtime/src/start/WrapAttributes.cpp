// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As Wrap.cpp, for --wrap=pthread_getattr_np: a separate object, because a
// program may be linked with only one of the two options.

#include "stack/ThreadStack.h"

extern "C" int __real_pthread_getattr_np(pthread_t, pthread_attr_t *);

extern "C" int __wrap_pthread_getattr_np(pthread_t thread,
                                         pthread_attr_t *attributes) {
  int error = __real_pthread_getattr_np(thread, attributes);
  if (!error)
    mpg::correctAttributes(thread, attributes);
  return error;
}
