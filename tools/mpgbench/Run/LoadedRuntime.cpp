// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoadedRuntime.h.

#include "mpgbench/Run/LoadedRuntime.h"
#include "mpg/mpg.h"
#include <dlfcn.h>

using namespace mpg;

void *mpg::findLoaded(const char *name) { return dlsym(RTLD_DEFAULT, name); }

std::string mpg::whyWrongHeap(bool wantsLibmpg) {
  // Fujitsu's library of the same link name has no such function.
  bool isLoaded = findLoaded("mpg_version") != nullptr;
  if (!wantsLibmpg)
    return isLoaded ? "libmpg is in this process, and the point is about the C "
                      "library's malloc"
                    : "";
  if (!isLoaded)
    return "libmpg was to be preloaded and is not in the process: the loader "
           "refused it (LD_DEBUG=libs shows why)";
  auto *heapStats = loadedFunction<decltype(mpg_heap_stats)>("mpg_heap_stats");
  struct mpg_heap_stats stats = {};
  stats.structBytes = sizeof(stats);
  if (!heapStats || heapStats(&stats) != 0)
    return "libmpg is in the process, and malloc is not its own: large pages "
           "are switched off, or another library's malloc came first";
  return "";
}
