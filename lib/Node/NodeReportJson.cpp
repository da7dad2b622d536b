// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for programs: schema mpginfo-1, in
// docs/schema/mpginfo-1.schema.json. Unknown values are null, and the list
// "unknown" has the reasons; all numbers are integers.

#include "Node/Node.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

namespace {

/// Writes facts and collects the reasons of those that are not known.
class NodeWriter {
public:
  NodeWriter(raw_ostream &out, const Node &node, const Verdict &verdict)
      : json(out), node(node), verdict(verdict) {}
  void write();

private:
  void noteUnknown(const std::string &why) {
    if (!why.empty() && !is_contained(unknown, why))
      unknown.push_back(why);
  }
  void number(StringRef key, const Fact<uint64_t> &fact);
  void text(StringRef key, const Fact<std::string> &fact);
  void list(StringRef key, const Fact<std::vector<unsigned>> &fact);
  /// A text that is null when empty: no sign of the thing.
  void sign(StringRef key, StringRef value);

  void writeVerdict();
  void writeAdvice(const NodeAdvice &advice);
  void writeMachine();
  void writeVendor();
  void writeTags();
  void writeFeatures();
  void writePages();
  void writePool(const HugePool &pool);
  void writeStalls();
  void writeTransparent();
  void writeGroups(StringRef key, const GroupLimits &groups);
  void writeLimits();
  void writeNuma();
  void writeNumaNode(const NumaNode &numa);

  json::OStream json;
  const Node &node;
  const Verdict &verdict;
  std::vector<std::string> unknown;
};

} // namespace

void NodeWriter::number(StringRef key, const Fact<uint64_t> &fact) {
  json.attribute(key, fact ? json::Value(*fact) : json::Value(nullptr));
  noteUnknown(fact.unknown);
}

void NodeWriter::text(StringRef key, const Fact<std::string> &fact) {
  json.attribute(key, fact ? validUtf8(*fact) : json::Value(nullptr));
  noteUnknown(fact.unknown);
}

void NodeWriter::list(StringRef key, const Fact<std::vector<unsigned>> &fact) {
  noteUnknown(fact.unknown);
  if (!fact)
    return json.attribute(key, nullptr);
  json.attributeArray(key, [&] {
    for (unsigned value : *fact)
      json.value(value);
  });
}

void NodeWriter::sign(StringRef key, StringRef value) {
  json.attribute(key, value.empty() ? json::Value(nullptr) : validUtf8(value));
}

void NodeWriter::writeAdvice(const NodeAdvice &advice) {
  json.object([&] {
    json.attribute("level", advice.isWarning ? "warning" : "note");
    json.attribute("what", validUtf8(advice.what));
    sign("cost", advice.cost);
    json.attributeArray("fix", [&] {
      for (const std::string &line : advice.fix)
        json.value(validUtf8(line));
    });
  });
}

void NodeWriter::writeVerdict() {
  json.attributeObject("verdict", [&] {
    json.attribute("status", statusName(verdict.status));
    json.attribute("good", verdict.isGood());
    json.attribute("headline", validUtf8(verdict.headline));
    number("available_pages", verdict.availablePages);
    json.attribute("needed_pages", verdict.neededPages);
    json.attributeArray("advice", [&] {
      for (const NodeAdvice &advice : verdict.advice)
        writeAdvice(advice);
    });
  });
}

static json::Value reachValue(Reach reach) {
  if (reach == Reach::notTried)
    return nullptr;
  return reach == Reach::open;
}

void NodeWriter::writeVendor() {
  const NodeMachine &machine = node.machine;
  json.attributeObject("a64fx", [&] {
    sign("numbering", a64fxName(machine.a64fx));
    sign("vendor_library", machine.vendorLibrary);
    sign("tag_command", machine.tagCommand);
    sign("sector_device", machine.sectorDevice);
    sign("barrier_device", machine.barrierDevice);
    json.attribute("sector_l1_open", reachValue(node.registers.sectorL1));
    json.attribute("sector_l2_open", reachValue(node.registers.sectorL2));
    json.attribute("prefetch_open", reachValue(node.registers.prefetch));
    json.attribute("prefetch_access", machine.prefetchAccess
                                          ? json::Value(*machine.prefetchAccess)
                                          : json::Value(nullptr));
    sign("barrier_hardware", machine.barrierHardware);
  });
  writeTags();
}

