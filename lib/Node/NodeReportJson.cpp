// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for programs: schema mpginfo-1, in
// docs/schema/mpginfo-1.schema.json. Unknown values are null, and the list
// "unknown" has the reasons; all numbers are integers.

#include "Node/Node.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

namespace {

/// Builds the document and collects the reasons of facts that are not known.
class NodeDocument {
public:
  NodeDocument(const Node &node, const Verdict &verdict)
      : node(node), verdict(verdict) {}
  JsonObject make();

private:
  void noteUnknown(const std::string &why) {
    if (!why.empty() && !is_contained(unknown, why))
      unknown.push_back(why);
  }
  template <typename T> JsonItem known(const Fact<T> &fact) {
    noteUnknown(fact.unknown);
    return fact.value;
  }

  JsonObject verdictItem();
  JsonObject machineItem();
  JsonObject pagesItem();
  JsonItem transparentItem();
  JsonObject groupItem(const GroupLimits &groups);
  JsonObject cgroupsItem();
  JsonObject limitsItem();
  JsonObject numaNodeItem(const NumaNode &numa);
  JsonObject numaItem();

  const Node &node;
  const Verdict &verdict;
  std::vector<std::string> unknown;
};

} // namespace

static JsonObject adviceItem(const NodeAdvice &advice) {
  return {{"level", advice.isWarning ? "warning" : "note"},
          {"what", advice.what},
          {"cost", textOrNull(advice.cost)},
          {"fix", advice.fix}};
}

JsonObject NodeDocument::verdictItem() {
  return {{"status", statusName(verdict.status)},
          {"good", verdict.isGood()},
          {"headline", verdict.headline},
          {"available_pages", known(verdict.availablePages)},
          {"needed_pages", verdict.neededPages},
          {"advice", jsonList(verdict.advice, adviceItem)}};
}

