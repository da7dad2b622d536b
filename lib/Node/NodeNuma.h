// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NUMA nodes with their CPUs, memory and share of the pool of 2 MiB pages, and
// which of them this process may use.

#ifndef MPG_NODE_NODENUMA_H
#define MPG_NODE_NODENUMA_H

#include "Node/SysTree.h"

namespace mpg {

struct NumaNode {
  unsigned id = 0;
  Fact<std::vector<unsigned>> cpus;
  Fact<uint64_t> memoryBytes, freeBytes;
  Fact<uint64_t> poolTotal, poolFree, poolSurplus; ///< 2 MiB pages
  bool isAllowed = true;           ///< for memory of this process
  std::vector<unsigned> distances; ///< to the nodes in order; may be empty
};

struct NumaFacts {
  std::vector<NumaNode> nodes; ///< in order; empty if the kernel has no NUMA
  Fact<std::vector<unsigned>> allowedNodes, allowedCpus; ///< of this process
  Fact<uint64_t> balancing; ///< 0: off. Moves pages to who touches them

  /// Nodes with memory that this process may use.
  std::vector<const NumaNode *> usable() const;
};

NumaFacts readNumaFacts(const SysTree &tree);

} // namespace mpg

#endif // MPG_NODE_NODENUMA_H
