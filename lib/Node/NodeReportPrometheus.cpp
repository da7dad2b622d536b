// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for dashboards: Prometheus' text format, for the textfile
// collector of node_exporter. Pools have the names that OpenTelemetry's
// semantic conventions give them (system.memory.linux.hugepages.*), with a
// label for the page size; all else begins with mpg_node. What is not known is
// left out: a 0 would look like a fact.

#include "Node/Node.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace llvm;
using namespace mpg;

namespace {

/// Writes families of samples. A family without a sample is not written.
class MetricWriter {
public:
  using Labels = std::vector<std::pair<StringRef, std::string>>;

  explicit MetricWriter(raw_ostream &out) : out(out) {}

  /// The next samples belong to \p name. \p kind: "gauge" or "counter".
  void family(StringRef name, StringRef kind, StringRef help) {
    this->name = name;
    this->kind = kind;
    this->help = help;
    isBegun = false;
  }
  void sample(uint64_t value, const Labels &labels = {}) {
    beginSample(labels);
    out << value << "\n";
  }
  void sample(const Fact<uint64_t> &value, const Labels &labels = {}) {
    if (value)
      sample(*value, labels);
  }
  /// \p seconds with three digits behind the point.
  void sampleSeconds(double seconds) {
    beginSample({});
    out << format("%.3f", seconds) << "\n";
  }

private:
  void beginSample(const Labels &labels);

  raw_ostream &out;
  StringRef name, kind, help;
  bool isBegun = false;
};

} // namespace

/// \p text between the quotes of a label.
static std::string labelText(StringRef text) {
  std::string escaped;
  for (char c : validUtf8(text))
    escaped += c == '\n'               ? std::string("\\n")
               : c == '"' || c == '\\' ? std::string("\\") + c
                                       : std::string(1, c);
  return escaped;
}

void MetricWriter::beginSample(const Labels &labels) {
  if (!isBegun)
    out << "# HELP " << name << " " << help << "\n# TYPE " << name << " "
        << kind << "\n";
  isBegun = true;
  out << name;
  for (size_t i = 0; i != labels.size(); ++i)
    out << (i ? "," : "{") << labels[i].first << "=\""
        << labelText(labels[i].second) << "\"";
  out << (labels.empty() ? " " : "} ");
}

static void writeVerdict(MetricWriter &metrics, const Node &node,
                         const Verdict &verdict) {
  metrics.family("mpg_node_info", "gauge",
                 "The node and the version of mpgtools; the value is 1.");
  metrics.sample(1, {{"version", MPG_VERSION},
                     {"kernel", node.machine.kernelRelease.valueOr("")},
                     {"architecture", node.machine.architecture},
                     {"processor", node.machine.processor.valueOr("")}});
  metrics.family("mpg_node_status", "gauge",
                 "1 for the verdict of mpginfo, 0 for the other verdicts.");
  for (VerdictStatus status :
       {VerdictStatus::pool, VerdictStatus::tooFew, VerdictStatus::transparent,
        VerdictStatus::none, VerdictStatus::unknown})
    metrics.sample(status == verdict.status,
                   {{"status", statusName(status).str()}});
  metrics.family("mpg_node_available_pages", "gauge",
                 "2 MiB pages that a new program could have now.");
  metrics.sample(verdict.availablePages);
  metrics.family("mpg_node_advice", "gauge",
                 "Conditions that mpginfo reports, by level.");
  uint64_t warnings = count_if(verdict.advice, [](const NodeAdvice &advice) {
    return advice.isWarning;
  });
  metrics.sample(warnings, {{"level", "warning"}});
  metrics.sample(verdict.advice.size() - warnings, {{"level", "note"}});
}

/// One family with a sample for each pool.
static void writePools(MetricWriter &metrics,
                       const std::vector<HugePool> &pools, StringRef name,
                       StringRef help, Fact<uint64_t> HugePool::*count) {
  metrics.family(name, "gauge", help);
  for (const HugePool &pool : pools)
    metrics.sample(pool.*count, {{"page_size", sysfsSize(pool.pageBytes)}});
}

