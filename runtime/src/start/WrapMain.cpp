// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As Wrap.cpp, for --wrap=__libc_start_main: what the first instructions of a
// static program call. Nothing is set up yet, no thread-local memory and in a
// static PIE no address in a table: addresses are taken relative to the code.

#include "stack/Stack.h"

using StartMain = int(mpg::Main *, int, char **, void (*)(), void (*)(),
                      void (*)(), void *);
extern "C" StartMain __real___libc_start_main;

static bool isCalled;

extern "C" int __wrap___libc_start_main(mpg::Main *main, int argc, char **argv,
                                        void (*init)(), void (*fini)(),
                                        void (*loaderFini)(), void *stackEnd) {
  isCalled = true;
  return __real___libc_start_main(mpg::mainOnLargePages(main), argc, argv, init,
                                  fini, loaderFini, stackEnd);
}

bool mpg_calls_main() { return isCalled; }
