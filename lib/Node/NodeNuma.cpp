// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NodeNuma.h.

#include "Node/NodeNuma.h"
#include "Node/HugePages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

std::vector<const NumaNode *> NumaFacts::usable() const {
  std::vector<const NumaNode *> found;
  for (const NumaNode &node : nodes)
    if (node.isAllowed && node.memoryBytes.valueOr(1) > 0)
      found.push_back(&node);
  return found;
}

static Fact<std::vector<unsigned>> readAllowed(const SysTree &tree,
                                               StringRef name) {
  using Result = Fact<std::vector<unsigned>>;
  Fact<std::string> word = tree.field("/proc/self/status", name);
  if (!word)
    return Result::missing(word.unknown);
  if (std::optional<std::vector<unsigned>> numbers = parseList(*word))
    return *numbers;
  return Result::missing("/proc/self/status: " + name.str() +
                         " is no list of numbers");
}

static NumaNode readNumaNode(const SysTree &tree, unsigned id) {
  std::string number = std::to_string(id);
  std::string folder = "/sys/devices/system/node/node" + number;
  std::string pool =
      folder + "/hugepages/hugepages-" + sysfsSize(largePageBytes) + "/";
  // Lines of this file begin with "Node 4 ".
  std::string memory = folder + "/meminfo", line = "Node " + number + " ";
  NumaNode node;
  node.id = id;
  node.cpus = tree.list(folder + "/cpulist");
  node.memoryBytes = tree.kibibytes(memory, line + "MemTotal");
  node.freeBytes = tree.kibibytes(memory, line + "MemFree");
  node.poolTotal = tree.number(pool + "nr_hugepages");
  node.poolFree = tree.number(pool + "free_hugepages");
  node.poolSurplus = tree.number(pool + "surplus_hugepages");
  if (Fact<std::string> distances = tree.line(folder + "/distance"))
    for (StringRef word : split(*distances, ' '))
      if (unsigned distance; !word.getAsInteger(10, distance))
        node.distances.push_back(distance);
  return node;
}

NumaFacts mpg::readNumaFacts(const SysTree &tree) {
  NumaFacts facts;
  facts.allowedNodes = readAllowed(tree, "Mems_allowed_list");
  facts.allowedCpus = readAllowed(tree, "Cpus_allowed_list");
  for (unsigned id : tree.numbered("/sys/devices/system/node", "node")) {
    facts.nodes.push_back(readNumaNode(tree, id));
    if (facts.allowedNodes)
      facts.nodes.back().isAllowed = is_contained(*facts.allowedNodes, id);
  }
  facts.balancing = tree.number("/proc/sys/kernel/numa_balancing");
  return facts;
}
