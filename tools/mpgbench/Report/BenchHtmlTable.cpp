// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of an experiment: a plot shows which is larger, a table by how
// much and on which pages. Of an experiment between nodes heat maps.

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

static std::string describeNotes(const PointResult &point) {
  if (point.samples.empty())
    return "not measured: " +
           (point.missing.empty() ? "no repetition ran" : point.missing);
  std::string text = point.isBusy ? "busy" : "";
  uint64_t switches = 0;
  for (const WorkerResult &sample : point.samples)
    switches += sample.involuntarySwitches;
  auto add = [&](const std::string &note) {
    text += (text.empty() ? "" : "; ") + note;
  };
  if (switches)
    add("interrupted " + countWord(switches, "time"));
  if (!point.missing.empty()) // after some repetitions
    add("stopped: " + point.missing);
  return text;
}

static void addPointRow(HtmlTable &table, const PointResult &point,
                        ArrayRef<std::string> names) {
  const Summary &summary = point.summary;
  std::vector<std::string> cells;
  for (const std::string &name : names) {
    StringRef value = parameter(point.parameters, name);
    cells.push_back(value.empty() ? "-" : escapeHtml(value));
  }
  if (names.empty())
    cells.push_back(escapeHtml(point.name));
  bool hasValue = !point.samples.empty();
  auto cell = [&](const std::string &text) {
    cells.push_back(hasValue ? text : "-");
  };
  cell("<strong>" + formatMeasured(summary.median) + "</strong>");
  cell(summary.interval ? formatMeasured(summary.interval->low) + " to " +
                              formatMeasured(summary.interval->high)
                        : "-");
  cell(formatMeasured(summary.min));
  cell(formatMeasured(summary.max));
  cell(std::to_string(point.samples.size()));
  cells.push_back(escapeHtml(describeBacking(point)));
  cells.push_back(escapeHtml(describeNotes(point)));
  table.addRow(cells, point.isBusy ? "isbusy" : "");
}

void mpg::writePointTable(raw_ostream &out,
                          const ExperimentResult &experiment) {
  if (experiment.points.empty())
    return;
  std::vector<std::string> names = parameterNames(experiment), columns;
  for (const std::string &name : names)
    columns.push_back((columns.empty() ? "row|" : "|") + name);
  if (columns.empty())
    columns.push_back("row|point");
  columns.push_back("size|median, " + experiment.unit);
  for (const char *column :
       {"size|95 % interval", "size|min", "size|max", "size|runs",
        "backing|pages under it", "notes|notes"})
    columns.push_back(column);
  out << "<h3>Points</h3>\n";
  HtmlTable table(out, "Points of " + experiment.name, columns);
  for (const PointResult &point : experiment.points)
    addPointRow(table, point, names);
}

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

void mpg::writeCounterTable(raw_ostream &out,
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
  Table table({"point"});
  for (const std::string &name : extras.names)
    table.addNumber(name);
  for (const PointResult &point : experiment.points) {
    if (point.samples.empty())
      continue;
    std::vector<std::string> cells = {point.name};
    for (const std::string &name : extras.names) {
      std::optional<double> figure = findFigure(point, name);
      cells.push_back(figure ? formatMeasured(*figure) : "-");
    }
    table.addRow(cells);
  }
  table.writeHtml(out, "Counters of " + experiment.name);
  out << "</details>\n";
}

// The guide, and what is missing

void mpg::writeGuideTable(raw_ostream &out, const ExperimentResult &experiment,
                          ArrayRef<GuideMark> marks) {
  if (experiment.guide.empty())
    return;
  out << "<h3>What the guide says</h3>\n<p class=\"muted\">Figures of another "
         "machine, for comparison only; letters mark them in the plots.</p>\n";
  HtmlTable table(
      out, "Figures of the guide for " + experiment.name,
      {"", "row|there", "size|" + experiment.unit, "source and accounting"});
  for (auto [figure, mark] : zip(experiment.guide, marks)) {
    raw_ostream &key = table.cell();
    if (!mark.key.empty())
      key << "<span class=\"keybox\">" << mark.key << "</span>";
    table.cell() << escapeHtml(figure.label);
    table.cell() << formatMeasured(figure.value);
    raw_ostream &source = table.cell() << escapeHtml(figure.source);
    if (!mark.whyNot.empty())
      source << " <span class=\"muted\">(" << mark.whyNot << ")</span>";
  }
}

void mpg::writeMissing(raw_ostream &out, const ExperimentResult &experiment) {
  for (const auto &[reason, points] : collectUnmeasured(experiment)) {
    std::vector<StringRef> names;
    for (const PointResult *point : points)
      names.push_back(point->name);
    out << "<p class=\"absent\">Not measured: ";
    writeNames(out, names);
    out << ": " << (reason.empty() ? "no repetition ran" : escapeHtml(reason))
        << "</p>\n";
  }
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
      << "<" << tag << ">" << formatMeasured(value) << "</" << tag << ">"
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
