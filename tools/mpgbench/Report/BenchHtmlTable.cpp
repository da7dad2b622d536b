// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counters of an experiment as a table, and its heat maps if it is one
// between nodes.

#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "Support/Table.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

/// Names that are listed for one reason.
static constexpr size_t nameLimit = 12;

// Counters and further figures

namespace {

struct Extras {
  std::vector<std::string> names; ///< in order of appearance
  /// Counters that have no value anywhere, by reason.
  std::map<StringRef, std::vector<StringRef>> missing;
};

} // namespace

static Extras collectExtras(const ExperimentResult &experiment) {
  Extras extras;
  std::vector<std::pair<StringRef, StringRef>> without;
  auto add = [&](const std::string &name) {
    if (!is_contained(extras.names, name))
      extras.names.push_back(name);
  };
  for (const PointResult &point : experiment.points)
    for (const WorkerResult &sample : point.samples) {
      for (const auto &[name, value] : sample.figures)
        add(name);
      for (const CounterValue &counter : sample.counters)
        if (counter.value)
          add(counter.name);
        else if (!is_contained(make_first_range(without), counter.name))
          without.push_back({counter.name, counter.missing});
    }
  for (const auto &[name, reason] : without)
    if (!is_contained(extras.names, name))
      extras.missing[reason].push_back(name);
  return extras;
}

static void writeNames(raw_ostream &out, ArrayRef<StringRef> names) {
  out << join(map_range(names.take_front(nameLimit), htmlCode), ", ");
  if (names.size() > nameLimit)
    out << " and " << names.size() - nameLimit << " more";
}

void mpg::writeCounterTable(raw_ostream &out, const BenchRun &run,
                            const ExperimentResult &experiment) {
  Extras extras = collectExtras(experiment);
  for (const auto &[reason, names] : extras.missing) {
    out << "<p class=\"muted\">Counters without values: ";
    writeNames(out, names);
    out << ": " << escapeHtml(reason.empty() ? "not available" : reason)
        << "</p>\n";
  }
  if (extras.names.empty())
    return;
  out << "<details><summary>Counters and further figures, medians</summary>\n";
  makePointTable(run, experiment, extras.names)
      .writeHtml(out, "Counters of " + experiment.name);
  out << "</details>\n";
}

// Of an experiment between nodes a heat map for its value and one for each
// further figure: CPUs of which node down, memory of which node across. They
// are tables with shades behind the numbers: a shade alone cannot be read off,
// and nobody can distinguish eight nodes as series of a plot.

/// 64 nodes, and a column for interleaved memory; a file can name any number.
static constexpr size_t cellLimit = 64 * 65;
/// Values that differ by less have one shade: others would show noise.
static constexpr double minSpan = 1.05;

bool mpg::isNodeMap(const ExperimentResult &experiment) {
  size_t rows = getValues(experiment, "cpus").size();
  return experiment.xParameter == "memory" &&
         experiment.seriesParameter == "cpus" && rows > 1 &&
         rows * getValues(experiment, "memory").size() <= cellLimit;
}

/// What \p point has beside its place: "pages 4K, bytes 512M".
static std::string makeTitle(const PointResult &point) {
  return describeOthers(point.parameters, {"cpus", "memory"});
}

namespace {

/// The values of one map, by CPUs and memory.
struct NodeMap {
  struct Cell {
    double value;
    bool isBusy;
  };
  std::map<std::pair<StringRef, StringRef>, Cell> cells;
  double min = 0, max = 0;
};

} // namespace

/// \p figure: one of the samples; "" for the value.
static NodeMap collectMap(const ExperimentResult &experiment, StringRef title,
                          const std::string &figure) {
  NodeMap map;
  for (const PointResult &point : experiment.points) {
    if (point.samples.empty() || makeTitle(point) != title)
      continue;
    double value = figure.empty() ? point.summary.median
                                  : findFigure(point, figure).value_or(0);
    if (!isDrawable(value))
      continue;
    map.min = map.cells.empty() ? value : std::min(map.min, value);
    map.max = std::max(map.max, value);
    map.cells[{parameter(point.parameters, "cpus"),
               parameter(point.parameters, "memory")}] = {value, point.isBusy};
  }
  return map;
}

static void writeCell(HtmlTable &table, const NodeMap &map, StringRef cpus,
                      StringRef memory) {
  auto found = map.cells.find({cpus, memory});
  if (found == map.cells.end()) {
    table.cell() << "-";
    return;
  }
  auto [value, isBusy] = found->second;
  unsigned shade = 1;
  if (map.max >= map.min * minSpan)
    shade +=
        std::min(unsigned(4 * (value - map.min) / (map.max - map.min)), 3u);
  const char *tag = cpus == memory ? "strong" : "span";
  table.cell("size shade" + std::to_string(shade))
      << "<" << tag << ">" << formatFigure(value) << "</" << tag << ">"
      << (isBusy ? " busy" : "");
}

static void writeMap(raw_ostream &out, const ExperimentResult &experiment,
                     const std::string &title, const std::string &figure) {
  NodeMap map = collectMap(experiment, title, figure);
  if (map.cells.empty())
    return;
  std::string name =
      figure.empty()
          ? experiment.unit + (experiment.higherIsBetter ? ", higher is better"
                                                         : ", lower is better")
          : figure;
  std::vector<std::string> columns = {"row|CPUs of"};
  std::vector<std::string> memories = getValues(experiment, "memory");
  for (const std::string &memory : memories)
    columns.push_back("size|memory " + memory);
  out << "<figure class=\"nodemap\">\n<figcaption><strong>" << escapeHtml(name)
      << "</strong>" << (title.empty() ? "" : ": ") << escapeHtml(title)
      << "</figcaption>\n";
  {
    HtmlTable table(out, "Map of " + name + " " + title, columns);
    for (const std::string &cpus : getValues(experiment, "cpus")) {
      table.cell() << "node " << escapeHtml(cpus);
      for (const std::string &memory : memories)
        writeCell(table, map, cpus, memory);
    }
  }
  out << "</figure>\n";
}

void mpg::writeNodeMaps(raw_ostream &out, const ExperimentResult &experiment) {
  std::vector<std::string> titles;
  std::set<std::string> figures = {""};
  for (const PointResult &point : experiment.points) {
    if (!is_contained(titles, makeTitle(point)))
      titles.push_back(makeTitle(point));
    for (const WorkerResult &sample : point.samples)
      for (const auto &[name, value] : sample.figures)
        figures.insert(name);
  }
  for (const std::string &title : titles)
    for (const std::string &figure : figures)
      writeMap(out, experiment, title, figure);
  out << "<p class=\"muted\">Medians. The stronger the colour, the larger the "
         "value; bold: the node's own memory.</p>\n";
}
