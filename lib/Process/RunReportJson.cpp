// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun for programs: schema mpgreport-1, which stands in
// docs/schema/mpgreport-1.schema.json. All numbers are integers.

#include "Process/RunReport.h"
#include "llvm/Support/JSON.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

static void writeJsonRegion(json::OStream &json, const RegionUse &use) {
  json.object([&] {
    json.attribute("region", regionName(use.region));
    json.attribute("bytes", int64_t(use.bytes));
    json.attribute("huge_bytes", int64_t(use.hugeBytes));
    json.attribute("pool_bytes", int64_t(use.poolBytes));
    json.attribute("unknown_bytes", int64_t(use.unknownBytes));
    json.attribute("set_aside_bytes", int64_t(use.setAsideBytes));
    json.attribute("peak_bytes", int64_t(use.peakBytes));
    json.attribute("peak_huge_bytes", int64_t(use.peakHugeBytes));
    json.attribute("page_bytes", int64_t(use.pageBytes));
    json.attributeArray("nodes", [&] {
      for (uint64_t bytes : use.nodes)
        json.value(int64_t(bytes));
    });
    json.attribute("reason", use.hugeBytes < use.bytes ||
                                     use.peakHugeBytes < use.peakBytes
                                 ? use.reason
                                 : "");
  });
}

static void writeNumbers(json::OStream &json, StringRef key,
                         const std::vector<unsigned> &numbers) {
  json.attributeArray(key, [&] {
    for (unsigned number : numbers)
      json.value(number);
  });
}

/// For each of the four sectors the ways that are asked for, or null.
static void writeWays(json::OStream &json, StringRef key,
                      const uint8_t (&ways)[4]) {
  json.attributeArray(key, [&] {
    for (uint8_t count : ways)
      json.value(count == MPG_WAYS_NOT_ASKED ? json::Value(nullptr)
                                             : json::Value(unsigned(count)));
  });
}

static void writeHints(json::OStream &json, const HintReport &report) {
  const mpg_note_hints hints = report.notes.hints.value_or(emptyHints());
  json.attributeObject("hints", [&] {
    json.attribute("modules", report.notes.modules.size());
    json.attribute("llvm_major", hints.llvmMajor);
    json.attribute("tagged_accesses", hints.taggedAccesses);
    json.attribute("first_touch_sites", hints.firstTouchSites);
    writeNumbers(json, "tag_bytes", tagBytesOf(hints));
    writeNumbers(json, "sectors", bitsOf(hints.sectorsMask));
    writeNumbers(json, "injection_entries", bitsOf(hints.injectionMask));
    writeWays(json, "ways_l1", hints.waysL1);
    writeWays(json, "ways_l2", hints.waysL2);
    json.attribute("acts", abilityName(report.acts()));
    json.attributeArray("missing", [&] {
      for (const std::string &what : report.support.missing)
        json.value(json::fixUTF8(what));
    });
    json.attributeArray("warnings", [&] {
      for (const std::string &warning : report.notes.warnings)
        json.value(warning);
    });
  });
}

static void writeProcessUse(json::OStream &json, const ProcessUse &use) {
  json.object([&] {
    json.attribute("pid", use.pid);
    json.attribute("parent", use.parent);
    json.attribute("command", use.command);
    json.attribute("mode", use.mode);
    json.attribute("source", use.hasEnded ? "smaps" : "libmpg");
    json.attribute("bytes", int64_t(use.bytes));
    json.attribute("huge_bytes", int64_t(use.hugeBytes));
    json.attribute("pool_bytes", int64_t(use.poolBytes));
    json.attribute("unknown_bytes", int64_t(use.unknownBytes));
    json.attribute("heap_peak_bytes", int64_t(use.heapPeakBytes));
    json.attribute("heap_peak_huge_bytes", int64_t(use.heapPeakHugeBytes));
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
    if (report.hints)
      writeHints(json, *report.hints);
    else
      json.attribute("hints", nullptr);
    json.attributeArray("messages", [&] {
      for (const auto &message : report.messages)
        json.object([&] {
          json.attribute("code", int64_t(message.first));
          json.attribute("text", message.second);
        });
    });
    if (!report.hasProcesses)
      return;
    json.attributeArray("processes", [&] {
      for (const ProcessUse &use : report.processes)
        writeProcessUse(json, use);
    });
    json.attribute("processes_lost", int64_t(report.processesLost));
  });
  out << "\n";
}
