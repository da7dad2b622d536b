// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// main with its first frame where the large pages of the stack begin.

#ifndef MPG_RUNTIME_STACKMAIN_H
#define MPG_RUNTIME_STACKMAIN_H

namespace mpg {

using Main = int(int, char **, char **);

/// What the C library is to call for \p main: that is called further down the
/// stack if mainBegins() says so by then. pre: once a process. Works before
/// anything of a static program is set up.
Main *mainOnLargePages(Main *main);

} // namespace mpg

#endif // MPG_RUNTIME_STACKMAIN_H
