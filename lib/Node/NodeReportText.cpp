// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for people: what it comes to and what to type first, then the
// facts, one screen in all.

#include "Node/Node.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace mpg;

// Values in words

static std::string unknownText(StringRef why) {
  return "unknown (" + printable(why) + ")";
}

static std::string words(const std::string &value, StringRef) { return value; }
static std::string words(uint64_t value, StringRef style) {
  if (style != "bytes")
    return std::to_string(value);
  return value == UINT64_MAX ? "unlimited" : formatBytes(value);
}
static std::string words(const std::vector<unsigned> &value, StringRef) {
  return value.empty() ? "none" : formatList(value);
}

/// "{0}" of a fact: its value, or why it is not known; "{0:bytes}" of a size.
template <typename Value> struct llvm::format_provider<Fact<Value>> {
  static void format(const Fact<Value> &fact, raw_ostream &out,
                     StringRef style) {
    out << (fact ? words(*fact, style) : unknownText(fact.unknown));
  }
};

/// "  label       text", filled and indented.
static void row(raw_ostream &out, StringRef label, StringRef text) {
  writeFact(out, label, /*columns=*/14, text);
}
template <typename... Values>
static void row(raw_ostream &out, StringRef label, const char *text,
                const Values &...values) {
  row(out, label, formatv(text, values...).str());
}

// The verdict

static void writeMachine(raw_ostream &out, const Node &node) {
  const NodeMachine &machine = node.machine;
  std::string line =
      formatv("{0}: Linux {1}, {2}, {3}", machine.host, machine.kernelRelease,
              machine.architecture, machine.processor);
  if (machine.a64fx == A64fxKind::fx1000 || machine.a64fx == A64fxKind::fx700)
    line += " (" + a64fxName(machine.a64fx).str() + " numbering)";
  if (machine.cpus)
    line += ", " + std::to_string(*machine.cpus) + " CPUs";
  if (node.pages.memoryBytes)
    line += ", " + formatBytes(*node.pages.memoryBytes);
  if (!machine.container.empty())
    line += ", in a container (" + machine.container + ")";
  out << fillText(line, 2) << "\n\n";
}

/// Only root can write there.
static bool isForRoot(StringRef command) {
  return command.contains("> /proc/") || command.contains("> /sys/") ||
         command.starts_with("cpupower ");
}

/// Steps for a user until the administrator has answered.
static void writeWorksNow(raw_ostream &out, const Node &node,
                          const Verdict &verdict) {
  Fact<std::string> word = node.transparent.effective(largePageBytes);
  bool isTransparent = word && *word != "never";
  StringRef works = "mpgrun PROGRAM works without that, on ";
  if (verdict.status == VerdictStatus::pool)
    writeFilled(out, "  now:  ", works.str() + "pages of the pool");
  else if (isTransparent)
    writeFilled(out, "  now:  ", works.str() + "transparent huge pages");
  else
    writeFilled(out, "  now:  ", "programs run, on normal pages");
}

static void writeVerdict(raw_ostream &out, const Node &node,
                         const Verdict &verdict, bool asRoot) {
  bool asks = false;
  writeFilled(out, "", verdict.headline, 2);
  for (const NodeAdvice &advice : verdict.advice) {
    if (!advice.isWarning)
      continue;
    writeFilled(out, "  why:  ", advice.what);
    if (!advice.cost.empty())
      writeFilled(out, "  cost: ", advice.cost);
    // Not filled: these are to be copied.
    const char *head = "  fix:  ";
    if (!asRoot && any_of(advice.fix, isForRoot)) {
      out << "  ask the administrator for:\n";
      head = "        ";
      asks = true;
    }
    for (const std::string &line : advice.fix) {
      out << head << printable(line) << "\n";
      head = "        ";
    }
  }
  if (asks)
    writeWorksNow(out, node, verdict);
}

static void writeNotes(raw_ostream &out, const Verdict &verdict) {
  out << "\nnotes\n";
  for (const NodeAdvice &advice : verdict.advice) {
    if (advice.isWarning)
      continue;
    writeFilled(out, "  - ",
                advice.what + (advice.cost.empty() ? "" : ": " + advice.cost));
    for (const std::string &line : advice.fix)
      out << "    " << printable(line) << "\n";
  }
}

// Pages

static void writePool(raw_ostream &out, const Node &node,
                      const HugePool &pool) {
  std::string line;
  if (pool.total && *pool.total == 0 && pool.overcommit.valueOr(1) == 0)
    line = "pool empty, no overcommit";
  else
    line = formatv("pool {0}: free {1}, reserved {2}, surplus {3}; overcommit "
                   "{4}",
                   pool.total, pool.free, pool.reserved, pool.surplus,
                   pool.overcommit);
  if (node.pages.defaultHugeBytes.valueOr(0) == pool.pageBytes)
    line += "; the kernel's default";
  row(out, formatBytes(pool.pageBytes), line);
}

