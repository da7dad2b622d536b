// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for programs: schema mpginfo-1, in
// docs/schema/mpginfo-1.schema.json. Unknown values are null, and the list
// "unknown" has the reasons of those that are Facts; all numbers are integers.

#include "Node/Node.h"
#include "Support/JsonItem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static JsonObject adviceItem(const NodeAdvice &advice) {
  return {{"level", advice.isWarning ? "warning" : "note"},
          {"what", advice.what},
          {"cost", textOrNull(advice.cost)},
          {"fix", advice.fix}};
}

static JsonObject verdictItem(const Verdict &verdict) {
  return {{"status", statusName(verdict.status)},
          {"good", verdict.isGood()},
          {"headline", verdict.headline},
          {"available_pages", verdict.availablePages},
          {"needed_pages", verdict.neededPages},
          {"advice", jsonList(verdict.advice, adviceItem)}};
}

static JsonObject machineItem(const NodeMachine &machine) {
  JsonItem caches;
  if (machine.dividedCaches)
    caches = jsonList(*machine.dividedCaches, [](const DividedCache &cache) {
      return JsonObject{{"name", cache.name}, {"parts", cache.parts}};
    });
  return {{"host", machine.host},
          {"kernel", machine.kernelRelease},
          {"architecture", machine.architecture},
          {"processor", machine.processor},
          {"midr", machine.midr.value},
          {"cpus", machine.cpus},
          {"virtualised", textOrNull(machine.virtualised)},
          {"container", textOrNull(machine.container)},
          {"smt", machine.smt},
          {"governors", machine.governors},
          {"divided_caches", caches}};
}

static JsonItem reachItem(Reach reach) {
  return reach == Reach::notTried ? JsonItem() : reach == Reach::open;
}

static JsonObject vendorItem(const Node &node) {
  const NodeMachine &machine = node.machine;
  return {{"numbering", textOrNull(a64fxName(machine.a64fx))},
          {"vendor_library", textOrNull(machine.vendorLibrary)},
          {"tag_command", textOrNull(machine.tagCommand)},
          {"sector_device", textOrNull(machine.sectorDevice)},
          {"barrier_device", textOrNull(machine.barrierDevice)},
          {"sector_l1_open", reachItem(node.registers.sectorL1)},
          {"sector_l2_open", reachItem(node.registers.sectorL2)},
          {"prefetch_open", reachItem(node.registers.prefetch)},
          {"prefetch_access", machine.prefetchAccess},
          {"barrier_hardware", textOrNull(machine.barrierHardware)}};
}

static JsonObject hintsItem(const TagSupport &tags) {
  return {{"sector", abilityName(tags.sector)},
          {"prefetch", abilityName(tags.prefetch)},
          {"injection", abilityName(tags.injection)},
          {"barrier", abilityName(tags.barrier)},
          {"missing", tags.missing}};
}

static JsonObject featureItem(const KernelFeature &feature) {
  return {{"name", feature.name},
          {"present", feature.present},
          {"how", feature.isProbed ? "tried" : "version"}};
}

static JsonObject poolItem(const HugePool &pool) {
  return {{"page_bytes", pool.pageBytes},
          {"total", pool.total},
          {"free", pool.free},
          {"reserved", pool.reserved},
          {"surplus", pool.surplus},
          {"overcommit", pool.overcommit}};
}

static JsonObject pagesItem(const Node &node) {
  const PageFacts &pages = node.pages;
  JsonArray zones;
  if (pages.freeBlocks && pages.baseBytes)
    zones = jsonList(*pages.freeBlocks, [&](const FreeBlocks &zone) {
      return JsonObject{{"node", zone.node},
                        {"zone", zone.zone},
                        {"pages", zone.largePages(*pages.baseBytes)}};
    });
  return {{"base_bytes", pages.baseBytes},
          {"default_huge_bytes", pages.defaultHugeBytes},
          {"memory_bytes", pages.memoryBytes},
          {"available_bytes", pages.availableBytes},
          {"obtainable_pages", node.obtainable()},
          {"obtainable", zones},
          {"pools", pages.pools ? jsonList(*pages.pools, poolItem)
                                : JsonItem::unknown(pages.pools.unknown)}};
}

static JsonItem stallsItem(const Fact<MemoryStalls> &stalls) {
  return stalls ? jsonObject((*stalls).counts())
                : JsonItem::unknown(stalls.unknown);
}

