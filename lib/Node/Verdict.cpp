// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Node.h. How many pages a program can have: what is free in the pool
// and not promised to others, plus what overcommit lets the kernel cut out of
// free memory now, less what control groups forbid.

#include "Node/Node.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static void add(Verdict &verdict, bool isWarning, std::string what,
                std::string cost, std::vector<std::string> fix) {
  verdict.advice.push_back(
      {isWarning, std::move(what), std::move(cost), std::move(fix)});
}

static std::string transparentFile(const std::string &name) {
  return "/sys/kernel/mm/transparent_hugepage/" + name;
}

/// The file that switches one size of them.
static std::string sizeSwitch(uint64_t pageBytes) {
  return transparentFile("hugepages-" + sysfsSize(pageBytes) + "/enabled");
}

static bool hasSwitch(const TransparentFacts &facts, uint64_t pageBytes) {
  return any_of(facts.sizes, [&](const TransparentSize &size) {
    return size.pageBytes == pageBytes;
  });
}

/// Transparent huge pages that do not come, or not in 2 MiB.
static void adviseTransparent(const Node &node, Verdict &verdict) {
  const TransparentFacts &facts = node.transparent;
  bool matters = verdict.status == VerdictStatus::none ||
                 verdict.status == VerdictStatus::transparent;
  Fact<std::string> word = facts.effective(largePageBytes);
  if (!word || *word != "never")
    return;
  const std::string cost =
      "what finds no place in the pool stays on normal pages";
  if (facts.processEnabled && *facts.processEnabled == 0)
    return add(verdict, matters,
               "this job has transparent huge pages switched off "
               "(PR_SET_THP_DISABLE, inherited from what started it)",
               cost, {});
  if (facts.present && !*facts.present)
    return add(verdict, matters, "the kernel has no transparent huge pages",
               cost, {});
  if (facts.pageBytes && *facts.pageBytes != largePageBytes) {
    std::string what = "a transparent huge page is " +
                       formatBytes(*facts.pageBytes) +
                       " here, too large for most data";
    if (hasSwitch(facts, largePageBytes))
      return add(verdict, matters, what + "; those of 2 MiB are off", cost,
                 {"echo madvise > " + sizeSwitch(largePageBytes)});
    return add(verdict, matters, what + ": only the pool gives pages of 2 MiB",
               cost, {});
  }
  add(verdict, matters, "transparent huge pages are off (never)", cost,
      {"echo madvise > " + transparentFile("enabled")});
  // A size that does not inherit has to be switched on by itself.
  if (facts.enabled && *facts.enabled != "never")
    verdict.advice.back().fix = {"echo inherit > " +
                                 sizeSwitch(largePageBytes)};
}

/// At least \p share of \p whole, and often enough to exclude an accident.
static bool isOften(uint64_t part, uint64_t whole, double share) {
  constexpr uint64_t minCount = 1000;
  return part >= minCount && double(part) >= share * double(whole);
}

/// Page faults of the machine that were to have a large page and had none.
static bool isOftenRefused(const MemoryStalls &stalls) {
  return isOften(stalls.refusedFaults, stalls.largeFaults, 0.1);
}

/// What page faults should do where no large page is free: the file `defrag`.
static void adviseDefrag(const Node &node, Verdict &verdict) {
  const TransparentFacts &facts = node.transparent;
  const std::string defrag = facts.defrag.valueOr("");
  if (facts.effective(largePageBytes).valueOr("never") == "never")
    return;
  const MemoryStalls stalls = node.stalls.valueOr(MemoryStalls());
  std::string vain = std::to_string(stalls.compactionsInVain) + " of " +
                     std::to_string(stalls.compactions) +
                     " compactions that programs waited for made no large page";
  if (defrag == "always")
    return add(verdict, true,
               "page faults of all programs wait for compaction (defrag is "
               "always)",
               "programs that never asked for large pages can stand still",
               {"echo defer+madvise > " + transparentFile("defrag")});
  if (StringRef(defrag).contains("madvise") &&
      isOften(stalls.compactionsInVain, stalls.compactions, 0.5))
    return add(
        verdict, true, vain + " (defrag is " + defrag + ")",
        "page faults that ask for transparent huge pages wait, mostly in "
        "vain",
        {"echo 1 > /proc/sys/vm/compact_memory",
         "echo defer > " + transparentFile("defrag")});
  if (defrag == "never" && isOftenRefused(stalls))
    add(verdict, true,
        std::to_string(stalls.refusedFaults) +
            " page faults were refused a large page, and nothing brings free "
            "memory together for them (defrag is never)",
        "memory stays on normal pages until khugepaged finds it",
        {"echo defer > " + transparentFile("defrag")});
}

