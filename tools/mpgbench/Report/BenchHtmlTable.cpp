// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of an experiment: a plot shows which is larger, a table by how
// much and on which pages. Of an experiment between nodes heat maps.

#include "Support/HtmlPage.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

/// Names that are listed for one reason.
static constexpr size_t nameLimit = 12;

/// "2 MiB pool 97 %, normal 3 %"; "" if nothing is known.
static std::string describeBacking(const PointResult &point) {
  Backing backing = getBacking(point);
  double normal = double(backing.normalBytes), thp = double(backing.thpBytes),
         hugetlb = double(backing.hugetlbBytes);
  double all = normal + thp + hugetlb;
  std::string text;
  auto add = [&](StringRef name, double bytes) {
    if (bytes <= 0)
      return;
    // Never prints 0 % for a part that exists, or 100 % for less than all.
    double percent = 100 * bytes / all;
    unsigned whole =
        bytes == all ? 100 : std::clamp(unsigned(percent + 0.5), 1u, 99u);
    text += (text.empty() ? "" : ", ") + name.str() + " " +
            std::to_string(whole) + " %";
  };
  add("hugetlb", hugetlb);
  add("THP", thp);
  add("normal", normal);
  return text;
}

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

static void writePointRow(raw_ostream &out, const PointResult &point,
                          ArrayRef<std::string> names) {
  const Summary &summary = point.summary;
  bool hasValue = !point.samples.empty();
  out << "<tr" << (point.isBusy ? " class=\"isbusy\"" : "") << ">";
  bool isFirst = true;
  for (const std::string &name : names) {
    StringRef value = parameter(point.parameters, name);
    out << (isFirst ? "<th scope=\"row\">" : "<td>")
        << (value.empty() ? "-" : escapeHtml(value))
        << (isFirst ? "</th>" : "</td>");
    isFirst = false;
  }
  if (names.empty())
    out << "<th scope=\"row\">" << escapeHtml(point.name) << "</th>";
  auto cell = [&](const std::string &text) {
    out << "<td class=\"size\">" << (hasValue ? text : "-") << "</td>";
  };
  cell("<strong>" + formatMeasured(summary.median) + "</strong>");
  cell(summary.interval ? formatMeasured(summary.interval->low) + " to " +
                              formatMeasured(summary.interval->high)
                        : "-");
  cell(formatMeasured(summary.min));
  cell(formatMeasured(summary.max));
  cell(std::to_string(point.samples.size()));
  out << "<td class=\"backing\">" << describeBacking(point)
      << "</td><td class=\"notes\">" << escapeHtml(describeNotes(point))
      << "</td></tr>\n";
}

void mpg::writePointTable(raw_ostream &out,
                          const ExperimentResult &experiment) {
  if (experiment.points.empty())
    return;
  std::vector<std::string> names = parameterNames(experiment), columns = names;
  if (columns.empty())
    columns.push_back("point");
  for (std::string &column : columns)
    if (StringRef(column).starts_with(">"))
      column = " " + column; // a name, not a mark of beginHtmlTable
  columns.push_back(">median, " + experiment.unit);
  for (const char *column :
       {">95 % interval", ">min", ">max", ">runs", "pages under it", "notes"})
    columns.push_back(column);
  out << "<h3>Points</h3>\n";
  beginHtmlTable(out, "Points of " + experiment.name, columns);
  for (const PointResult &point : experiment.points)
    writePointRow(out, point, names);
  endHtmlTable(out);
}

//===----------------------------------------------------------------------===//
// Counters and further figures
//===----------------------------------------------------------------------===//

namespace {

/// The values of one column by point.
using Column = std::map<const PointResult *, std::vector<double>>;

struct Extras {
  std::vector<std::string> names; ///< in order of appearance
  std::map<std::string, Column> columns;
  /// Counters that have no value anywhere, by reason.
  std::map<std::string, std::vector<std::string>> missing;
};

} // namespace

static Extras collectExtras(const ExperimentResult &experiment) {
  Extras extras;
  std::vector<std::pair<std::string, std::string>> without;
  auto add = [&](const PointResult &point, const std::string &name, double v) {
    if (!extras.columns.count(name))
      extras.names.push_back(name);
    extras.columns[name][&point].push_back(v);
  };
  for (const PointResult &point : experiment.points)
    for (const WorkerResult &sample : point.samples) {
      for (const auto &[name, value] : sample.figures)
        add(point, name, value);
      for (const CounterValue &counter : sample.counters)
        if (counter.value)
          add(point, counter.name, double(*counter.value));
        else if (none_of(without, [&](const auto &pair) {
                   return pair.first == counter.name;
                 }))
          without.push_back({counter.name, counter.missing});
    }
  for (const auto &[name, reason] : without)
    if (!extras.columns.count(name))
      extras.missing[reason].push_back(name);
  return extras;
}

static void writeNames(raw_ostream &out, ArrayRef<std::string> names) {
  for (size_t i = 0; i < std::min(names.size(), nameLimit); ++i)
    out << (i ? ", " : "") << "<code>" << escapeHtml(names[i]) << "</code>";
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
  std::vector<std::string> columns = {"point"};
  for (const std::string &name : extras.names)
    columns.push_back(">" + name);
  beginHtmlTable(out, "Counters of " + experiment.name, columns);
  for (const PointResult &point : experiment.points) {
    if (point.samples.empty())
      continue;
    out << "<tr><th scope=\"row\">" << escapeHtml(point.name) << "</th>";
    for (const std::string &name : extras.names) {
      auto found = extras.columns[name].find(&point);
      out << "<td class=\"size\">"
          << (found == extras.columns[name].end()
                  ? "-"
                  : formatMeasured(summarise(found->second).median))
          << "</td>";
    }
    out << "</tr>\n";
  }
  endHtmlTable(out);
  out << "</details>\n";
}