/// How many more pages there could be, and what to type for them.
static void writeObtainable(raw_ostream &out, const Node &node,
                            const Verdict &verdict) {
  Fact<uint64_t> pages = node.obtainable();
  if (!pages)
    return row(out, "could be had", "{0}", pages);
  std::map<std::string, uint64_t> zones;
  const Fact<std::vector<unsigned>> &allowed = node.numa.allowedNodes;
  for (const FreeBlocks &zone : *node.pages.freeBlocks) {
    if (allowed && !is_contained(*allowed, zone.node))
      continue;
    if (uint64_t found = zone.largePages(*node.pages.baseBytes))
      zones["node " + std::to_string(zone.node) + " " + printable(zone.zone)] +=
          found;
  }
  std::string where;
  for (const auto &[name, found] : zones)
    where += (where.empty() ? ": " : ", ") + name + " " + std::to_string(found);
  // A long list of zones of many nodes is for --json.
  if (zones.size() > 8)
    where.clear();
  row(out, "could be had",
      "{0} more of 2 MiB, {1} of free memory in pieces that large{2}", pages,
      formatBytes(multiplyCapped(*pages, largePageBytes)), where);
  // The line above has the command to get pages; do not print a second one.
  if (*pages && node.pages.largePool() && verdict.isGood())
    out << std::string(16, ' ') << growCommands(node, *pages).front() << "\n";
}

static void writePages(raw_ostream &out, const Node &node,
                       const Verdict &verdict) {
  out << "\npages\n";
  row(out, "base", "{0:bytes}", node.pages.baseBytes);
  if (!node.pages.pools)
    row(out, "large", unknownText(node.pages.pools.unknown));
  else if ((*node.pages.pools).empty())
    row(out, "large", "none, the kernel has no pools (hugetlb)");
  else
    for (const HugePool &pool : *node.pages.pools)
      writePool(out, node, pool);
  writeObtainable(out, node, verdict);
}

/// Times that programs wait for large pages.
static void writeStallRows(raw_ostream &out, const Node &node) {
  const TransparentFacts &facts = node.transparent;
  StringRef meaning = describeDefrag(facts.defrag.valueOr(""));
  if (!meaning.empty())
    row(out, "page faults", "{0} (defrag)", meaning);
  row(out, "stalls",
      node.stalls ? "since the boot: " + (*node.stalls).describe()
                  : unknownText(node.stalls.unknown));
}

static void writeTransparent(raw_ostream &out, const TransparentFacts &facts) {
  if (!facts.present)
    return row(out, "transparent", unknownText(facts.present.unknown));
  if (!*facts.present)
    return row(out, "transparent", "none, the kernel has not got them");
  row(out, "transparent", "{0}, page {1}; defrag {2}; shared memory {3}{4}",
      facts.enabled,
      facts.pageBytes ? formatBytes(*facts.pageBytes) : "size not told",
      facts.defrag, facts.sharedEnabled,
      facts.processEnabled.valueOr(1) == 0
          ? "; switched off for this job (prctl)"
          : "");
  row(out, "khugepaged",
      "defrag {0}, {1} pages every {2} ms, max_ptes_none {3}",
      facts.collapserDefrag, facts.collapserScanPages, facts.collapserSleepMs,
      facts.collapserEmptyPages);
  // Sizes by their description: few descriptions, many sizes.
  std::map<std::string, std::string> sizes;
  for (const TransparentSize &size : facts.sizes) {
    std::string &line = sizes[formatv("{0}", size.enabled)];
    line += (line.empty() ? " " : ", ") + formatBytes(size.pageBytes);
  }
  std::string line;
  for (const auto &[word, names] : sizes)
    line += (line.empty() ? "" : "; ") + word + names;
  if (!sizes.empty())
    row(out, "by size", line);
}

// Limits, nodes, kernel

static void writeGroups(raw_ostream &out, StringRef label,
                        const GroupLimits &groups) {
  if (!groups.unknown.empty())
    return row(out, label, unknownText(groups.unknown));
  if (groups.version == 0)
    return row(out, label, "no control group for them");
  std::string head = formatv("cgroup v{0}, ", groups.version);
  if (groups.limits.empty())
    return row(out, label, "{0}no limit", head);
  for (const GroupLimit &limit : groups.limits) {
    row(out, label, "{0}{1:bytes}, used {2:bytes}{3}: {4}", head,
        limit.limitBytes, limit.usageBytes,
        limit.isReservation ? " (reserved pages)" : "", printable(limit.file));
    label = "";
    head.clear();
  }
}

static void writeLimits(raw_ostream &out, const Node &node) {
  out << "\nlimits\n";
  writeGroups(out, "2 MiB pages", node.cgroups.largePages);
  writeGroups(out, "memory", node.cgroups.memory);
  const ProcessLimits &limits = node.limits;
  row(out, "process",
      "stack {0:bytes}, address space {1:bytes}, locked memory {2:bytes}",
      limits.stack, limits.addressSpace, limits.lockedMemory);
}

