// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done at a fork() about memory on hugetlb pages: .data, .bss, the
// heap, and the stack in use.

#ifndef MPG_RUNTIME_FORKPLAN_H
#define MPG_RUNTIME_FORKPLAN_H

#include "Env.h"
#include "Messages.h"

namespace mpg {

/// From here on every fork() is asked about (Fork.h). May be called again.
/// \p paging: of the memory that is to be watched from here on.
void planForks(const Config &config, Paging paging, Messages &messages);

/// Whether this process may take \p bytes more of large pages: if it shares
/// some with its parent and children, they are left as many as they may write
/// to. Else who writes there later would be ended with SIGBUS. Cheap unless
/// something is shared. Thread-safe; the heap must not be locked.
bool largePagesAreSpare(uint64_t bytes);

// The steps of Fork.cpp. pre: signals wait, and the heap is locked.
void prepareFork();
void finishForkInParent();
void finishForkInChild();

} // namespace mpg

#endif // MPG_RUNTIME_FORKPLAN_H