void NodeWriter::writeTags() {
  const TagSupport &tags = node.tags;
  json.attributeObject("hints", [&] {
    json.attribute("sector", abilityName(tags.sector));
    json.attribute("prefetch", abilityName(tags.prefetch));
    json.attribute("injection", abilityName(tags.injection));
    json.attribute("barrier", abilityName(tags.barrier));
    json.attributeArray("missing", [&] {
      for (const std::string &what : tags.missing)
        json.value(validUtf8(what));
    });
  });
}

void NodeWriter::writeMachine() {
  const NodeMachine &machine = node.machine;
  json.attributeObject("machine", [&] {
    text("host", machine.host);
    text("kernel", machine.kernelRelease);
    json.attribute("architecture", machine.architecture);
    text("processor", machine.processor);
    json.attribute("midr", machine.midr ? json::Value(*machine.midr)
                                        : json::Value(nullptr));
    json.attribute("cpus", machine.cpus ? json::Value(*machine.cpus)
                                        : json::Value(nullptr));
    noteUnknown(machine.cpus.unknown);
    sign("virtualised", machine.virtualised);
    sign("container", machine.container);
    text("smt", machine.smt);
    json.attributeArray("governors", [&] {
      for (const std::string &name : machine.governors)
        json.value(validUtf8(name));
    });
  });
  writeVendor();
}

void NodeWriter::writeFeatures() {
  json.attributeArray("features", [&] {
    for (const KernelFeature &feature : node.kernel.features)
      json.object([&] {
        json.attribute("name", feature.name);
        json.attribute("present", feature.present
                                      ? json::Value(*feature.present)
                                      : json::Value(nullptr));
        json.attribute("how", feature.isProbed ? "tried" : "version");
      });
  });
}

void NodeWriter::writePool(const HugePool &pool) {
  json.object([&] {
    json.attribute("page_bytes", pool.pageBytes);
    number("total", pool.total);
    number("free", pool.free);
    number("reserved", pool.reserved);
    number("surplus", pool.surplus);
    number("overcommit", pool.overcommit);
  });
}

void NodeWriter::writePages() {
  const PageFacts &pages = node.pages;
  json.attributeObject("pages", [&] {
    number("base_bytes", pages.baseBytes);
    number("default_huge_bytes", pages.defaultHugeBytes);
    number("memory_bytes", pages.memoryBytes);
    number("available_bytes", pages.availableBytes);
    number("obtainable_pages", node.obtainable());
    json.attributeArray("obtainable", [&] {
      if (pages.freeBlocks && pages.baseBytes)
        for (const FreeBlocks &zone : *pages.freeBlocks)
          json.object([&] {
            json.attribute("node", zone.node);
            json.attribute("zone", validUtf8(zone.zone));
            json.attribute("pages", zone.largePages(*pages.baseBytes));
          });
    });
    noteUnknown(pages.pools.unknown);
    if (!pages.pools)
      return json.attribute("pools", nullptr);
    json.attributeArray("pools", [&] {
      for (const HugePool &pool : *pages.pools)
        writePool(pool);
    });
  });
}

void NodeWriter::writeStalls() {
  noteUnknown(node.stalls.unknown);
  if (!node.stalls)
    return json.attribute("stalls", nullptr);
  json.attributeObject("stalls", [&] { writeStallCounts(json, *node.stalls); });
}

void NodeWriter::writeTransparent() {
  const TransparentFacts &facts = node.transparent;
  noteUnknown(facts.present.unknown);
  if (!facts.present || !*facts.present)
    return json.attribute("transparent", nullptr);
  json.attributeObject("transparent", [&] {
    text("enabled", facts.enabled);
    text("large_pages", facts.effective(largePageBytes));
    text("defrag", facts.defrag);
    text("shared", facts.sharedEnabled);
    number("page_bytes", facts.pageBytes);
    number("process_enabled", facts.processEnabled);
    writeStalls();
    json.attributeObject("khugepaged", [&] {
      number("defrag", facts.collapserDefrag);
      number("pages_to_scan", facts.collapserScanPages);
      number("scan_sleep_ms", facts.collapserSleepMs);
      number("max_ptes_none", facts.collapserEmptyPages);
    });
    json.attributeArray("sizes", [&] {
      for (const TransparentSize &size : facts.sizes)
        json.object([&] {
          json.attribute("page_bytes", size.pageBytes);
          text("enabled", size.enabled);
        });
    });
  });
}

