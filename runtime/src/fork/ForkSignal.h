// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a child touches before its copies are in place.

#ifndef MPG_RUNTIME_FORKSIGNAL_H
#define MPG_RUNTIME_FORKSIGNAL_H

namespace mpg {

/// Until release, the first fault in a child calls \p moveIn; all other signals
/// go to the program. pre: all signals are blocked, and no other thread
/// forks.
void catchFaults(void (*moveIn)());
void releaseFaults();

} // namespace mpg

#endif // MPG_RUNTIME_FORKSIGNAL_H
