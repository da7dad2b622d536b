// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file in the HTML report: verdict, map, regions, findings, libraries.

#include "Render/HtmlParts.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// A tree that is deeper cannot be read; what is below is shown beside it.
static constexpr unsigned treeDepthLimit = 32;

/// "A of B of .data and .bss can be on large pages".
static std::string eligibleSentence(const FileReport &report) {
  if (report.regions.empty())
    return "";
  uint64_t bytes = report.dataBytes(), eligible = report.eligibleDataBytes();
  if (bytes == 0)
    return "It has no .data and no .bss.";
  return (eligible == bytes ? "All" : formatBytes(eligible)) + " of " +
         formatBytes(bytes) + " of .data and .bss can be on large pages.";
}

static void writeVerdict(raw_ostream &out, const FileReport &report) {
  out << "<p class=\"verdict\">" << severityBadges(report.findings) << " "
      << eligibleSentence(report) << "</p>\n<p class=\"facts\">"
      << kindName(report.kind);
  if (report.kind == ElfKind::notElf)
    out << ": " << escapeHtml(report.notElfReason);
  else if (report.kind != ElfKind::malformed)
    out << ", " << escapeHtml(report.machine) << ", audited for target "
        << targetName(report.target) << " with base pages of "
        << formatBytes(report.pageBytes) << " and large pages of "
        << formatBytes(report.hugeBytes);
  out << "</p>\n";
  if (StringRef reason = littleToFind(report.kind); !reason.empty())
    out << "<p>" << toUpper(reason[0]) << reason.drop_front() << ".</p>\n";
}

static std::string eligibleMarkup(const Region &region) {
  bool sized = region.name == "data" || region.name == "bss";
  if (!sized || region.bytes == 0)
    return eligibleWord(region);
  return formatv(
      "<svg class=\"meter\" width=\"80\" height=\"10\" "
      "aria-hidden=\"true\"><rect class=\"track\" width=\"80\" "
      "height=\"10\"/><rect class=\"part\" width=\"{0}\" "
      "height=\"10\"/></svg>{1}",
      unsigned(80.0 * double(region.eligibleBytes) / double(region.bytes)),
      eligibleWord(region));
}

/// The table of regions knows of findings that --checks leaves out; those are
/// named without a link.
static std::string becauseMarkup(const Region &region, const FileReport &report,
                                 StringRef prefix) {
  if (region.name == "mapped") {
    StringRef help = report.memory.help();
    return escapeHtml(report.memory.what()) +
           (help.empty() ? "" : "; " + htmlCode(help));
  }
  std::string text;
  for (FindingId id : region.because) {
    std::string name = idText(id);
    if (report.has(id))
      name = "<a href=\"#" + prefix.str() + "-" + name + "\">" + name + "</a>";
    text += (text.empty() ? "" : ", ") + name;
  }
  bool isEmpty = !region.atRunTime && region.bytes == 0;
  if (text.empty() && !region.eligible && !region.eligibleBytes && !isEmpty)
    return region.reachable ? "fills no whole large page"
                            : "not with this target";
  return text;
}

static void writeRegions(raw_ostream &out, const FileReport &report,
                         StringRef prefix) {
  if (report.regions.empty())
    return;
  out << "<h3>Regions</h3>\n";
  {
    HtmlTable table(
        out, "Regions",
        {"row|Region", "size|Size", "Eligible for large pages", "In the way"});
    for (const Region &region : report.regions)
      table.addRow({region.name.str(),
                    region.atRunTime ? "-" : formatBytes(region.bytes),
                    eligibleMarkup(region),
                    becauseMarkup(region, report, prefix)});
  }
  if (report.largestSymbols.empty())
    return;
  auto describe = [](const LargeSymbol &symbol) {
    return htmlCode(symbol.name) + " (" + formatBytes(symbol.bytes) + " in " +
           symbol.section + ")";
  };
  out << "<p class=\"muted\">Largest: "
      << join(map_range(report.largestSymbols, describe), ", ") << "</p>\n";
}

// Libraries

/// The entries that each entry asked for first; those of the program and of
/// LD_PRELOAD at -1 and -2.
using Children = std::map<int, std::vector<size_t>>;