/// Smaller transparent pages where those of 2 MiB are often refused.
static void adviseMiddleSizes(const Node &node, Verdict &verdict) {
  constexpr uint64_t middleBytes = 64 << 10;
  const TransparentFacts &facts = node.transparent;
  const MemoryStalls stalls = node.stalls.valueOr(MemoryStalls());
  if (!hasSwitch(facts, middleBytes) ||
      facts.effective(middleBytes).valueOr("") != "never" ||
      facts.effective(largePageBytes).valueOr("never") == "never" ||
      !isOftenRefused(stalls))
    return;
  add(verdict, false,
      std::to_string(stalls.refusedFaults) +
          " page faults were refused a page of 2 MiB; pages of 64 KiB, which "
          "fragmented memory still has, are off",
      "", {"echo madvise > " + sizeSwitch(middleBytes)});
}

/// Some nodes have free pages, others none.
static void adviseNodeBalance(const Node &node, Verdict &verdict) {
  std::vector<unsigned> empty;
  std::vector<std::string> fix;
  uint64_t total = 0;
  std::vector<const NumaNode *> nodes = node.numa.usable();
  erase_if(nodes, [&](const NumaNode *numa) {
    return isSystemNode(node.machine.a64fx, numa->id);
  });
  for (const NumaNode *numa : nodes) {
    total = addCapped(total, numa->poolTotal.valueOr(0));
    if (numa->poolFree && *numa->poolFree == 0)
      empty.push_back(numa->id);
  }
  if (empty.empty() || empty.size() == nodes.size())
    return;
  // Where programs have taken the pages, moving the pool does not help.
  for (const NumaNode *numa : nodes)
    if (numa->poolTotal.valueOr(0) < total / nodes.size())
      fix.push_back("echo " + std::to_string(total / nodes.size()) +
                    " > /sys/devices/system/node/node" +
                    std::to_string(numa->id) + "/hugepages/hugepages-" +
                    sysfsSize(largePageBytes) + "/nr_hugepages");
  add(verdict, true,
      "no 2 MiB page is free on NUMA node" +
          std::string(empty.size() > 1 ? "s " : " ") + formatList(empty) +
          ", others have some",
      "memory that threads there touch first comes from another node", fix);
}

static void adviseDefaultSize(const Node &node, Verdict &verdict) {
  const Fact<uint64_t> &size = node.pages.defaultHugeBytes;
  if (size && *size != largePageBytes)
    add(verdict, false,
        "the kernel's default large page is " + formatBytes(*size) +
            ": vm.nr_hugepages and HugePages_Total in /proc/meminfo are about "
            "that size, not about the 2 MiB pages of libmpg",
        "", {});
}

static void adviseBalancing(const Node &node, Verdict &verdict) {
  if (node.numa.nodes.size() < 2 || node.numa.balancing.valueOr(0) == 0)
    return;
  std::string counts;
  if (node.numa.balancingFaults && node.numa.balancingMoved)
    counts = "; since the start of the machine " +
             std::to_string(*node.numa.balancingFaults) +
             " page faults for it, " +
             std::to_string(*node.numa.balancingMoved) + " pages moved";
  add(verdict, false,
      "the kernel moves pages between NUMA nodes on its own "
      "(numa_balancing), but none of the pool" +
          counts,
      "page faults in programs whose threads are bound anyway",
      {"echo 0 > /proc/sys/kernel/numa_balancing"});
}

static void adviseAddressSpace(const Node &node, Verdict &verdict) {
  const Fact<uint64_t> &limit = node.limits.addressSpace;
  if (limit && *limit != UINT64_MAX)
    add(verdict, false,
        "address space is limited to " + formatBytes(*limit) + " (ulimit -v)",
        "large pages are set aside in it; what does not fit stays on normal "
        "pages",
        {"ulimit -v unlimited"});
}

