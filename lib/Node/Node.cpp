// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Node.h.

#include "Node/Node.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

Fact<uint64_t> Node::obtainable(std::optional<unsigned> node) const {
  if (!pages.freeBlocks)
    return Fact<uint64_t>::missing(pages.freeBlocks.unknown);
  if (!pages.baseBytes)
    return Fact<uint64_t>::missing(pages.baseBytes.unknown);
  uint64_t found = 0;
  for (const FreeBlocks &zone : *pages.freeBlocks) {
    bool isAllowed =
        !numa.allowedNodes || is_contained(*numa.allowedNodes, zone.node);
    if (node ? zone.node == *node : isAllowed)
      found = addCapped(found, zone.largePages(*pages.baseBytes));
  }
  return found;
}

static Fact<MemoryStalls> readStallFacts(const SysTree &tree) {
  Fact<std::string> counts = tree.text("/proc/vmstat");
  if (!counts)
    return Fact<MemoryStalls>::missing(counts.unknown);
  if (std::optional<MemoryStalls> stalls =
          parseStalls(*counts, tree.text("/proc/pressure/memory").valueOr("")))
    return *stalls;
  return Fact<MemoryStalls>::missing("/proc/vmstat: no compaction in it");
}

Node mpg::readNode(const SysTree &tree) {
  Node node;
  node.kernel = readKernelFacts(tree);
  node.pages = readPageFacts(tree);
  node.transparent = readTransparentFacts(tree);
  node.stalls = readStallFacts(tree);
  node.cgroups = readCgroupFacts(tree);
  node.limits = readProcessLimits(tree);
  node.numa = readNumaFacts(tree);
  node.machine = readMachine(tree, node.numa);
  if (tree.isLive() && node.machine.a64fx != A64fxKind::no)
    node.registers = probeRegisters();
  node.tags = judgeTags(node.machine, node.registers);
  return node;
}
