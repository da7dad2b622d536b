// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints only changes. Findings with the same fingerprint are equal; a new
// address or size alone is not a change.

#include "Policy/Policy.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

namespace {
/// Lines "  label      text", collected until it is known whether there is one.
class DiffLines {
public:
  void add(StringRef label, const Twine &text) {
    raw_string_ostream out(lines);
    out << "  " << left_justify(label, 9) << ' ' << printable(text.str())
        << "\n";
  }
  void change(StringRef label, const std::string &before,
              const std::string &after) {
    if (before != after)
      add(label, before + " -> " + after);
  }
  const std::string &text() const { return lines; }

private:
  std::string lines;
};
} // namespace

// Findings

static std::string formatLine(const Finding &finding) {
  StringRef vendor = getInfo(finding.id).vendor;
  return (severityName(finding.severity) + ": " + idText(finding.id) +
          (vendor.empty() ? "" : " (" + vendor.str() + ")") + ": " +
          finding.title)
      .str();
}

/// Takes the finding with \p fingerprint out of \p findings; null if there is
/// none.
static const Finding *
extract(std::multimap<std::string, const Finding *> &findings,
        const std::string &fingerprint) {
  auto at = findings.find(fingerprint);
  if (at == findings.end())
    return nullptr;
  const Finding *finding = at->second;
  findings.erase(at);
  return finding;
}

static bool compareFindings(DiffLines &lines, ArrayRef<Finding> before,
                            ArrayRef<Finding> after) {
  bool isWorse = false;
  std::multimap<std::string, const Finding *> old;
  for (const Finding &finding : before)
    old.emplace(computeFingerprint(finding, ""), &finding);
  for (const Finding &finding : after) {
    const Finding *was = extract(old, computeFingerprint(finding, ""));
    if (!was)
      lines.add("new", formatLine(finding));
    else if (was->severity != finding.severity)
      lines.add("changed",
                severityName(was->severity) + " -> " + formatLine(finding));
    Severity until = was ? was->severity : Severity::note;
    isWorse |= finding.severity > until;
  }
  for (const Finding &finding : before)
    if (any_of(old, [&](auto &left) { return left.second == &finding; }))
      lines.add("gone", formatLine(finding));
  return isWorse;
}

// Regions

/// "all of 8 MiB", "6 MiB of 8 MiB", "yes".
static std::string eligibleText(const Region &region) {
  if (region.atRunTime)
    return region.eligible ? "yes" : "no";
  if (!region.bytes)
    return "empty";
  std::string part = region.eligible        ? "all"
                     : region.eligibleBytes ? formatBytes(region.eligibleBytes)
                                            : "nothing";
  return part + " of " + formatBytes(region.bytes);
}

/// True if normal pages hold more, by a page at least.
static bool lostPages(const Region &before, const Region &after,
                      uint64_t hugeBytes) {
  // More code alone takes nothing away.
  if (after.eligible || (after.isFromCache() && !before.eligibleBytes))
    return false;
  if (after.atRunTime || before.eligible)
    return before.eligible && (after.atRunTime || after.bytes != 0);
  uint64_t was = before.bytes - std::min(before.eligibleBytes, before.bytes);
  uint64_t is = after.bytes - std::min(after.eligibleBytes, after.bytes);
  return is > was && is - was >= hugeBytes;
}

/// A few bytes more or less of .data are in every build, and no news, nor is
/// code that stays on normal pages.
static bool isNews(const Region &before, const Region &after,
                   uint64_t hugeBytes) {
  if (after.isFromCache() && !before.eligibleBytes && !after.eligibleBytes)
    return false;
  uint64_t change =
      std::max(before.bytes, after.bytes) - std::min(before.bytes, after.bytes);
  return before.eligible != after.eligible ||
         before.eligibleBytes / hugeBytes != after.eligibleBytes / hugeBytes ||
         change >= hugeBytes;
}

static bool compareRegions(DiffLines &lines, const FileReport &before,
                           const FileReport &after) {
  bool isWorse = false;
  for (const Region &region : after.regions) {
    const Region *was = before.region(region.name);
    if (!was)
      continue;
    if (isNews(*was, region, after.hugeBytes))
      lines.add(region.name, "on large pages can be: " + eligibleText(*was) +
                                 " -> " + eligibleText(region));
    isWorse |= lostPages(*was, region, after.hugeBytes);
  }
  return isWorse;
}

// Segments and libraries

/// "4 (R, RX, R, RW), aligned to 2 MiB"
static std::string segmentsText(const Facts &facts) {
  if (!facts.layout)
    return "none";
  std::string text = std::to_string(facts.layout->loads.size());
  const char *separator = " (";
  for (const Segment &load : facts.layout->loads) {
    text += separator;
    text += 'R';
    text += load.writable() ? "W" : "";
    text += load.executable() ? "X" : "";
    separator = ", ";
  }
  if (!facts.layout->loads.empty())
    text += "), aligned to " + formatBytes(facts.layout->maxPageBytes);
  return text;
}

static std::vector<std::string> neededBy(const FileReport &report) {
  return report.facts.dynamic ? report.facts.dynamic->needed
                              : std::vector<std::string>();
}

/// The closure's where there is one: what a library brings counts as well.
static std::vector<std::string> loadedBy(const FileReport &report) {
  std::vector<std::string> names;
  if (report.closure)
    for (const ClosureEntry &entry : report.closure->libraries)
      names.push_back(entry.name);
  return names;
}

static void compareNames(DiffLines &lines, StringRef label,
                         const std::vector<std::string> &before,
                         const std::vector<std::string> &after) {
  std::string text;
  for (const std::string &name : after)
    if (!is_contained(before, name))
      text += (text.empty() ? "+" : " +") + name;
  for (const std::string &name : before)
    if (!is_contained(after, name))
      text += (text.empty() ? "-" : " -") + name;
  if (text.empty() && before != after)
    text = "in another order: " + join(after, " ");
  if (!text.empty())
    lines.add(label, text);
}

bool mpg::writeDiff(raw_ostream &out, const FileReport &before,
                    const FileReport &after) {
  DiffLines lines;
  lines.change("kind", kindName(before.kind).str(), kindName(after.kind).str());
  lines.change("machine", before.machine, after.machine);
  lines.change("target", targetName(before.target).str(),
               targetName(after.target).str());
  bool isWorse = compareFindings(lines, before.findings, after.findings);
  isWorse |= compareRegions(lines, before, after);
  lines.change("segments", segmentsText(before.facts),
               segmentsText(after.facts));
  std::vector<std::string> needed = neededBy(after), loaded = loadedBy(after);
  compareNames(lines, "needs", neededBy(before), needed);
  compareNames(lines, "loads", loadedBy(before), loaded);
  out << printable(before.path) << " -> " << printable(after.path) << ": ";
  if (lines.text().empty())
    out << "nothing changed\n";
  else
    out << (isWorse ? "worse" : "no worse") << "\n" << lines.text();
  return isWorse;
}
