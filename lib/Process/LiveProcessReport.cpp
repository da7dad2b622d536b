// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running process for people and for programs.

#include "Process/LargeFolios.h"
#include "Process/LiveProcess.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

/// Never 100 while a byte is missing.
static unsigned percent(const LiveRegion &region) {
  return region.residentBytes ? unsigned(100.0 * double(region.hugeBytes) /
                                         double(region.residentBytes))
                              : 0;
}

static void writeRow(raw_ostream &out, const LiveRegion &region) {
  // What may be there is no "0 %".
  bool hasUnknown = region.unknownBytes && !region.hugeBytes;
  out << "  " << left_justify(region.name, 12)
      << right_justify(formatBytes(region.bytes), 10)
      << right_justify(formatBytes(region.residentBytes), 10)
      << right_justify(hasUnknown ? "not known" : formatBytes(region.hugeBytes),
                       16);
  if (!hasUnknown)
    out << format("%5u %%", percent(region));
  if (region.hugeBytes)
    out << "  " << formatBytes(region.pageBytes) << " pages";
  out << "\n";
}

static std::string describeStack(uint64_t bytes) {
  return bytes == UINT64_MAX ? "unlimited" : formatBytes(bytes);
}

void mpg::writeProcess(raw_ostream &out, const LiveProcess &process) {
  const Launch &launch = process.launch;
  out << "process " << process.pid << ": " << printable(process.shownPath)
      << ", " << process.threads
      << (process.threads == 1 ? " thread" : " threads");
  if (launch.stackBytes)
    out << ", stack limit " << describeStack(*launch.stackBytes);
  out << "\n";
  if (process.isReplaced)
    out << "  the file was deleted or built anew since; what is judged here is "
           "the one\n  that runs\n";
  if (!launch.sysroot.empty())
    out << "  in a container: its libraries are below "
        << printable(launch.sysroot) << "\n";
  out << "  region          mapped    in use  on large pages now\n";
  for (const LiveRegion &region : process.regions)
    writeRow(out, region);
  if (any_of(process.regions,
             [](const LiveRegion &region) { return region.unknownBytes; }))
    out << "  not known: " << fillText(whyNotKnown, 4) << "\n";
}

/// JSON readers know no larger integer.
static int64_t jsonNumber(uint64_t value) {
  return int64_t(std::min<uint64_t>(value, INT64_MAX));
}

static void writeJsonRegion(json::OStream &json, const LiveRegion &region) {
  json.object([&] {
    json.attribute("region", region.name);
    json.attribute("mapped_bytes", jsonNumber(region.bytes));
    json.attribute("bytes", jsonNumber(region.residentBytes));
    json.attribute("huge_bytes", jsonNumber(region.hugeBytes));
    json.attribute("unknown_bytes", jsonNumber(region.unknownBytes));
    json.attribute("page_bytes", jsonNumber(region.pageBytes));
  });
}

void mpg::writeProcessJson(raw_ostream &out, const LiveProcess &process) {
  const Launch &launch = process.launch;
  json::OStream json(out);
  json.object([&] {
    json.attribute("pid", process.pid);
    json.attribute("path", json::fixUTF8(process.shownPath));
    json.attribute("replaced", process.isReplaced);
    json.attribute("threads", process.threads);
    if (launch.stackBytes && *launch.stackBytes != UINT64_MAX)
      json.attribute("stack_limit_bytes", jsonNumber(*launch.stackBytes));
    else
      json.attribute("stack_limit_bytes", nullptr);
    json.attribute("container", !launch.sysroot.empty());
    json.attributeArray("regions", [&] {
      for (const LiveRegion &region : process.regions)
        writeJsonRegion(json, region);
    });
  });
}
