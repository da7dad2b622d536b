// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpginfo --fold for people.

#include "Support/Format.h"
#include "mpginfo/Fold/Fold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t maxGroups = 20, maxDifferences = 4, maxShown = 8;

static void writeLine(raw_ostream &out, const std::string &text) {
  out << "  " << fillLine(printable(text), /*indent=*/4) << "\n";
}

static void writeMore(raw_ostream &out, size_t count, size_t shown,
                      StringRef word) {
  if (count > shown)
    writeLine(out, "and " + showCount(count - shown, word) + " more");
}

/// The answers to a reader's first questions.
static void writeCommon(raw_ostream &out, const Fold &fold) {
  static constexpr std::pair<StringLiteral, StringLiteral> keys[] = {
      {"verdict.status", "verdict"},
      {"version", "mpgtools"},
      {"machine.kernel", "kernel"},
      {"machine.processor", "processor"},
      {"machine.cpus", "CPUs"},
      {"pages.memory_bytes", "memory"},
      {"pages.pools[2 MiB].total", "pages of 2 MiB in the pool"},
      {"transparent.enabled", "transparent pages"}};
  std::vector<std::string> parts;
  for (const auto &[key, name] : keys)
    for (const FoldDifference &entry : fold.common)
      if (entry.key == key)
        parts.push_back((name + " " + entry.value).str());
  const FoldGroup &group = fold.groups.front();
  writeLine(out, (fold.groups.size() == 1 ? "all equal: " : "most: ") +
                     showCount(group.nodes.size(), "node") + ": " +
                     foldNames(group.nodes, maxShown));
  writeLine(out, join(parts, ", "));
}

static std::string showDifference(const FoldDifference &difference) {
  auto show = [](const std::string &value) {
    return value.empty() ? "not there" : value;
  };
  return difference.key + " " + show(difference.value) +
         " (most: " + show(difference.usual) + ")";
}

static void writeGroups(raw_ostream &out, const Fold &fold) {
  ArrayRef<FoldGroup> groups = ArrayRef(fold.groups).drop_front();
  for (const FoldGroup &group : groups.take_front(maxGroups)) {
    ArrayRef<FoldDifference> all = group.differences;
    std::vector<std::string> parts;
    for (const FoldDifference &difference : all.take_front(maxDifferences))
      parts.push_back(showDifference(difference));
    if (all.size() > maxDifferences)
      parts.push_back("and " + std::to_string(all.size() - maxDifferences) +
                      " more");
    writeLine(out, "differs: " + showCount(group.nodes.size(), "node") + ": " +
                       foldNames(group.nodes, maxShown) + ": " +
                       join(parts, "; "));
  }
  writeMore(out, groups.size(), maxGroups, "group");
  for (const ScatteredKey &key : fold.scattered)
    writeLine(out, "not compared: " + key.key + " has " +
                       showCount(key.values, "value") +
                       ", none of them on half of the nodes");
}

/// "41.3 GB/s"
static std::string showFigure(double value, StringRef unit) {
  return formatv("{0} {1}", format("%.4g", value), unit);
}

static void writeFigures(raw_ostream &out, const Fold &fold) {
  size_t slow = 0, judged = 0;
  for (const FoldFigure &figure : fold.figures) {
    judged += figure.limit.has_value();
    slow += !figure.slow.empty();
    ArrayRef<SlowNode> nodes = figure.slow;
    for (const SlowNode &node : nodes.take_front(maxShown))
      writeLine(out, "slow: " + node.node + ": " + figure.name + " " +
                         showFigure(node.value, figure.unit) + ", median " +
                         showFigure(figure.median, figure.unit) + ", limit " +
                         showFigure(*figure.limit, figure.unit));
    writeMore(out, nodes.size(), maxShown, "slow node");
  }
  if (judged && !slow)
    writeLine(out, "no slow node by " + showCount(judged, "figure"));
  if (judged < fold.figures.size())
    writeLine(out, showCount(fold.figures.size() - judged, "figure") +
                       " of fewer than 16 nodes: which are slow is not known");
}

void mpg::writeFoldText(raw_ostream &out, const Fold &fold) {
  out << "mpginfo: folded " << showCount(fold.nodes, "node") << "\n";
  if (!fold.groups.empty()) {
    writeCommon(out, fold);
    writeGroups(out, fold);
  }
  if (ArrayRef<uint64_t> pages = fold.availablePages; !pages.empty())
    writeLine(out,
              formatv("pages of 2 MiB that a program can have now: min "
                      "{0:N}, median {1:N}, max {2:N}",
                      pages.front(), pages[pages.size() / 2], pages.back()));
  writeFigures(out, fold);
  if (!fold.missing.empty())
    writeLine(out, "no report: " + showCount(fold.missing.size(), "node") +
                       ": " + foldNames(fold.missing, maxShown));
  for (const std::string &line :
       fold.skipped.describe("answer", "not of mpginfo or mpgbench",
                             "of a node that had answered"))
    writeLine(out, "not folded: " + line);
}
