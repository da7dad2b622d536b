// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Advice.h.

#include "Node/Advice.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

static void add(Verdict &verdict, bool isWarning, std::string what,
                std::string cost, std::vector<std::string> fix) {
  verdict.advice.push_back(
      {isWarning, std::move(what), std::move(cost), std::move(fix)});
}

/// Transparent huge pages that do not come, or not in 2 MiB.
void mpg::adviseTransparent(const Node &node, Verdict &verdict) {
  const TransparentFacts &facts = node.transparent;
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
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
  bool hasSwitch = any_of(facts.sizes, [](const TransparentSize &size) {
    return size.pageBytes == largePageBytes;
  });
  if (facts.pageBytes && *facts.pageBytes != largePageBytes) {
    std::string what = "a transparent huge page is " +
                       formatBytes(*facts.pageBytes) +
                       " here, too large for most data: only the pool gives "
                       "pages of 2 MiB";
    if (hasSwitch)
      return add(verdict, matters,
                 "a transparent huge page is " + formatBytes(*facts.pageBytes) +
                     " here, too large for most data; those of 2 MiB are off",
                 cost,
                 {"echo madvise > " + folder + "hugepages-" +
                  sysfsSize(largePageBytes) + "/enabled"});
    return add(verdict, matters, what, cost, {});
  }
  add(verdict, matters, "transparent huge pages are off (never)", cost,
      {"echo madvise > " + folder + "enabled"});
  // A size that does not inherit has to be switched on by itself.
  if (facts.enabled && *facts.enabled != "never")
    verdict.advice.back().fix = {"echo inherit > " + folder + "hugepages-" +
                                 sysfsSize(largePageBytes) + "/enabled"};
}

/// Some nodes have free pages, others none.
void mpg::adviseNodeBalance(const Node &node, Verdict &verdict) {
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
  // Where programs have taken the pages, moving the pool helps nobody.
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

void mpg::adviseDefaultSize(const Node &node, Verdict &verdict) {
  const Fact<uint64_t> &size = node.pages.defaultHugeBytes;
  if (size && *size != largePageBytes)
    add(verdict, false,
        "the kernel's default large page is " + formatBytes(*size) +
            ": vm.nr_hugepages and HugePages_Total in /proc/meminfo are about "
            "that size, not about the 2 MiB pages of libmpg",
        "", {});
}

void mpg::adviseBalancing(const Node &node, Verdict &verdict) {
  if (node.numa.nodes.size() > 1 && node.numa.balancing.valueOr(0) != 0)
    add(verdict, false,
        "the kernel moves pages between NUMA nodes on its own "
        "(numa_balancing)",
        "page faults in programs whose threads are bound anyway",
        {"echo 0 > /proc/sys/kernel/numa_balancing"});
}

void mpg::adviseAddressSpace(const Node &node, Verdict &verdict) {
  const Fact<uint64_t> &limit = node.limits.addressSpace;
  if (limit && *limit != UINT64_MAX)
    add(verdict, false,
        "address space is limited to " + formatBytes(*limit) + " (ulimit -v)",
        "large pages are set aside in it; what does not fit stays on normal "
        "pages",
        {"ulimit -v unlimited"});
}

void mpg::adviseA64fx(const Node &node, Verdict &verdict) {
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

void mpg::adviseVendorLibrary(const Node &node, Verdict &verdict) {
  if (!node.machine.vendorLibrary.empty())
    add(verdict, false,
        "Fujitsu's library is here (" + node.machine.vendorLibrary +
            "); in a program that loads both, ours only reports",
        "", {});
}

/// What makes timings of this machine differ from those of another.
void mpg::adviseTiming(const Node &node, Verdict &verdict) {
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
void mpg::adviseAccounting(const Node &node, Verdict &verdict) {
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
