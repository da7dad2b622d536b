// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun for people, and as JSON (schema mpgreport-1, which
// stands in docs/schema/mpgreport-1.schema.json).

#include "Run/RunReport.h"
#include "Support/Format.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

static std::string describeEnd(int waitStatus) {
  if (WIFSIGNALED(waitStatus))
    return "ended by signal " + std::to_string(WTERMSIG(waitStatus));
  return "status " + std::to_string(WEXITSTATUS(waitStatus));
}

/// "node 0: 64 MiB, node 1: 64 MiB"; nothing on a machine with one node.
static std::string describeNodes(const std::vector<uint64_t> &nodes) {
  std::string text;
  if (nodes.size() < 2)
    return text;
  for (size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node])
      text += (text.empty() ? "node " : ", node ") + std::to_string(node) +
              ": " + formatBytes(nodes[node]);
  return text;
}

static unsigned percent(const RegionUse &use) {
  // Never 100 while a byte is missing.
  return use.bytes ? unsigned(100.0 * double(use.hugeBytes) / double(use.bytes))
                   : 0;
}

static void writeRow(raw_ostream &out, const RegionUse &use) {
  out << "  " << left_justify(regionName(use.region), 13)
      << right_justify(formatBytes(use.bytes), 10)
      << right_justify(formatBytes(use.hugeBytes), 16)
      << format("%5u %%", percent(use));
  if (use.hugeBytes)
    out << "  " << formatBytes(use.pageBytes) << " pages";
  std::string nodes = describeNodes(use.nodes);
  if (!nodes.empty())
    out << "  " << nodes;
  out << "\n";
  if (!use.reason.empty() && use.hugeBytes < use.bytes)
    out << "    " << fillText(use.reason, 4) << "\n";
}

void mpg::writeRunText(raw_ostream &out, const RunReport &report) {
  out << "mpgrun: " << printable(report.program) << ": "
      << describeEnd(report.waitStatus) << ", mode " << report.mode << "\n";
  if (!report.hasState)
    out << "  libmpg was not at work in the program\n";
  if (!report.measured)
    out << "  as libmpg last told; the memory itself could not be looked at\n";
  out << "  region            in use  on large pages\n";
  for (const RegionUse &use : report.regions)
    writeRow(out, use);
  if (report.peakHugetlbBytes)
    out << "  most taken from the pool at once: "
        << formatBytes(report.peakHugetlbBytes) << "\n";
}

static void writeJsonRegion(json::OStream &json, const RegionUse &use) {
  json.object([&] {
    json.attribute("region", regionName(use.region));
    json.attribute("bytes", int64_t(use.bytes));
    json.attribute("huge_bytes", int64_t(use.hugeBytes));
    json.attribute("page_bytes", int64_t(use.pageBytes));
    json.attributeArray("nodes", [&] {
      for (uint64_t bytes : use.nodes)
        json.value(int64_t(bytes));
    });
    json.attribute("reason", use.reason);
  });
}

void mpg::writeRunJson(raw_ostream &out, const RunReport &report) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attribute("schema", "mpgreport-1");
    json.attribute("program", json::fixUTF8(report.program));
    json.attribute("status", WIFSIGNALED(report.waitStatus)
                                 ? -WTERMSIG(report.waitStatus)
                                 : WEXITSTATUS(report.waitStatus));
    json.attribute("mode", report.mode);
    json.attribute("source", report.measured ? "smaps" : "libmpg");
    json.attribute("libmpg", report.hasState);
    json.attribute("hugetlb_fallback", report.fallback);
    json.attribute("peak_hugetlb_bytes", int64_t(report.peakHugetlbBytes));
    json.attributeArray("regions", [&] {
      for (const RegionUse &use : report.regions)
        writeJsonRegion(json, use);
    });
    json.attributeArray("messages", [&] {
      for (const auto &message : report.messages)
        json.object([&] {
          json.attribute("code", int64_t(message.first));
          json.attribute("text", message.second);
        });
    });
  });
  out << "\n";
}
