// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine in a few lines, as it stands in every report: what one must know
// to compare its numbers with another machine's. Nothing that names the host or
// its user.

#include "Node/NodeMachine.h"
#include "Support/Format.h"
#include "mpg/kernels.h"
#include "mpgbench/Run/BenchDriver.h"

using namespace llvm;
using namespace mpg;

static std::string textOf(const Fact<std::string> &fact) {
  return fact ? *fact : "unknown";
}

/// "L1D 48 KiB, L2 1 MiB".
static std::string describeCaches(const SysTree &tree) {
  std::string text;
  for (const DataCache &cache : readDataCaches(tree)) {
    if (cache.level == 0 || cache.size.empty())
      continue;
    std::optional<uint64_t> bytes = parseBytes(cache.size);
    text += (text.empty() ? "L" : ", L") + std::to_string(cache.level) +
            (cache.level == 1 ? "D " : " ") +
            (bytes ? formatBytes(*bytes) : cache.size);
  }
  return text.empty() ? "unknown" : text;
}

static std::string describePools(const Node &node) {
  if (!node.pages.pools)
    return "unknown";
  std::string text;
  for (const HugePool &pool : *node.pages.pools) {
    uint64_t total = pool.total.valueOr(0);
    text += (text.empty() ? "" : ", ") + formatBytes(pool.pageBytes) + ": " +
            std::to_string(pool.free.valueOr(0)) + " of " +
            std::to_string(total) + " pages free";
  }
  return text.empty() ? "none" : text;
}

static std::string describeTransparent(const TransparentFacts &facts) {
  return textOf(facts.enabled) + ", defrag " + textOf(facts.defrag);
}

Parameters mpg::describeMachine(const Node &node) {
  const NodeMachine &machine = node.machine;
  std::string processor =
      machine.architecture + ", " + textOf(machine.processor);
  if (!machine.virtualised.empty())
    processor += ", virtual machine (" + machine.virtualised + ")";
  Parameters result = {
      {"processor", processor},
      {"CPUs", machine.cpus ? std::to_string(*machine.cpus) : "unknown"},
      {"allowed CPUs", node.numa.allowedCpus
                           ? formatList(*node.numa.allowedCpus)
                           : std::string("unknown")},
      {"NUMA nodes", node.numa.nodes.empty()
                         ? std::string("unknown")
                         : std::to_string(node.numa.nodes.size())},
      {"caches", describeCaches(SysTree("/"))},
      {"memory", node.pages.memoryBytes ? formatBytes(*node.pages.memoryBytes)
                                        : std::string("unknown")},
      {"kernel", "Linux " + textOf(machine.kernelRelease)},
      {"base page", formatBytes(node.pages.baseBytes.valueOr(0))},
      {"pools", describePools(node)},
      {"transparent huge pages", describeTransparent(node.transparent)},
      {"kernels", mpg_kernel_variant()}};
  for (const std::string &governor : machine.governors)
    result.push_back({"clock governor", governor});
  return result;
}
