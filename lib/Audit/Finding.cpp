// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finding.h. The rows of Findings.def as a table, the names of groups,
// targets and severities, and the words of a fix.

#include "Audit/Finding.h"
#include "Link/LayoutObjects.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
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
  static const std::vector<const FindingInfo *> byNumber = [] {
    std::vector<const FindingInfo *> rows(FindingSet::numbers);
    for (const FindingInfo &info : table)
      rows[unsigned(info.id)] = &info;
    return rows;
  }();
  return number < byNumber.size() ? byNumber[number] : nullptr;
}

const FindingInfo &mpg::getInfo(FindingId id) {
  return *findInfo(unsigned(id)); // every enumerator is a row
}

std::string mpg::idText(FindingId id) {
  return "MPG" + std::to_string(unsigned(id));
}

StringRef mpg::severityName(Severity severity) {
  static constexpr StringLiteral names[] = {"off", "note", "warning", "error"};
  return names[unsigned(severity)];
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

Severity mpg::findWorst(ArrayRef<Finding> findings) {
  Severity worst = Severity::off;
  for (const Finding &finding : findings)
    worst = std::max(worst, finding.severity);
  return worst;
}

// Fixes. A remedy in Findings.def has a line for each compiler and linker;
// those that do not fit the file are left out.

/// The table speaks of large pages of 2 MiB.
static constexpr uint64_t tableHugeBytes = uint64_t(2) << 20;

static void replaceAll(std::string &text, StringRef from,
                       const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// \p path in a line to copy; empty when it would not be readable there, or it
/// is not known.
static std::string pathWord(StringRef path) {
  if (path.empty() || path.find_first_of("'\n") != StringRef::npos)
    return "";
  // Words in the place of a path stay.
  return path.starts_with("<") ? path.str() : shellWord(path);
}

std::string mpg::withPaths(StringRef text, const InstalledParts &parts) {
  std::string result = text.str();
  if (!text.contains("<prefix>"))
    return result;
  struct Place {
    StringRef placeholder;
    const std::string &path;
    bool behindWl = true; ///< where the compiler would cut it up at commas
  };
  const Place places[] = {
      {"<prefix>/bin/ld.mpg", parts.linker, false},
      {"<prefix>/share/mpgtools/ld", parts.gccFolder, false},
      {"<prefix>/share/mpgtools/mpg-2mb.lld.ld", parts.lldScript},
      {"<prefix>/share/mpgtools/mpg-2mb.bfd.ld", parts.bfdScript},
      {"<prefix>/lib", parts.libraries}};
  for (const auto &[placeholder, path, behindWl] : places) {
    std::string word = pathWord(path);
    if (!word.empty() && !(behindWl && StringRef(path).contains(',')))
      replaceAll(result, placeholder, word);
  }
  return result;
}

std::string mpg::pageOption(uint64_t bytes) {
  bool giga = bytes >= uint64_t(1) << 30;
  return std::to_string(bytes >> (giga ? 30 : 20)) + (giga ? "G" : "M");
}

/// Adds one line of a layout remedy to \p fix, if it can help.
static void addLine(std::string &fix, StringRef line,
                    const FixContext &context) {
  bool otherPage = context.hugeBytes != tableHugeBytes;
  bool script = line.contains("/mpg-2mb.");
  // Scripts and Fujitsu's compiler know 2 MiB only.
  if ((script && (otherPage || !context.scriptsFit)) ||
      (otherPage && line.contains("-Klargepage")))
    return;
  bool ours = !script && line.contains("<prefix>/");
  // Above 32 MiB it keeps .data and .bss apart, but not RELRO, which counts.
  if (ours && (context.noData || context.hugeBytes > separateSegmentsBytes))
    return;
  fix += "\n" + line.str();
  if (ours && otherPage)
    fix += " -Wl,--mpg-huge=" + pageOption(context.hugeBytes);
  if (ours && context.smallData)
    fix += " -Wl,--mpg-min=0";
}

/// \p fix with the line of \p compiler alone, where it has one and others.
static std::string findOnlyLine(StringRef compiler, const std::string &fix) {
  if (compiler.empty())
    return fix;
  auto [words, rest] = StringRef(fix).split("\n  ");
  std::string wanted = (compiler + ":").str();
  for (StringRef line : split(rest, '\n'))
    if (line.ltrim().starts_with(wanted))
      return (words + "\n  " + line.ltrim()).str();
  return fix;
}

/// \p remedy without the lines that do not fit \p context.
static std::string chooseLines(StringRef remedy, const FixContext &context) {
  if (!remedy.contains("=2097152"))
    return remedy.str();
  auto [words, lines] = remedy.split("\n  ");
  std::string fix = words.str();
  while (!lines.empty()) {
    StringRef line;
    std::tie(line, lines) = lines.split("\n  ");
    addLine(fix, ("  " + line).str(), context);
  }
  return fix;
}

std::string mpg::shortRemedy(const FindingInfo &info,
                             const FixContext &context) {
  StringRef text = info.remedy;
  size_t end = text.find("\n\n");
  while (end != StringRef::npos && text.substr(end + 2).starts_with("  "))
    end = text.find("\n\n", end + 2);
  std::string fix = chooseLines(text.substr(0, end), context);
  if (context.hugeBytes != tableHugeBytes) {
    replaceAll(fix, "2097152", std::to_string(context.hugeBytes));
    replaceAll(fix, "2 MiB", formatBytes(context.hugeBytes));
  }
  fix = findOnlyLine(context.compiler, fix);
  return context.parts ? withPaths(fix, *context.parts) : fix;
}

std::string mpg::fixText(const Finding &finding, const FixContext &context) {
  if (finding.fixWords && !finding.fixLines)
    return context.parts ? withPaths(*finding.fixWords, *context.parts)
                         : *finding.fixWords;
  std::string remedy = shortRemedy(getInfo(finding.id), context);
  if (!finding.fixWords)
    return remedy;
  return *finding.fixWords +
         remedy.substr(std::min(remedy.find("\n  "), remedy.size()));
}