static void writeNumaNode(raw_ostream &out, const Node &node,
                          const NumaNode &numa) {
  A64fxKind kind = node.machine.a64fx;
  std::string label = "node " + std::to_string(numa.id);
  if (std::optional<unsigned> group = memoryGroup(kind, numa.id))
    label += " CMG " + std::to_string(*group);
  std::string line = formatv("CPUs {0}; {1:bytes}, free {2:bytes}", numa.cpus,
                             numa.memoryBytes, numa.freeBytes);
  if (node.pages.largePool())
    line += formatv("; pool free {0} of {1}", numa.poolFree, numa.poolTotal);
  if (Fact<uint64_t> more = node.obtainable(numa.id))
    line += ", " + std::to_string(*more) + " more";
  if (!numa.isAllowed)
    line += "; not for this job";
  row(out, label, line);
}

static void writeNuma(raw_ostream &out, const Node &node) {
  out << "\nCPUs and memory\n";
  std::vector<unsigned> system, cpus;
  for (const NumaNode &numa : node.numa.nodes) {
    if (!isSystemNode(node.machine.a64fx, numa.id)) {
      writeNumaNode(out, node, numa);
      continue;
    }
    system.push_back(numa.id);
    if (numa.cpus)
      append_range(cpus, *numa.cpus);
  }
  if (!system.empty())
    row(out, "nodes " + formatList(system), "for the system; CPUs {0}",
        formatList(cpus));
  if (node.numa.nodes.empty())
    row(out, "nodes", "unknown (/sys/devices/system/node: no nodes in it)");
  row(out, "this job", "CPUs {0}; memory of nodes {1}", node.numa.allowedCpus,
      node.numa.allowedNodes);
  const NodeMachine &machine = node.machine;
  row(out, "settings", "numa_balancing {0}; SMT {1}; governor {2}{3}",
      node.numa.balancing, machine.smt,
      machine.governors.empty() ? "not told" : join(machine.governors, ", "),
      machine.midr ? "; MIDR " + formatHex(*machine.midr) : "");
}

static StringRef reachText(Reach reach) {
  static constexpr StringLiteral names[] = {"not tried", "open",
                                            "closed (SIGILL)"};
  return names[unsigned(reach)];
}

/// Divided by MPAM, which has come after the A64FX.
static void writeDividedCaches(raw_ostream &out, const NodeMachine &machine) {
  if (!machine.dividedCaches)
    return;
  std::string line;
  for (const DividedCache &cache : *machine.dividedCaches)
    line += (line.empty() ? "" : ", ") + cache.name + " has " +
            std::to_string(cache.parts);
  if (line.empty())
    line = "resctrl shows none; mount -t resctrl resctrl /sys/fs/resctrl";
  row(out, "cache parts",
      "{0}: MPAM in place of A64FX's ways, for groups of tasks, not arrays",
      line);
}

static void writeExtensions(raw_ostream &out, const Node &node) {
  const NodeMachine &machine = node.machine;
  if (machine.a64fx == A64fxKind::no) {
    row(out, "hint tags", join(node.tags.missing, "; "));
    writeDividedCaches(out, machine);
    return;
  }
  const RegisterReach &reach = node.registers;
  out << "\nA64FX\n";
  row(out, "registers", "sector cache L1 {0}, L2 {1}; prefetch {2}",
      reachText(reach.sectorL1), reachText(reach.sectorL2),
      reachText(reach.prefetch));
  row(out, "barrier",
      machine.barrierDevice.empty()
          ? "no driver (/dev/fujitsu_hwb)"
          : machine.barrierDevice + " is there" +
                (machine.barrierHardware.empty()
                     ? ""
                     : " (hwinfo " + machine.barrierHardware + ")"));
  row(out, "HPC tags",
      machine.tagCommand.empty()
          ? "the vendor's fhetbo is not here: tags are most likely ignored"
          : "on unless switched off for the job by " + machine.tagCommand);
  row(out, "hints act", node.tags.summary());
  StringRef label = "missing";
  for (const std::string &what : node.tags.missing) {
    row(out, label, what);
    label = "";
  }
}

static void writeKernel(raw_ostream &out, const KernelFacts &kernel) {
  out << "\nkernel\n";
  for (StringRef label : {"has", "lacks", "unknown"}) {
    std::string line;
    for (const KernelFeature &feature : kernel.features) {
      StringRef found = !feature.present   ? "unknown"
                        : *feature.present ? "has"
                                           : "lacks";
      if (found == label)
        line += (line.empty() ? "" : ", ") + std::string(feature.name) +
                (!feature.present   ? ""
                 : feature.isProbed ? " (tried)"
                                    : " (by version)");
    }
    if (!line.empty())
      row(out, label, line);
  }
}

void mpg::writeNodeText(raw_ostream &out, const Node &node,
                        const Verdict &verdict, bool asRoot) {
  writeMachine(out, node);
  writeVerdict(out, node, verdict, asRoot);
  writePages(out, node, verdict);
  writeTransparent(out, node.transparent);
  if (node.transparent.present.valueOr(false))
    writeStallRows(out, node);
  writeLimits(out, node);
  writeNuma(out, node);
  writeExtensions(out, node);
  writeKernel(out, node.kernel);
  writeNotes(out, verdict);
}