void NodeWriter::writeGroups(StringRef key, const GroupLimits &groups) {
  noteUnknown(groups.unknown);
  json.attributeObject(key, [&] {
    json.attribute("version", groups.version ? json::Value(groups.version)
                                             : json::Value(nullptr));
    sign("folder", groups.folder);
    json.attributeArray("limits", [&] {
      for (const GroupLimit &limit : groups.limits)
        json.object([&] {
          json.attribute("file", validUtf8(limit.file));
          json.attribute("counts", limit.isReservation ? "reserved" : "used");
          number("limit_bytes", limit.limitBytes);
          number("usage_bytes", limit.usageBytes);
        });
    });
  });
}

void NodeWriter::writeLimits() {
  json.attributeObject("cgroups", [&] {
    writeGroups("large_pages", node.cgroups.largePages);
    writeGroups("memory", node.cgroups.memory);
    const Fact<bool> &counts = node.cgroups.poolCountsAsMemory;
    json.attribute("pool_counts_as_memory",
                   counts ? json::Value(*counts) : json::Value(nullptr));
    noteUnknown(counts.unknown);
  });
  json.attributeObject("limits", [&] {
    auto limit = [&](StringRef key, const Fact<uint64_t> &bytes) {
      if (bytes && *bytes == UINT64_MAX)
        return json.attribute(key, "unlimited");
      number(key, bytes);
    };
    limit("stack_bytes", node.limits.stack);
    limit("address_space_bytes", node.limits.addressSpace);
    limit("locked_memory_bytes", node.limits.lockedMemory);
  });
}

void NodeWriter::writeNumaNode(const NumaNode &numa) {
  json.object([&] {
    json.attribute("node", numa.id);
    std::optional<unsigned> group = memoryGroup(node.machine.a64fx, numa.id);
    json.attribute("cmg", group ? json::Value(*group) : json::Value(nullptr));
    json.attribute("system", isSystemNode(node.machine.a64fx, numa.id));
    json.attribute("allowed", numa.isAllowed);
    list("cpus", numa.cpus);
    number("memory_bytes", numa.memoryBytes);
    number("free_bytes", numa.freeBytes);
    if (node.pages.largePool()) {
      number("pool_total", numa.poolTotal);
      number("pool_free", numa.poolFree);
      number("pool_surplus", numa.poolSurplus);
    }
    number("obtainable_pages", node.obtainable(numa.id));
    json.attributeArray("distances", [&] {
      for (unsigned distance : numa.distances)
        json.value(distance);
    });
  });
}

void NodeWriter::writeNuma() {
  json.attributeObject("numa", [&] {
    number("balancing", node.numa.balancing);
    number("balancing_faults", node.numa.balancingFaults);
    number("balancing_moved_pages", node.numa.balancingMoved);
    list("allowed_nodes", node.numa.allowedNodes);
    list("allowed_cpus", node.numa.allowedCpus);
    json.attributeArray("nodes", [&] {
      for (const NumaNode &numa : node.numa.nodes)
        writeNumaNode(numa);
    });
  });
}

void NodeWriter::write() {
  json.object([&] {
    json.attribute("schema", "mpginfo-1");
    json.attribute("version", MPG_VERSION);
    writeVerdict();
    writeMachine();
    writeFeatures();
    writePages();
    writeTransparent();
    writeLimits();
    writeNuma();
    json.attributeArray("unknown", [&] {
      for (const std::string &why : unknown)
        json.value(validUtf8(why));
    });
  });
  json.flush();
}

void mpg::writeNodeJson(raw_ostream &out, const Node &node,
                        const Verdict &verdict) {
  NodeWriter(out, node, verdict).write();
  out << "\n";
}
