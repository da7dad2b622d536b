// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Core memory groups (CMG) as the kernel shows them: NUMA nodes with CPUs. The
// L2 cache belongs to a group, so whoever divides it has to know which group a
// thread is on, whether it stays there, and whether other processes are there
// as well.

#ifndef MPG_RUNTIME_COREGROUPS_H
#define MPG_RUNTIME_COREGROUPS_H

#include <sched.h>
#include <stdint.h>

namespace mpg {

struct CoreGroups {
  static constexpr unsigned maxNodes = 16; // HW:a64fx-job-cpus: up to 8
  cpu_set_t cpus[maxNodes];                ///< of each node
  unsigned possibleCpus; ///< that the system can have; 0: not known
};

/// "0-3,8,10-11" as sysfs writes it; false if it is no such list.
bool parseCpuList(const char *text, cpu_set_t &cpus);

/// The same out of a file. Allocates nothing.
bool readCpuList(const char *path, cpu_set_t &cpus);

/// The groups of this system. Reads sysfs; allocates nothing.
void readCoreGroups(CoreGroups &groups);

/// The one node that has all of \p cpus, or -1.
int nodeOf(const CoreGroups &groups, const cpu_set_t &cpus);

/// Whether a process that may run on \p mine has its groups for itself: all
/// CPUs of each group it touches, and few enough neighbours that they find room
/// on the other groups. \p jobNodes: nodes that the job may use; \p processes:
/// of the job on this computer.
bool hasGroupsAlone(const CoreGroups &groups, const cpu_set_t &mine,
                    unsigned jobNodes, unsigned processes);

/// Processes of the job on this computer, as the launcher tells in
/// \p environment; 1 if nothing does.
unsigned processesOfJob(const char *const *environment);

} // namespace mpg

#endif // MPG_RUNTIME_COREGROUPS_H
