// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpg as the loader put it into this process, or not. mpgbench is linked
// without it: points that need it are measured in workers that have it
// preloaded, and a preload that fails does so with one line on standard error
// and a program that runs on without.

#ifndef MPG_TOOLS_MPGBENCH_RUN_LOADEDRUNTIME_H
#define MPG_TOOLS_MPGBENCH_RUN_LOADEDRUNTIME_H

#include <string>

namespace mpg {

/// Why malloc of this process is not what a point asks for, \p wantsLibmpg or
/// the C library's; "" if it is.
std::string whyWrongHeap(bool wantsLibmpg);

/// The function of that name out of libmpg; null if it is not loaded. \p F is
/// its type: loadedFunction<decltype(mpg_replicate)>("mpg_replicate").
void *findLoaded(const char *name);
template <typename F> F *loadedFunction(const char *name) {
  return reinterpret_cast<F *>(findLoaded(name));
}

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_RUN_LOADEDRUNTIME_H