static void writePools(MetricWriter &metrics,
                       const std::vector<HugePool> &pools) {
  writePools(metrics, pools, "system_memory_linux_hugepages_limit",
             "Pages in the pool.", &HugePool::total);
  writePools(metrics, pools, "system_memory_linux_hugepages_reserved",
             "Free pages of the pool that are promised to programs.",
             &HugePool::reserved);
  writePools(metrics, pools, "system_memory_linux_hugepages_surplus",
             "Pages beyond the size of the pool, by overcommit.",
             &HugePool::surplus);
  writePools(metrics, pools, "mpg_node_overcommit_pages",
             "Pages that the pool may grow by on demand.",
             &HugePool::overcommit);
  metrics.family("system_memory_linux_hugepages_usage", "gauge",
                 "Pages in the pool by state.");
  StringRef state = "system_memory_linux_hugepages_state";
  for (const HugePool &pool : pools) {
    std::string size = sysfsSize(pool.pageBytes);
    metrics.sample(pool.free, {{"page_size", size}, {state, "free"}});
    if (pool.total && pool.free && *pool.total >= *pool.free)
      metrics.sample(*pool.total - *pool.free,
                     {{"page_size", size}, {state, "used"}});
  }
}

/// One family with a sample for each NUMA node.
static void writeNodes(MetricWriter &metrics, const NumaFacts &numa,
                       StringRef name, StringRef help,
                       function_ref<Fact<uint64_t>(const NumaNode &)> count) {
  metrics.family(name, "gauge", help);
  for (const NumaNode &node : numa.nodes)
    metrics.sample(count(node), {{"node", std::to_string(node.id)}});
}

static void writeNodes(MetricWriter &metrics, const Node &node) {
  if (node.pages.largePool()) {
    writeNodes(metrics, node.numa, "mpg_node_numa_pool_pages",
               "2 MiB pages of the pool on the NUMA node.",
               [](const NumaNode &numa) { return numa.poolTotal; });
    writeNodes(metrics, node.numa, "mpg_node_numa_pool_free_pages",
               "Those of them that no program has.",
               [](const NumaNode &numa) { return numa.poolFree; });
  }
  writeNodes(metrics, node.numa, "mpg_node_numa_obtainable_pages",
             "2 MiB pages that fit into free memory of the NUMA node.",
             [&](const NumaNode &numa) { return node.obtainable(numa.id); });
}

static void writeTransparent(MetricWriter &metrics, const Node &node) {
  const TransparentFacts &facts = node.transparent;
  metrics.family("mpg_node_transparent_info", "gauge",
                 "Settings of transparent huge pages; the value is 1.");
  if (facts.present && *facts.present)
    metrics.sample(1, {{"enabled", facts.enabled.valueOr("")},
                       {"defrag", facts.defrag.valueOr("")},
                       {"shared", facts.sharedEnabled.valueOr("")}});
  if (!node.stalls)
    return;
  const MemoryStalls &stalls = *node.stalls;
  const std::tuple<StringRef, StringRef, uint64_t> counters[] = {
      {"mpg_node_compactions_total",
       "Compactions of memory that a process waited for.", stalls.compactions},
      {"mpg_node_compactions_in_vain_total", "Those that made no large page.",
       stalls.compactionsInVain},
      {"mpg_node_reclaims_total", "Reclaims that a process waited for.",
       stalls.reclaims},
      {"mpg_node_large_faults_total", "Page faults that got a large page.",
       stalls.largeFaults},
      {"mpg_node_refused_faults_total",
       "Page faults that were to get a large page and got none.",
       stalls.refusedFaults}};
  for (auto [name, help, value] : counters) {
    metrics.family(name, "counter", help);
    metrics.sample(value);
  }
  metrics.family("mpg_node_memory_wait_seconds_total", "counter",
                 "Time that at least one process waited for memory.");
  if (stalls.waitedSeconds)
    metrics.sampleSeconds(*stalls.waitedSeconds);
}

void mpg::writeNodePrometheus(raw_ostream &out, const Node &node,
                              const Verdict &verdict) {
  MetricWriter metrics(out);
  writeVerdict(metrics, node, verdict);
  if (node.pages.pools)
    writePools(metrics, *node.pages.pools);
  writeNodes(metrics, node);
  writeTransparent(metrics, node);
}
