// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPUs and NUMA nodes as the system shows them: which CPUs belong to which node
// or have something else in common, how far nodes are from each other, and on
// which CPUs this process can run. Reads sysfs and /proc; allocates nothing.

#ifndef MPG_RUNTIME_NODECPUS_H
#define MPG_RUNTIME_NODECPUS_H

#include "numa/Places.h"
#include <sched.h>

namespace mpg {

/// The numbers of the nodes of this system; node 0 if it tells of none.
void onlineNodes(cpu_set_t &nodes);

/// The CPUs of \p node. Where the system tells of no nodes, all of them are
/// node 0's.
void cpusOfNode(int node, cpu_set_t &cpus);

/// The CPUs that at least one thread of this process may run on. One thread's
/// mask is not enough: OpenMP binds the one that asks to a single place.
void cpusOfProcess(cpu_set_t &cpus);

/// Whether the calling thread may run on CPUs of more than one node.
bool mayRunOnSeveralNodes();

/// The distances from \p node as the firmware gives them, in the order of
/// onlineNodes(): 10 is the node itself. Returns how many there are, at most
/// \p capacity.
int distancesFrom(int node, unsigned *distances, int capacity);

/// The node of the CPU that the calling thread is on.
int nodeOfThread();

/// The CPUs that share \p level with \p cpu, for makePlaces(). Where sysfs does
/// not say, a CPU has a core for itself and everything else with all others.
void readNeighbors(unsigned cpu, Level level, cpu_set_t &group);

} // namespace mpg

#endif // MPG_RUNTIME_NODECPUS_H