static void writeLibrary(raw_ostream &out, const ClosureEntry &entry) {
  out << htmlCode(entry.name);
  if (entry.path.empty())
    out << " <span class=\"missing\">"
        << escapeHtml(entry.reason.empty() ? "not found" : entry.reason)
        << "</span>";
  else if (entry.path != entry.name)
    out << " <span class=\"muted\">" << htmlCode(entry.path) << "</span>";
}

static void writeChildren(raw_ostream &out, const Closure &closure,
                          const Children &children, int parent,
                          unsigned depth) {
  auto found = children.find(parent);
  if (found == children.end())
    return;
  bool deeper = depth < treeDepthLimit;
  if (deeper)
    out << (depth ? "<ul>\n" : "<ul class=\"tree\">\n");
  for (size_t index : found->second) {
    out << "<li>";
    writeLibrary(out, closure.libraries[index]);
    if (parent == ClosureEntry::preload)
      out << " <span class=\"muted\">by LD_PRELOAD</span>";
    if (deeper)
      writeChildren(out, closure, children, int(index), depth + 1);
    out << "</li>\n";
    if (!deeper) // beside it
      writeChildren(out, closure, children, int(index), depth);
  }
  if (deeper)
    out << "</ul>\n";
}

static void writeClosure(raw_ostream &out, const Closure &closure) {
  if (closure.libraries.empty())
    return;
  Children children;
  size_t missing = 0;
  for (size_t i = 0; i < closure.libraries.size(); ++i) {
    const ClosureEntry &entry = closure.libraries[i];
    // An entry is asked for by an earlier one, so this is a tree.
    bool isTree = entry.askedBy < int(i);
    children[isTree ? entry.askedBy : ClosureEntry::program].push_back(i);
    missing += entry.path.empty();
  }
  size_t count = closure.libraries.size();
  out << "<details" << (missing ? " open" : "") << "><summary>" << count
      << (count == 1 ? " library" : " libraries") << " loaded";
  if (missing)
    out << ", " << missing << " missing";
  out << "</summary>\n";
  writeChildren(out, closure, children, ClosureEntry::preload, 0);
  writeChildren(out, closure, children, ClosureEntry::program, 0);
  out << "</details>\n";
}

void mpg::writeHtmlFile(raw_ostream &out, const FileReport &report,
                        StringRef prefix) {
  HtmlSection section(out, report.path, prefix);
  writeVerdict(out, report);
  if (!is_contained({ElfKind::object, ElfKind::archiveMember, ElfKind::core,
                     ElfKind::debug},
                    report.kind))
    writeHtmlMap(out, report, prefix);
  writeRegions(out, report, prefix);
  if (!report.findings.empty())
    out << "<h3>Findings</h3>\n";
  writeHtmlFindings(out, report.findings, report.fixContext, prefix, nullptr);
  if (report.closure)
    writeClosure(out, *report.closure);
}

// Findings. Of a file or a job script: what, why, cost, and the fix with lines
// that one click selects.

/// A damaged file may have hundreds; more are not read.
static constexpr size_t findingLimit = 200;

std::string mpg::severityBadges(ArrayRef<Finding> findings) {
  auto counts = countBySeverity(findings);
  if (counts.empty())
    counts = {{"clean", "clean"}};
  auto badge = [](const std::pair<StringRef, std::string> &count) {
    return ("<span class=\"badge " + count.first + "\">" + count.second +
            "</span>")
        .str();
  };
  return join(map_range(counts, badge), " ");
}

static void writeCommand(raw_ostream &out, StringRef line) {
  // "gcc:   -no-pie": the label is not copied.
  auto [label, flags] = line.split(':');
  static const StringSet<> labels = {"gcc", "clang", "flang", "fcc",
                                     "lld", "bfd",   "any"};
  bool labelled = labels.contains(label);
  out << "<tr><th scope=\"row\">" << (labelled ? escapeHtml(label) : "")
      << "</th><td><code class=\"copy\">"
      << escapeHtml((labelled ? flags : line).trim()) << "</code></td></tr>\n";
}

