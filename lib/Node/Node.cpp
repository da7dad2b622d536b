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

StallCounts mpg::readStallCounts(const SysTree &tree) {
  StallCounts counts;
  counts.machine = readStallFacts(tree).value;
  GroupLimits memory = readCgroupFacts(tree).memory;
  if (memory.version == 2 && !memory.folder.empty())
    counts.group = parseGroupStalls(
        tree.text(memory.folder + "/memory.stat").valueOr(""),
        tree.text(memory.folder + "/memory.pressure").valueOr(""));
  return counts;
}

StallCounts mpg::stallsBetween(const StallCounts &before,
                               const StallCounts &after) {
  StallCounts counts;
  if (before.machine && after.machine)
    counts.machine = stallsBetween(*before.machine, *after.machine);
  if (before.group && after.group)
    counts.group = stallsBetween(*before.group, *after.group);
  return counts;
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

// Hints in pointers

StringRef mpg::abilityName(Ability ability) {
  static constexpr StringLiteral names[] = {"no", "yes", "unknown"};
  return names[unsigned(ability)];
}

std::string TagSupport::summary() const {
  std::string text;
  for (Ability answer : {Ability::yes, Ability::unknown, Ability::no}) {
    std::string names;
    for (auto [name, ability] :
         {std::pair("sector", sector), std::pair("prefetch", prefetch),
          std::pair("injection", injection), std::pair("barrier", barrier)})
      if (ability == answer)
        names += (names.empty() ? "" : ", ") + std::string(name);
    if (!names.empty())
      text +=
          (text.empty() ? "" : "; ") + abilityName(answer).str() + ": " + names;
  }
  return text;
}

/// Both are needed.
static Ability both(Ability a, Ability b) {
  if (a == Ability::no || b == Ability::no)
    return Ability::no;
  return a == Ability::yes ? b : a;
}

static Ability getAbility(Reach reach) {
  switch (reach) {
  case Reach::open:
    return Ability::yes;
  case Reach::closed:
    return Ability::no;
  case Reach::notTried:
    return Ability::unknown;
  }
  return Ability::unknown;
}

/// HW:sector-registers, HW:sector-device
static Ability judgeSector(const NodeMachine &machine,
                           const RegisterReach &reach,
                           std::vector<std::string> &missing) {
  // Ways of one of the two caches are enough for a hint to act.
  bool isOpen = reach.sectorL1 == Reach::open || reach.sectorL2 == Reach::open;
  if (isOpen || reach.sectorL1 == Reach::notTried)
    return isOpen ? Ability::yes : Ability::unknown;
  if (!machine.sectorDevice.empty()) {
    missing.push_back("the registers of the sector cache are closed until the "
                      "vendor's runtime opens them through " +
                      machine.sectorDevice);
    return Ability::unknown;
  }
  missing.push_back("the registers of the sector cache are closed to programs "
                    "(el0ae of IMP_SCCR_CTRL_EL1 is 0) and there is no "
                    "/dev/xos_sec_normal to open them");
  return Ability::no;
}

/// HW:prefetch-registers, HW:prefetch-switch
static Ability judgeInjection(const NodeMachine &machine,
                              const RegisterReach &reach,
                              std::vector<std::string> &missing) {
  if (machine.prefetchAccess && *machine.prefetchAccess == 0) {
    missing.push_back("/sys/kernel/xos_hpc/hwpf_uaccess is 0: the prefetch "
                      "registers are closed to programs");
    return Ability::no;
  }
  if (reach.prefetch == Reach::closed)
    missing.push_back("the prefetch registers are closed to programs (el0ae of "
                      "IMP_PF_CTRL_EL1 is 0)");
  return getAbility(reach.prefetch);
}

TagSupport mpg::judgeTags(const NodeMachine &machine,
                          const RegisterReach &reach) {
  TagSupport support;
  if (machine.a64fx == A64fxKind::no) {
    std::string what = machine.architecture;
    if (what == "AArch64" && machine.processor)
      what += ", " + *machine.processor;
    support.missing.push_back("not on this machine: " + what);
    return support;
  }
  Ability tags = Ability::yes;
  if (machine.tagCommand.empty()) {
    // Without fhetbo tags are most likely ignored. They do no harm: Linux
    // leaves the top byte of a pointer to the program.
    tags = Ability::unknown;
    support.missing.push_back("fhetbo of the vendor's system is not here, so "
                              "the tag override is most likely off");
  }
  support.prefetch = tags;
  support.sector = both(tags, judgeSector(machine, reach, support.missing));
  support.injection =
      both(tags, judgeInjection(machine, reach, support.missing));
  support.barrier = machine.barrierDevice.empty() ? Ability::no : Ability::yes;
  if (reach.sectorL1 == Reach::notTried)
    support.missing.push_back(
        "registers are tried only on the node itself, not in a copy of it");
  return support;
}