JsonObject NodeDocument::machineItem() {
  const NodeMachine &machine = node.machine;
  JsonItem caches;
  if (machine.dividedCaches)
    caches = jsonList(*machine.dividedCaches, [](const DividedCache &cache) {
      return JsonObject{{"name", cache.name}, {"parts", cache.parts}};
    });
  return {{"host", known(machine.host)},
          {"kernel", known(machine.kernelRelease)},
          {"architecture", machine.architecture},
          {"processor", known(machine.processor)},
          {"midr", machine.midr.value},
          {"cpus", known(machine.cpus)},
          {"virtualised", textOrNull(machine.virtualised)},
          {"container", textOrNull(machine.container)},
          {"smt", known(machine.smt)},
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

JsonObject NodeDocument::pagesItem() {
  const PageFacts &pages = node.pages;
  JsonObject item = {{"base_bytes", known(pages.baseBytes)},
                     {"default_huge_bytes", known(pages.defaultHugeBytes)},
                     {"memory_bytes", known(pages.memoryBytes)},
                     {"available_bytes", known(pages.availableBytes)},
                     {"obtainable_pages", known(node.obtainable())}};
  JsonArray zones;
  if (pages.freeBlocks && pages.baseBytes)
    zones = jsonList(*pages.freeBlocks, [&](const FreeBlocks &zone) {
      return JsonObject{{"node", zone.node},
                        {"zone", zone.zone},
                        {"pages", zone.largePages(*pages.baseBytes)}};
    });
  item.push_back({"obtainable", zones});
  noteUnknown(pages.pools.unknown);
  JsonItem pools;
  if (pages.pools)
    pools = jsonList(*pages.pools, [&](const HugePool &pool) {
      return JsonObject{{"page_bytes", pool.pageBytes},
                        {"total", known(pool.total)},
                        {"free", known(pool.free)},
                        {"reserved", known(pool.reserved)},
                        {"surplus", known(pool.surplus)},
                        {"overcommit", known(pool.overcommit)}};
    });
  item.push_back({"pools", pools});
  return item;
}

JsonItem NodeDocument::transparentItem() {
  const TransparentFacts &facts = node.transparent;
  noteUnknown(facts.present.unknown);
  if (!facts.present || !*facts.present)
    return nullptr;
  JsonObject item = {{"enabled", known(facts.enabled)},
                     {"large_pages", known(facts.effective(largePageBytes))},
                     {"defrag", known(facts.defrag)},
                     {"shared", known(facts.sharedEnabled)},
                     {"page_bytes", known(facts.pageBytes)},
                     {"process_enabled", known(facts.processEnabled)}};
  noteUnknown(node.stalls.unknown);
  item.push_back({"stalls", node.stalls
                                ? JsonItem(jsonObject((*node.stalls).counts()))
                                : JsonItem()});
  item.push_back(
      {"khugepaged",
       JsonObject{{"defrag", known(facts.collapserDefrag)},
                  {"pages_to_scan", known(facts.collapserScanPages)},
                  {"scan_sleep_ms", known(facts.collapserSleepMs)},
                  {"max_ptes_none", known(facts.collapserEmptyPages)}}});
  item.push_back({"sizes", jsonList(facts.sizes, [&](auto &size) {
                    return JsonObject{{"page_bytes", size.pageBytes},
                                      {"enabled", known(size.enabled)}};
                  })});
  return item;
}

JsonObject NodeDocument::groupItem(const GroupLimits &groups) {
  noteUnknown(groups.unknown);
  JsonArray limits = jsonList(groups.limits, [&](const GroupLimit &limit) {
    return JsonObject{{"file", limit.file},
                      {"counts", limit.isReservation ? "reserved" : "used"},
                      {"limit_bytes", known(limit.limitBytes)},
                      {"usage_bytes", known(limit.usageBytes)}};
  });
  return {{"version", groups.version ? groups.version : JsonItem()},
          {"folder", textOrNull(groups.folder)},
          {"limits", limits}};
}

JsonObject NodeDocument::cgroupsItem() {
  const CgroupFacts &groups = node.cgroups;
  return {{"large_pages", groupItem(groups.largePages)},
          {"memory", groupItem(groups.memory)},
          {"pool_counts_as_memory", known(groups.poolCountsAsMemory)}};
}

JsonObject NodeDocument::limitsItem() {
  auto limit = [&](const Fact<uint64_t> &bytes) {
    return bytes && *bytes == UINT64_MAX ? "unlimited" : known(bytes);
  };
  return {{"stack_bytes", limit(node.limits.stack)},
          {"address_space_bytes", limit(node.limits.addressSpace)},
          {"locked_memory_bytes", limit(node.limits.lockedMemory)}};
}

JsonObject NodeDocument::numaNodeItem(const NumaNode &numa) {
  bool hasPool = node.pages.largePool();
  auto ofPool = [&](const Fact<uint64_t> &pages) {
    return hasPool ? known(pages) : JsonItem::absent();
  };
  return {{"node", numa.id},
          {"cmg", memoryGroup(node.machine.a64fx, numa.id)},
          {"system", isSystemNode(node.machine.a64fx, numa.id)},
          {"allowed", numa.isAllowed},
          {"cpus", known(numa.cpus)},
          {"memory_bytes", known(numa.memoryBytes)},
          {"free_bytes", known(numa.freeBytes)},
          {"pool_total", ofPool(numa.poolTotal)},
          {"pool_free", ofPool(numa.poolFree)},
          {"pool_surplus", ofPool(numa.poolSurplus)},
          {"obtainable_pages", known(node.obtainable(numa.id))},
          {"distances", numa.distances}};
}

JsonObject NodeDocument::numaItem() {
  const NumaFacts &numa = node.numa;
  return {{"balancing", known(numa.balancing)},
          {"balancing_faults", known(numa.balancingFaults)},
          {"balancing_moved_pages", known(numa.balancingMoved)},
          {"allowed_nodes", known(numa.allowedNodes)},
          {"allowed_cpus", known(numa.allowedCpus)},
          {"nodes", jsonList(numa.nodes, [&](const NumaNode &one) {
             return numaNodeItem(one);
           })}};
}

JsonObject NodeDocument::make() {
  return {{"schema", "mpginfo-1"},
          {"version", MPG_VERSION},
          {"verdict", verdictItem()},
          {"machine", machineItem()},
          {"a64fx", vendorItem(node)},
          {"hints", hintsItem(node.tags)},
          {"features", jsonList(node.kernel.features, featureItem)},
          {"pages", pagesItem()},
          {"transparent", transparentItem()},
          {"cgroups", cgroupsItem()},
          {"limits", limitsItem()},
          {"numa", numaItem()},
          {"unknown", unknown}};
}

void mpg::writeNodeJson(raw_ostream &out, const Node &node,
                        const Verdict &verdict) {
  writeJson(out, NodeDocument(node, verdict).make());
  out << "\n";
}
