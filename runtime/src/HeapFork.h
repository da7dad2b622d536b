// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap and fork(): its granules on hugetlb pages, for which the same holds
// as for .data and .bss (ForkPlan.cpp), and stacks that are blocks of it.

#ifndef MPG_RUNTIME_HEAPFORK_H
#define MPG_RUNTIME_HEAPFORK_H

#include "Env.h"
#include "ForkList.h"
#include "Messages.h"

namespace mpg {

/// From here on a fork() is no danger to a program with a heap on hugetlb
/// pages. Call once, when the heap has started, before the first thread.
void watchForks(const Config &config, Messages &messages);

/// Programs with coroutines call fork() on a stack that is a block of the heap,
/// to which parent and child write at once. If that is so, puts normal pages
/// under its frames. False if it could not: there are other threads, or no
/// memory. pre: signals blocked, the heap is locked.
bool moveHeapStack(const ForkList &list);

} // namespace mpg

#endif // MPG_RUNTIME_HEAPFORK_H
