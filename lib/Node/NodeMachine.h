// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kind of this machine: processor and its caches, NUMA nodes, the two
// ways an A64FX node is numbered, virtualisation, clock governor, SMT, the
// vendor's files, and the kernel's newer abilities that large pages profit
// from.

#pragma once

#include "Node/SysTree.h"

namespace mpg {

/// One cache; a number is 0 and a text empty where sysfs does not tell, as on
/// many AArch64 machines.
struct DataCache {
  uint64_t level = 0;
  std::string size; ///< "48K"
  uint64_t sets = 0, ways = 0, lineBytes = 0;
};

/// From the first level on.
std::vector<DataCache> readDataCaches(const SysTree &tree);

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
  Fact<uint64_t>
      balancing; ///< 0: off. Moves pages to the node that touches them

  /// Since the machine started: the faults that balancing caused to see which
  /// node uses a page, and the pages of the base size that it moved.
  Fact<uint64_t> balancingFaults, balancingMoved;

  /// Nodes with memory that this process may use.
  std::vector<const NumaNode *> usable() const;
};

NumaFacts readNumaFacts(const SysTree &tree);

/// Why the kernel moves no page of a program to the node of the thread that
/// uses it, and what would help; empty if it does. \p hasPolicy: of the
/// process that starts it (numactl).
std::string whyNothingMoves(const NumaFacts &facts, bool hasPolicy);

struct KernelFeature {
  const char *name; ///< "populate-write"; meanings are in the man page
  std::optional<bool> present;
  bool isProbed = false; ///< tried or seen; else by version
};

struct KernelFacts {
  unsigned major = 0, minor = 0; ///< 0.0: not known
  std::vector<KernelFeature> features;
};

KernelFacts readKernelFacts(const SysTree &tree);

/// How Linux numbers the CPUs and NUMA nodes of an A64FX. HW:a64fx-job-cpus
enum class A64fxKind : uint8_t {
  no,     ///< another processor
  fx1000, ///< nodes 0-3 for the system, 4-7 and CPUs 12-59 for jobs; Fugaku
  fx700,  ///< nodes 0-3, CPUs 0-47
  other,  ///< an A64FX that is numbered in no known way
};
/// "FX1000", "FX700", "A64FX", or nothing.
llvm::StringRef a64fxName(A64fxKind kind);

/// A cache that the kernel's resctrl can divide between groups of tasks.
struct DividedCache {
  std::string name; ///< "L3"
  unsigned parts;
};

struct NodeMachine {
  Fact<std::string> host, kernelRelease;
  std::string architecture;    ///< "x86-64", "AArch64", "unknown"
  Fact<std::string> processor; ///< in words
  Fact<uint64_t> midr;         ///< AArch64 only
  A64fxKind a64fx = A64fxKind::no;
  Fact<unsigned> cpus;                ///< online
  std::string virtualised;            ///< by what; empty: no sign of it
  std::string container;              ///< which kind; empty: no sign of it
  Fact<std::string> smt;              ///< on, off, notsupported, ...
  std::vector<std::string> governors; ///< each once; empty: not told
  /// By Arm's MPAM, which divides a cache into portions for groups of tasks:
  /// `info/L2/cbm_mask` of /sys/fs/resctrl has a bit for each (openEuler's
  /// guide, OLK-6.6: read). Empty while resctrl is not mounted. Nothing: the
  /// kernel has none.
  std::optional<std::vector<DividedCache>> dividedCaches;

  /// Paths of Fujitsu's files that are there; empty if not.
  std::string vendorLibrary, tagCommand, sectorDevice, barrierDevice;
  /// The barrier driver's description of the hardware: core memory groups,
  /// blades and windows of each, cores. Empty without the file.
  std::string barrierHardware;
  /// Fujitsu's switch for programs' access to the prefetch registers. Nothing:
  /// no such file, which means that it is open.
  std::optional<uint64_t> prefetchAccess;
};

NodeMachine readMachine(const SysTree &tree, const NumaFacts &numa);

/// The core memory group of a node, 0 to 3; nothing for system nodes and for
/// machines that are none.
std::optional<unsigned> memoryGroup(A64fxKind kind, unsigned node);

/// True for the nodes that the system keeps for itself on FX1000.
bool isSystemNode(A64fxKind kind, unsigned node);

} // namespace mpg
