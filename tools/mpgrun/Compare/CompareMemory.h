// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a mode, which the warm-up of a comparison reads.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREMEMORY_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREMEMORY_H

#include "Process/RunReport.h"
#include "mpgrun/Compare/CompareResult.h"
#include <cstdint>
#include <sys/types.h>

namespace mpg {

/// Memory of a run out of \p report.
void fillMemory(ModeMemory &memory, const RunReport &report);

/// The largest RSS that the kernel saw of the process itself; unlike that of
/// wait4 it does not begin with mpgrun's. 0: not known.
uint64_t readPeakRss(pid_t pid);

/// Notes that code was on large pages although \p mode has normal ones: another
/// process that maps the file keeps its pages as they are.
void noteCodePages(Comparison &comparison, const RunReport &report,
                   const ModeResult &mode);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREMEMORY_H