static JsonItem transparentItem(const Node &node) {
  const TransparentFacts &facts = node.transparent;
  if (!facts.present.valueOr(false))
    return JsonItem::unknown(facts.present.unknown);
  auto size = [](const TransparentSize &one) {
    return JsonObject{{"page_bytes", one.pageBytes}, {"enabled", one.enabled}};
  };
  return JsonObject{
      {"enabled", facts.enabled},
      {"large_pages", facts.effective(largePageBytes)},
      {"defrag", facts.defrag},
      {"shared", facts.sharedEnabled},
      {"page_bytes", facts.pageBytes},
      {"process_enabled", facts.processEnabled},
      {"stalls", stallsItem(node.stalls)},
      {"khugepaged", JsonObject{{"defrag", facts.collapserDefrag},
                                {"pages_to_scan", facts.collapserScanPages},
                                {"scan_sleep_ms", facts.collapserSleepMs},
                                {"max_ptes_none", facts.collapserEmptyPages}}},
      {"sizes", jsonList(facts.sizes, size)}};
}

static JsonObject groupItem(const GroupLimits &groups) {
  auto item = [](const GroupLimit &limit) {
    return JsonObject{{"file", limit.file},
                      {"counts", limit.isReservation ? "reserved" : "used"},
                      {"limit_bytes", limit.limitBytes},
                      {"usage_bytes", limit.usageBytes}};
  };
  return {{"version", groups.version ? groups.version : JsonItem()},
          {"folder", groups.folder.empty() ? JsonItem::unknown(groups.unknown)
                                           : JsonItem(groups.folder)},
          {"limits", jsonList(groups.limits, item)}};
}

static JsonObject cgroupsItem(const CgroupFacts &groups) {
  return {{"large_pages", groupItem(groups.largePages)},
          {"memory", groupItem(groups.memory)},
          {"pool_counts_as_memory", groups.poolCountsAsMemory}};
}

static JsonObject limitsItem(const ProcessLimits &limits) {
  auto limit = [&](const Fact<uint64_t> &bytes) {
    return bytes.valueOr(0) == UINT64_MAX ? JsonItem("unlimited") : bytes;
  };
  return {{"stack_bytes", limit(limits.stack)},
          {"address_space_bytes", limit(limits.addressSpace)},
          {"locked_memory_bytes", limit(limits.lockedMemory)}};
}

static JsonObject numaNodeItem(const Node &node, const NumaNode &numa) {
  bool hasPool = node.pages.largePool();
  auto ofPool = [&](const Fact<uint64_t> &pages) {
    return hasPool ? JsonItem(pages) : JsonItem::absent();
  };
  return {{"node", numa.id},
          {"cmg", memoryGroup(node.machine.a64fx, numa.id)},
          {"system", isSystemNode(node.machine.a64fx, numa.id)},
          {"allowed", numa.isAllowed},
          {"cpus", numa.cpus},
          {"memory_bytes", numa.memoryBytes},
          {"free_bytes", numa.freeBytes},
          {"pool_total", ofPool(numa.poolTotal)},
          {"pool_free", ofPool(numa.poolFree)},
          {"pool_surplus", ofPool(numa.poolSurplus)},
          {"obtainable_pages", node.obtainable(numa.id)},
          {"distances", numa.distances}};
}

static JsonObject numaItem(const Node &node) {
  const NumaFacts &numa = node.numa;
  return {{"balancing", numa.balancing},
          {"balancing_faults", numa.balancingFaults},
          {"balancing_moved_pages", numa.balancingMoved},
          {"allowed_nodes", numa.allowedNodes},
          {"allowed_cpus", numa.allowedCpus},
          {"nodes", jsonList(numa.nodes, [&](const NumaNode &one) {
             return numaNodeItem(node, one);
           })}};
}

void mpg::writeNodeJson(raw_ostream &out, const Node &node,
                        const Verdict &verdict) {
  JsonObject document = {
      {"schema", "mpginfo-1"},
      {"version", MPG_VERSION},
      {"verdict", verdictItem(verdict)},
      {"machine", machineItem(node.machine)},
      {"a64fx", vendorItem(node)},
      {"hints", hintsItem(node.tags)},
      {"features", jsonList(node.kernel.features, featureItem)},
      {"pages", pagesItem(node)},
      {"transparent", transparentItem(node)},
      {"cgroups", cgroupsItem(node.cgroups)},
      {"limits", limitsItem(node.limits)},
      {"numa", numaItem(node)}};
  document.push_back({"unknown", JsonItem(document).reasons()});
  writeJson(out, document);
  out << "\n";
}
