// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child that writes to a shared large page before our handler comes.

#ifndef MPG_RUNTIME_FORKSIGNAL_H
#define MPG_RUNTIME_FORKSIGNAL_H

namespace mpg {

/// In the parent, before the fork: a SIGBUS of the child calls \p moveIn, which
/// may be called from a signal handler, and then the child goes on where it
/// was. pre: signals blocked; SIGBUS is not, from here on.
void catchBusErrors(void (*moveIn)());

/// In both, after the fork: what the program had set holds again.
void releaseBusErrors();

} // namespace mpg

#endif // MPG_RUNTIME_FORKSIGNAL_H