/// Prose and command lines, in the order of \p text. Lines that are all in \p
/// printed become a reference: several findings often have one remedy.
static void writeFix(raw_ostream &out, StringRef text, StringSet<> &printed) {
  bool inTable = false, allPrinted = true;
  unsigned commands = 0;
  for (StringRef line : split(text, '\n'))
    if (line.starts_with("  ")) {
      ++commands;
      allPrinted &= printed.contains(line);
      printed.insert(line);
    }
  bool repeats = commands > 1 && allPrinted;
  for (StringRef line : split(text, '\n')) {
    bool isCommand = line.starts_with("  ");
    if (line.trim().empty() || (isCommand && repeats))
      continue;
    if (isCommand != inTable)
      out << (isCommand ? "<table class=\"lines\"><tbody>\n"
                        : "</tbody></table>\n");
    inTable = isCommand;
    if (isCommand)
      writeCommand(out, line.trim());
    else
      out << "<p>" << escapeHtml(line) << "</p>\n";
  }
  if (inTable)
    out << "</tbody></table>\n";
  if (repeats)
    out << "<p class=\"muted\">The same flags as above.</p>\n";
}

static void writeHtmlPart(raw_ostream &out, StringRef label, StringRef text) {
  if (!text.empty())
    out << "<dt>" << label << "</dt><dd>" << escapeHtml(text) << "</dd>\n";
}

static void writeHeading(raw_ostream &out, const Finding &finding) {
  StringRef severity = severityName(finding.severity),
            vendor = getInfo(finding.id).vendor;
  std::string id = idText(finding.id);
  out << "<h4><span class=\"badge " << severity << "\">" << severity
      << "</span> <a class=\"id\" href=\"#rule-" << id << "\">" << id << "</a>";
  if (!vendor.empty())
    out << " <span class=\"vendor\">" << escapeHtml(vendor) << "</span>";
  out << " <span class=\"title\">" << escapeHtml(finding.title)
      << "</span></h4>\n";
}

static void writeFinding(raw_ostream &out, const Finding &finding,
                         const FixContext &context, StringRef anchor,
                         const std::map<unsigned, std::string> *scriptLines,
                         StringSet<> &printed) {
  out << "<article class=\"finding " << severityName(finding.severity) << "\"";
  if (!anchor.empty())
    out << " id=\"" << anchor << "\"";
  out << ">\n";
  writeHeading(out, finding);
  if (scriptLines && finding.where.line) {
    auto line = scriptLines->find(*finding.where.line);
    out << "<p class=\"line\"><span>line " << *finding.where.line << "</span>";
    if (line != scriptLines->end())
      out << " <code>" << escapeHtml(line->second) << "</code>";
    out << "</p>\n";
  }
  std::string fix = fixText(finding, context);
  bool hasParts = !finding.evidence.empty() || !finding.cost.empty() ||
                  !finding.via.empty() || finding.offset || !fix.empty();
  if (hasParts)
    out << "<dl>\n";
  writeHtmlPart(out, "Why", finding.evidence);
  writeHtmlPart(out, "Through", finding.via);
  if (finding.offset)
    writeHtmlPart(out, "File offset", formatHex(*finding.offset));
  writeHtmlPart(out, "Cost", finding.cost);
  if (!fix.empty()) {
    out << "<dt>Fix</dt><dd>\n";
    writeFix(out, fix, printed);
    out << "</dd>\n";
  }
  if (hasParts)
    out << "</dl>\n";
  out << "</article>\n";
}

void mpg::writeHtmlFindings(
    raw_ostream &out, ArrayRef<Finding> findings, const FixContext &context,
    StringRef prefix, const std::map<unsigned, std::string> *scriptLines) {
  std::vector<const Finding *> order;
  for (const Finding &finding : findings)
    order.push_back(&finding);
  sortByMost(order, &Finding::severity);
  StringSet<> printed;
  StringSet<> anchors; // the first of several is what tables point at
  for (size_t i = 0; i < std::min(order.size(), findingLimit); ++i) {
    std::string anchor = prefix.str() + "-" + idText(order[i]->id);
    bool isFirst = anchors.insert(anchor).second;
    writeFinding(out, *order[i], context, isFirst ? anchor : "", scriptLines,
                 printed);
  }
  if (order.size() > findingLimit)
    out << "<p class=\"muted\">" << order.size() - findingLimit
        << " more findings are not shown here; --format=line prints all.</p>\n";
}
