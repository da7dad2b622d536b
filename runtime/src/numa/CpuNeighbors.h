// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which CPUs have something in common, as the kernel shows it in sysfs. Where
// that is not there, a CPU has a core for itself and everything else with all
// others.

#ifndef MPG_RUNTIME_CPUNEIGHBORS_H
#define MPG_RUNTIME_CPUNEIGHBORS_H

#include "numa/Places.h"

namespace mpg {

/// As GroupOfCpu wants it. Allocates nothing.
void readNeighbors(unsigned cpu, Level level, cpu_set_t &group);

} // namespace mpg

#endif // MPG_RUNTIME_CPUNEIGHBORS_H
