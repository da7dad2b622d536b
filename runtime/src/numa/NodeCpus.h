// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPUs and NUMA nodes as the system reports them: which CPUs belong to which
// node or share caches, the distances between nodes, and the CPUs on which this
// process can run. Reads sysfs and /proc; allocates nothing.
//
// And core memory groups (CMG) as the kernel shows them: NUMA nodes with CPUs.

#pragma once

#include "numa/Places.h"
#include <sched.h>
#include <stdint.h>

namespace mpg {

/// The numbers of the nodes of this system; node 0 if it reports none.
void onlineNodes(cpu_set_t &nodes);

/// The CPUs of \p node. If the system reports no nodes, all of them are node
/// 0's.
void cpusOfNode(int node, cpu_set_t &cpus);

/// The CPUs that at least one thread of this process may run on. One thread's
/// mask is not enough: OpenMP binds the calling thread to a single place.
void cpusOfProcess(cpu_set_t &cpus);

/// Whether the calling thread may run on CPUs of more than one node.
bool mayRunOnSeveralNodes();

/// Binds the calling thread to \p cpu; false if the system does not let it.
bool goToCpu(int cpu);

/// The distances from \p node as the firmware gives them, in the order of
/// onlineNodes(): 10 is the node itself. Returns how many there are, at most
/// \p capacity.
int distancesFrom(int node, unsigned *distances, int capacity);

/// The CPUs that share \p level with \p cpu, for makePlaces(). Without data in
/// sysfs a CPU has a private core and shares everything else with all others.
void readNeighbors(unsigned cpu, Level level, cpu_set_t &group);

/// The L2 cache belongs to a group, so code that divides it has to know which
/// group a thread is on, whether it stays there, and whether other processes
/// are there as well.
struct CoreGroups {
  static constexpr unsigned maxNodes = 16; // HW:a64fx-job-cpus: up to 8
  cpu_set_t cpus[maxNodes];                ///< of each node
  unsigned possibleCpus; ///< that the system can have; 0: not known
};

/// Reads the groups of this system from sysfs; allocates nothing.
void readCoreGroups(CoreGroups &groups);

/// The one node that has all of \p cpus, or -1.
int getNode(const CoreGroups &groups, const cpu_set_t &cpus);

/// Whether a process that may run on \p mine has its groups to itself: all CPUs
/// of each group it touches, and so few neighbours that they fit on the other
/// groups. \p jobNodes: nodes that the job may use; \p processes: of the job on
/// this computer.
bool hasGroupsAlone(const CoreGroups &groups, const cpu_set_t &mine,
                    unsigned jobNodes, unsigned processes);

/// Processes of the job on this computer, from the launcher's variables in \p
/// environment; 1 if there are none.
unsigned processesOfJob(const char *const *environment);

} // namespace mpg