static void adviseA64fx(const Node &node, Verdict &verdict) {
  const NodeMachine &machine = node.machine;
  if (machine.a64fx == A64fxKind::other)
    add(verdict, false,
        "this A64FX is numbered neither as FX1000 nor as FX700, so that its "
        "core memory groups are not named here",
        "", {});
  if (node.registers.sectorL1 != Reach::closed)
    return;
  add(verdict, false,
      machine.sectorDevice.empty()
          ? "programs cannot set the ways of the sector cache"
          : "the sector cache is closed until the vendor's runtime opens it (" +
                machine.sectorDevice + ")",
      "sector hints have no effect as long as no ways are set", {});
}

static void adviseVendorLibrary(const Node &node, Verdict &verdict) {
  if (!node.machine.vendorLibrary.empty())
    add(verdict, false,
        "Fujitsu's library is here (" + node.machine.vendorLibrary +
            "); in a program that loads both, ours only reports",
        "", {});
}

/// Facts that make timings of this machine differ from those of another.
static void adviseTiming(const Node &node, Verdict &verdict) {
  const NodeMachine &machine = node.machine;
  std::vector<std::string> slow = machine.governors;
  erase_if(slow, [](const std::string &name) { return name == "performance"; });
  if (!slow.empty())
    add(verdict, false, "the clock governor is " + join(slow, ", "),
        "timings vary", {"cpupower frequency-set -g performance"});
  if (!machine.virtualised.empty())
    add(verdict, false,
        "this is a virtual machine (" + machine.virtualised + ")",
        "a TLB miss walks two page tables, and a large page is one for the "
        "processor only if the host has it on one as well",
        {});
}

/// Why a site's figures do not show large pages.
static void adviseAccounting(const Node &node, Verdict &verdict) {
  std::string where = "RSS (ps, top, Slurm's MaxRSS)";
  std::string what = "pages of the pool are not in " + where;
  const Fact<bool> &counts = node.cgroups.poolCountsAsMemory;
  if (counts && *counts)
    what += ", but they count in the memory of a job's control group "
            "(memory_hugetlb_accounting) and against its limit";
  else if (counts)
    what += " and not in the memory of a job's control group, so neither in "
            "its limit";
  add(verdict, false,
      what + "; HugetlbPages in /proc/PID/status and mpgrun --report show them",
      "", {});
}

StringRef mpg::statusName(VerdictStatus status) {
  static constexpr StringLiteral names[] = {"pool", "too-few", "transparent",
                                            "none", "unknown"};
  return names[unsigned(status)];
}

