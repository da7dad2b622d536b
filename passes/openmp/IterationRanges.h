// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the iterations of a loop can run in any order, judged by the memory
// they use, and on any thread. An address is an affine function of the loops'
// counters, so an iteration of the outermost loop uses through one pointer a
// window that moves by a fixed step. Iterations are independent if no window
// with a store is larger than its step, and if the ranges of different pointers
// do not overlap. A run-time check before the loop decides the cases that are
// undecided here.
//
// Parts of one window are not distinguished: a[i][j] = a[i][j-1] is fine as a
// loop over i, and a[2*i] = a[2*i+2] is not. Types (TBAA) are ignored, because
// memory may change its type from one iteration to the next.

#pragma once

#include "base/LLVM.h"
#include <string>

namespace mpg {

/// left <= right, or where otherLeft is not null, otherLeft <= otherRight:
/// signed, in 128 bits, so that no product or sum of addresses wraps.
struct RangeCheck {
  const SCEV *left, *right;
  const SCEV *otherLeft = nullptr, *otherRight = nullptr;
};

/// Appends to \p checks what must hold at run time for the iterations of \p
/// loop to be independent, all of it computable before the loop. Holds as well
/// then: the loop writes at least \p minBytes, and less than 256 TiB. Returns
/// why no check would do, or "".
std::string findRangeChecks(Loop &loop, ScalarEvolution &evolution,
                            AAResults &aliases, uint64_t minBytes,
                            SmallVectorImpl<RangeCheck> &checks);

// The thread that runs them (AnyThread.cpp). Whether code computes the same,
// bit for bit, on whichever thread it runs. Ignores locations in memory and
// examines only thread state (thread-local variables, the floating-point
// environment, the stack) and operations that must happen once and in order:
// calls, volatile and atomic accesses, exceptions.

/// Whether \p function runs before main: another thread may then wait for a
/// lock of the loader that this one has.
bool isConstructor(const Function &function);

/// Why code of \p function cannot be given to other threads, whatever it does;
/// "" if it can.
std::string whyNotOutlined(const Function &function);

/// Why \p instruction, or the iterations of \p loop, cannot run on other
/// threads; "" if they can. \p library: that of the function around it.
std::string whyNotOnAnyThread(const Instruction &instruction,
                              const TargetLibraryInfo &library);
std::string whyNotOnAnyThread(const Loop &loop,
                              const TargetLibraryInfo &library);

} // namespace mpg
