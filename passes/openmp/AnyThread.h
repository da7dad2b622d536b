// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether code computes the same, bit for bit, on whichever thread it runs.
// Places in memory are not looked at (IterationRanges.h), only what a thread
// has of its own: thread-local variables, the floating-point environment, its
// stack; and what must happen once and in order: calls, volatile and atomic
// accesses, exceptions.

#ifndef MPG_PASSES_ANYTHREAD_H
#define MPG_PASSES_ANYTHREAD_H

#include <string>

namespace llvm {
class Function;
class Loop;
class TargetLibraryInfo;
} // namespace llvm

namespace mpg {

/// Whether \p function runs before main: another thread may then wait for a
/// lock of the loader that this one has.
bool isConstructor(const llvm::Function &function);

/// Why code of \p function cannot be given to other threads, whatever it does;
/// "" if it can.
std::string whyNotOutlined(const llvm::Function &function);

/// Why iterations of \p loop cannot run on other threads; "" if they can.
/// \p library: that of the function around it.
std::string whyNotOnAnyThread(const llvm::Loop &loop,
                              const llvm::TargetLibraryInfo &library);

} // namespace mpg

#endif // MPG_PASSES_ANYTHREAD_H
