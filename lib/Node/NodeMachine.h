// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kind of machine this is: processor, the two ways an A64FX node is
// numbered, virtualisation, clock governor, SMT, and the vendor's files.

#ifndef MPG_NODE_NODEMACHINE_H
#define MPG_NODE_NODEMACHINE_H

#include "Node/NodeNuma.h"

namespace mpg {

/// How Linux numbers the CPUs and NUMA nodes of an A64FX. HW:a64fx-job-cpus
enum class A64fxKind : uint8_t {
  no,     ///< another processor
  fx1000, ///< nodes 0-3 for the system, 4-7 and CPUs 12-59 for jobs; Fugaku
  fx700,  ///< nodes 0-3, CPUs 0-47
  other,  ///< an A64FX that is numbered in no known way
};
/// "FX1000", "FX700", "A64FX", or nothing.
llvm::StringRef a64fxName(A64fxKind kind);

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

  /// Paths of Fujitsu's files that are there; empty if not.
  std::string vendorLibrary, tagCommand, sectorDevice, barrierDevice;
  /// What the barrier's driver says of the hardware: core memory groups, blades
  /// and windows of each, cores. Empty: no such file.
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

#endif // MPG_NODE_NODEMACHINE_H