//===----------------------------------------------------------------------===//
// The guide, and what is missing
//===----------------------------------------------------------------------===//

void mpg::writeGuideTable(raw_ostream &out, const ExperimentResult &experiment,
                          ArrayRef<GuideMark> marks) {
  if (experiment.guide.empty())
    return;
  out << "<h3>What the guide says</h3>\n<p class=\"muted\">Figures of another "
         "machine, for comparison only; letters mark them in the plots.</p>\n";
  beginHtmlTable(out, "Figures of the guide for " + experiment.name,
                 {"", "there", ">" + experiment.unit, "source and accounting"});
  for (size_t i = 0; i < experiment.guide.size(); ++i) {
    const GuideFigure &figure = experiment.guide[i];
    out << "<tr><td>";
    if (!marks[i].key.empty())
      out << "<span class=\"keybox\">" << marks[i].key << "</span>";
    out << "</td><th scope=\"row\">" << escapeHtml(figure.label)
        << "</th><td class=\"size\">" << formatMeasured(figure.value)
        << "</td><td>" << escapeHtml(figure.source);
    if (!marks[i].whyNot.empty())
      out << " <span class=\"muted\">(" << marks[i].whyNot << ")</span>";
    out << "</td></tr>\n";
  }
  endHtmlTable(out);
}

void mpg::writeMissing(raw_ostream &out, const ExperimentResult &experiment) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> names;
  for (const PointResult &point : experiment.points) {
    if (!point.samples.empty())
      continue;
    std::string reason =
        point.missing.empty() ? "no repetition ran" : point.missing;
    if (!names.count(reason))
      reasons.push_back(reason);
    names[reason].push_back(point.name);
  }
  for (const std::string &reason : reasons) {
    out << "<p class=\"absent\">Not measured: ";
    writeNames(out, names[reason]);
    out << ": " << escapeHtml(reason) << "</p>\n";
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
  std::string title;
  for (const auto &[name, value] : point.parameters)
    if (name != "cpus" && name != "memory")
      title += (title.empty() ? "" : ", ") + name + " " + value;
  return title;
}

namespace {

struct Cell {
  double value;
  bool isBusy;
};

class MapWriter {
public:
  /// \p figure: one of the samples; "" for the value.
  MapWriter(raw_ostream &out, const ExperimentResult &experiment,
            std::string title, std::string figure);
  void write();

private:
  void writeCell(const std::string &cpus, const std::string &memory);

  raw_ostream &out;
  const ExperimentResult &experiment;
  std::string title, figure;
  std::map<std::pair<std::string, std::string>, Cell> cells; ///< CPUs, memory
  double min = 0, max = 0;
};

} // namespace

MapWriter::MapWriter(raw_ostream &out, const ExperimentResult &experiment,
                     std::string title, std::string figure)
    : out(out), experiment(experiment), title(std::move(title)),
      figure(std::move(figure)) {
  for (const PointResult &point : experiment.points) {
    if (point.samples.empty() || makeTitle(point) != this->title)
      continue;
    double value = this->figure.empty()
                       ? point.summary.median
                       : findFigure(point, this->figure).value_or(0);
    if (!isDrawable(value))
      continue;
    min = cells.empty() ? value : std::min(min, value);
    max = std::max(max, value);
    cells[{parameter(point.parameters, "cpus").str(),
           parameter(point.parameters, "memory").str()}] = {value,
                                                            point.isBusy};
  }
}

void MapWriter::writeCell(const std::string &cpus, const std::string &memory) {
  auto found = cells.find({cpus, memory});
  if (found == cells.end()) {
    out << "<td class=\"size\">-</td>";
    return;
  }
  auto [value, isBusy] = found->second;
  unsigned shade = 1;
  if (max >= min * minSpan)
    shade += std::min(unsigned(4 * (value - min) / (max - min)), 3u);
  const char *tag = cpus == memory ? "strong" : "span";
  out << "<td class=\"size shade" << shade << "\"><" << tag << ">"
      << formatMeasured(value) << "</" << tag << ">" << (isBusy ? " busy" : "")
      << "</td>";
}

void MapWriter::write() {
  if (cells.empty())
    return;
  std::string name =
      figure.empty()
          ? experiment.unit + (experiment.higherIsBetter ? ", higher is better"
                                                         : ", lower is better")
          : figure;
  std::vector<std::string> columns = {"CPUs of"};
  std::vector<std::string> memories = getValues(experiment, "memory");
  for (const std::string &memory : memories)
    columns.push_back(">memory " + memory);
  out << "<figure class=\"nodemap\">\n<figcaption><strong>" << escapeHtml(name)
      << "</strong>" << (title.empty() ? "" : ": ") << escapeHtml(title)
      << "</figcaption>\n";
  beginHtmlTable(out, "Map of " + name + " " + title, columns);
  for (const std::string &cpus : getValues(experiment, "cpus")) {
    out << "<tr><th scope=\"row\">node " << escapeHtml(cpus) << "</th>";
    for (const std::string &memory : memories)
      writeCell(cpus, memory);
    out << "</tr>\n";
  }
  endHtmlTable(out);
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
      MapWriter(out, experiment, title, figure).write();
  out << "<p class=\"muted\">Medians. The stronger the colour, the larger the "
         "value; bold: the node's own memory.</p>\n";
}