static uint64_t subtract(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static std::string pagesText(uint64_t pages) {
  return countWord(pages, "page") + " of 2 MiB (" +
         formatBytes(multiplyCapped(pages, largePageBytes)) + ")";
}

// How many pages

/// Free pages of the pool on nodes that this process may use; all of them if
/// the nodes do not tell.
static uint64_t freeOnUsableNodes(const Node &node, uint64_t freePages) {
  uint64_t found = 0;
  bool isRestricted = false;
  for (const NumaNode &numa : node.numa.nodes) {
    isRestricted |= !numa.isAllowed;
    if (!numa.poolFree)
      return freePages;
    if (numa.isAllowed)
      found = addCapped(found, *numa.poolFree);
  }
  return isRestricted ? std::min(found, freePages) : freePages;
}

/// Pages that a program could have if no control group were there.
static Fact<uint64_t> poolSupply(const Node &node) {
  if (!node.pages.pools)
    return Fact<uint64_t>::missing(node.pages.pools.unknown);
  const HugePool *pool = node.pages.largePool();
  if (!pool)
    return uint64_t(0); // the kernel has no such size
  for (const Fact<uint64_t> *count :
       {&pool->total, &pool->free, &pool->reserved})
    if (!*count)
      return Fact<uint64_t>::missing(count->unknown);
  uint64_t pages =
      subtract(freeOnUsableNodes(node, *pool->free), *pool->reserved);
  uint64_t overcommit =
      subtract(pool->overcommit.valueOr(0), pool->surplus.valueOr(0));
  return addCapped(pages,
                   std::min(overcommit, node.obtainable().valueOr(overcommit)));
}

static Fact<uint64_t> availablePages(const Node &node) {
  Fact<uint64_t> pages = poolSupply(node);
  if (const GroupLimit *limit = node.cgroups.largePages.tightest(); pages)
    if (limit)
      pages = std::min(*pages, limit->leftBytes() / largePageBytes);
  return pages;
}

// Commands

/// Nodes that have to be named, because the common file would enlarge the pool
/// on others as well; empty if it would not.
static std::vector<const NumaNode *> namedNodes(const Node &node) {
  std::vector<const NumaNode *> wanted;
  size_t withMemory = 0;
  for (const NumaNode &numa : node.numa.nodes) {
    if (numa.memoryBytes.valueOr(1) == 0)
      continue;
    ++withMemory;
    if (numa.isAllowed && !isSystemNode(node.machine.a64fx, numa.id))
      wanted.push_back(&numa);
  }
  return wanted.size() == withMemory ? std::vector<const NumaNode *>() : wanted;
}

/// "4 5 6 7", for a loop of the shell.
static std::string nodeWords(const std::vector<const NumaNode *> &nodes) {
  std::string words;
  for (const NumaNode *numa : nodes)
    words += (words.empty() ? "" : " ") + std::to_string(numa->id);
  return words;
}

std::vector<std::string> mpg::growCommands(const Node &node,
                                           uint64_t morePages) {
  const std::string pool =
      "hugepages/hugepages-" + sysfsSize(largePageBytes) + "/nr_hugepages";
  // tmpfiles.d writes files at boot, and unlike sysctl any of them.
  const std::string boot = " > /etc/tmpfiles.d/large-pages.conf";
  std::vector<const NumaNode *> nodes = namedNodes(node);
  if (nodes.empty()) {
    const HugePool *large = node.pages.largePool();
    std::string count = std::to_string(
        addCapped(large ? large->total.valueOr(0) : 0, morePages));
    std::string file = "/sys/kernel/mm/" + pool;
    return {"echo " + count + " > " + file,
            "echo 'w " + file + " - - - - " + count + "'" + boot};
  }
  // The same for all nodes, and less for none.
  uint64_t sum = morePages, max = 0;
  for (const NumaNode *numa : nodes) {
    sum = addCapped(sum, numa->poolTotal.valueOr(0));
    max = std::max(max, numa->poolTotal.valueOr(0));
  }
  std::string count =
      std::to_string(std::max(max, (sum + nodes.size() - 1) / nodes.size()));
  std::string loop = "for n in " + nodeWords(nodes) + "; do echo ";
  std::string file = "/sys/devices/system/node/node$n/" + pool;
  return {loop + count + " > " + file + "; done",
          loop + "\"w " + file + " - - - - " + count + "\"; done" + boot};
}

/// Without a need: half of the memory that is free.
static uint64_t pagesToAdd(const Node &node, const Verdict &verdict) {
  uint64_t available = verdict.availablePages.valueOr(0);
  if (verdict.neededPages)
    return subtract(verdict.neededPages, available);
  return node.pages.availableBytes.valueOr(0) / 2 / largePageBytes;
}

// The advice that decides

/// The pool is empty or too small.
static void advisePool(const Node &node, Verdict &verdict) {
  const HugePool *pool = node.pages.largePool();
  if (!pool)
    return add(verdict, true, "the kernel has no pool of 2 MiB pages",
               "only transparent huge pages are possible",
               {"zgrep HUGETLB /proc/config.gz # is it built in?"});
  std::string cost = verdict.status == VerdictStatus::tooFew
                         ? "what does not fit stays on normal or transparent "
                           "pages"
                         : "data, heap and stacks stay on normal or "
                           "transparent pages";
  const Fact<uint64_t> &memory = node.pages.memoryBytes;
  if (memory && verdict.neededPages > *memory / largePageBytes)
    return add(verdict, true,
               "the node has " + formatBytes(*memory) +
                   " of memory in all: no command gives more",
               cost, {});
  uint64_t more = pagesToAdd(node, verdict);
  std::string what = pool->total.valueOr(0) == 0
                         ? "the pool of 2 MiB pages is empty"
                         : std::to_string(pool->free.valueOr(0)) + " of the " +
                               std::to_string(*pool->total) +
                               " 2 MiB pages in the pool are free, " +
                               std::to_string(pool->reserved.valueOr(0)) +
                               " of them promised to running programs";
  std::vector<std::string> fix;
  if (!verdict.neededPages)
    what += "; the command takes half of the memory that is available";
  Fact<uint64_t> obtainable = node.obtainable();
  if (obtainable && *obtainable < more) {
    what += "; free memory is in pieces, only " + pagesText(*obtainable) +
            " can be had at once";
    // The kernel tidies up as well when the pool grows, but gives up early.
    fix.push_back("echo 1 > /proc/sys/vm/compact_memory");
  }
  if (more)
    append_range(fix, growCommands(node, more));
  add(verdict, true, what, cost, fix);
}

/// A control group allows less than the pool has.
static bool adviseGroup(const Node &node, Verdict &verdict) {
  const GroupLimits &groups = node.cgroups.largePages;
  const GroupLimit *limit = groups.tightest();
  if (!limit)
    return false;
  uint64_t left = limit->leftBytes() / largePageBytes;
  Fact<uint64_t> supply = poolSupply(node);
  bool decides = !supply || left < *supply;
  std::string cost = "what is beyond stays on normal pages";
  if (!limit->isReservation)
    cost += ", and a program that only reserves pages dies by SIGBUS when it "
            "touches them; libmpg takes them at once";
  add(verdict, decides,
      "the control group lets this job " +
          std::string(limit->isReservation ? "reserve " : "use ") +
          pagesText(left) + " more: " + printable(limit->file) + " is " +
          formatBytes(*limit->limitBytes) + ", " +
          formatBytes(limit->usageBytes.valueOr(0)) + " are taken",
      decides ? cost : "", {limit->liftCommand()});
  return decides;
}

// The verdict

static VerdictStatus decide(const Node &node, const Verdict &verdict) {
  if (verdict.availablePages && *verdict.availablePages) {
    bool enough = *verdict.availablePages >= verdict.neededPages;
    return enough ? VerdictStatus::pool : VerdictStatus::tooFew;
  }
  Fact<std::string> word = node.transparent.effective(largePageBytes);
  if (word && (*word == "always" || *word == "madvise"))
    return VerdictStatus::transparent;
  return verdict.availablePages && word ? VerdictStatus::none
                                        : VerdictStatus::unknown;
}

static std::string makeHeadline(const Node &node, const Verdict &verdict) {
  uint64_t pages = verdict.availablePages.valueOr(0);
  std::string needed = verdict.neededPages
                           ? ", " + pagesText(verdict.neededPages) + " needed"
                           : "";
  switch (verdict.status) {
  case VerdictStatus::pool:
    return "READY: a program can have " + pagesText(pages) + " now" + needed;
  case VerdictStatus::tooFew:
    return "TOO FEW: a program can have " + pagesText(pages) + " now" + needed;
  case VerdictStatus::transparent:
    return (verdict.availablePages
                ? "TRANSPARENT ONLY: no 2 MiB page of the pool can be had"
                : "TRANSPARENT: what the pool has is unknown") +
           needed + "; transparent huge pages are on" +
           (*node.transparent.effective(largePageBytes) == "madvise"
                ? " for programs that ask"
                : "");
  case VerdictStatus::none:
    return "NO LARGE PAGES: no 2 MiB page of the pool can be had" + needed +
           ", transparent ones are off";
  case VerdictStatus::unknown:
    return "UNKNOWN: the kernel's files about large pages cannot be read";
  }
  return "";
}

Verdict mpg::judgeNode(const Node &node, uint64_t neededPages) {
  Verdict verdict;
  verdict.neededPages = neededPages;
  verdict.availablePages = availablePages(node);
  verdict.status = decide(node, verdict);
  verdict.headline = makeHeadline(node, verdict);
  bool limited = adviseGroup(node, verdict);
  if (!verdict.availablePages) {
    add(verdict, true,
        "how many 2 MiB pages there are is unknown (" +
            printable(verdict.availablePages.unknown) + ")",
        "mpginfo cannot tell what a program would get", {});
  } else if (verdict.status != VerdictStatus::pool) {
    // A larger pool does not help while a control group is what limits.
    uint64_t wanted = std::max<uint64_t>(neededPages, 1);
    if (!limited || poolSupply(node).valueOr(0) < wanted)
      advisePool(node, verdict);
  }
  adviseTransparent(node, verdict);
  adviseDefrag(node, verdict);
  adviseMiddleSizes(node, verdict);
  adviseNodeBalance(node, verdict);
  adviseA64fx(node, verdict);
  adviseBalancing(node, verdict);
  adviseTiming(node, verdict);
  adviseAddressSpace(node, verdict);
  adviseDefaultSize(node, verdict);
  adviseVendorLibrary(node, verdict);
  adviseAccounting(node, verdict);
  return verdict;
}
