// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a library can start a thread while the loader initialises it, before
// main and before what is initialised later.

#ifndef MPG_AUDIT_THREADSTART_H
#define MPG_AUDIT_THREADSTART_H

#include "Elf/Image.h"

namespace mpg {

struct ThreadStart {
  std::string function;     ///< "pthread_create"; "" if it starts none
  bool initialises = false; ///< it has code that runs before main
  bool reached = false;     ///< such code leads to the call
};

/// pre: image.isLoadable(). Reads the initialisers' code.
ThreadStart findThreadStart(Image &image);

} // namespace mpg

#endif // MPG_AUDIT_THREADSTART_H
