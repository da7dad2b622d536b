// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings of a file or a job script in the HTML report: what, why, cost, and
// the fix with lines that one click selects.

#include "Render/HtmlParts.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// A damaged file may have hundreds; more are not read.
static constexpr size_t findingLimit = 200;

std::string mpg::severityBadges(ArrayRef<Finding> findings) {
  std::string text;
  for (Severity severity :
       {Severity::error, Severity::warning, Severity::note}) {
    size_t count = size_t(count_if(findings, [&](const Finding &finding) {
      return finding.severity == severity;
    }));
    StringRef name = severityName(severity);
    if (count)
      text += (Twine(text.empty() ? "" : " ") + "<span class=\"badge " + name +
               "\">" + countWord(count, name) + "</span>")
                  .str();
  }
  return text.empty() ? "<span class=\"badge clean\">clean</span>" : text;
}

static void writeCommand(raw_ostream &out, StringRef line) {
  // "gcc:   -no-pie": the label is no part of what is copied.
  auto [label, flags] = line.split(':');
  static const StringSet<> labels = {"gcc", "clang", "flang", "fcc",
                                     "lld", "bfd",   "any"};
  bool labelled = labels.contains(label);
  out << "<tr><th scope=\"row\">" << (labelled ? escapeHtml(label) : "")
      << "</th><td><code class=\"copy\">"
      << escapeHtml((labelled ? flags : line).trim()) << "</code></td></tr>\n";
}

/// Prose and command lines, in the order of \p text. Of lines that all stand in
/// \p printed it says so: several findings often have one remedy.
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
            vendor = infoOf(finding.id).vendor;
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
  stableSort(order, [](const Finding *a, const Finding *b) {
    return a->severity > b->severity;
  });
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
