// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finding.h. The rows of Findings.def as a table, and the names of groups,
// targets and severities.

#include "Audit/Finding.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

namespace {
// The words of Findings.def, visible only to the table below.
constexpr Severity off = Severity::off, note = Severity::note,
                   warning = Severity::warning, error = Severity::error;
} // namespace

static const FindingInfo table[] = {
#define MPG_FINDING(number, vendor, group, onFugaku, onMpg, onLibhugetlbfs,    \
                    onThp, summary, rule, cost, remedy, source)                \
  {FindingId::mpg##number,                                                     \
   vendor,                                                                     \
   FindingGroup::group,                                                        \
   {onFugaku, onMpg, onLibhugetlbfs, onThp},                                   \
   summary,                                                                    \
   rule,                                                                       \
   cost,                                                                       \
   remedy,                                                                     \
   source},
#include "Audit/Findings.def"
};

static const VendorCode codes[] = {
#define MPG_VENDOR_CODE(code, meaning, action, related)                        \
  {code, meaning, action, related},
#include "Audit/VendorCodes.def"
};

ArrayRef<FindingInfo> mpg::allFindings() {
  static const std::vector<FindingInfo> sorted = [] {
    std::vector<FindingInfo> rows(std::begin(table), std::end(table));
    std::sort(
        rows.begin(), rows.end(),
        [](const FindingInfo &a, const FindingInfo &b) { return a.id < b.id; });
    return rows;
  }();
  return sorted;
}

ArrayRef<VendorCode> mpg::allVendorCodes() { return codes; }

const FindingInfo *mpg::findInfo(unsigned number) {
  for (const FindingInfo &info : table)
    if (unsigned(info.id) == number)
      return &info;
  return nullptr;
}

const FindingInfo &mpg::infoOf(FindingId id) {
  return *findInfo(unsigned(id)); // every enumerator is a row
}

std::string mpg::idText(FindingId id) {
  return "MPG" + std::to_string(unsigned(id));
}

StringRef mpg::severityName(Severity severity) {
  switch (severity) {
  case Severity::off:
    return "off";
  case Severity::note:
    return "note";
  case Severity::warning:
    return "warning";
  case Severity::error:
    return "error";
  }
  return "error";
}

static constexpr const char *groupNames[] = {
    "layout", "loader", "heap", "tags", "hygiene", "job", "malformed"};

StringRef mpg::groupName(FindingGroup group) {
  return groupNames[unsigned(group)];
}

std::optional<FindingGroup> mpg::parseGroup(StringRef name) {
  for (unsigned i = 0; i < std::size(groupNames); ++i)
    if (name == groupNames[i])
      return FindingGroup(i);
  return std::nullopt;
}

static constexpr const char *targetNames[targetCount] = {"fugaku", "mpg",
                                                         "libhugetlbfs", "thp"};

StringRef mpg::targetName(Target target) {
  return targetNames[unsigned(target)];
}

std::optional<Target> mpg::parseTarget(StringRef name) {
  for (unsigned i = 0; i < targetCount; ++i)
    if (name == targetNames[i])
      return Target(i);
  return std::nullopt;
}

Severity mpg::worstOf(ArrayRef<Finding> findings) {
  Severity worst = Severity::off;
  for (const Finding &finding : findings)
    worst = std::max(worst, finding.severity);
  return worst;
}
