// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of an experiment between nodes a heat map for its value and one for each
// further figure: CPUs of which node down, memory of which node across. They
// are tables with shades behind the numbers: a shade alone cannot be read off,
// and eight nodes as series of a plot cannot be told apart.

#include "Support/HtmlPage.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchTables.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

/// 64 nodes, and a column for interleaved memory; a file can name any number.
static constexpr size_t cellLimit = 64 * 65;
/// Values that differ by less have one shade: others would show noise.
static constexpr double leastSpan = 1.05;

bool mpg::isNodeMap(const ExperimentResult &experiment) {
  size_t rows = valuesOf(experiment, "cpus").size();
  return experiment.xParameter == "memory" &&
         experiment.seriesParameter == "cpus" && rows > 1 &&
         rows * valuesOf(experiment, "memory").size() <= cellLimit;
}

/// What \p point has beside its place: "pages 4K, bytes 512M".
static std::string titleOf(const PointResult &point) {
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
  double least = 0, most = 0;
};

} // namespace

MapWriter::MapWriter(raw_ostream &out, const ExperimentResult &experiment,
                     std::string title, std::string figure)
    : out(out), experiment(experiment), title(std::move(title)),
      figure(std::move(figure)) {
  for (const PointResult &point : experiment.points) {
    if (point.samples.empty() || titleOf(point) != this->title)
      continue;
    double value = this->figure.empty()
                       ? point.summary.median
                       : figureOf(point, this->figure).value_or(0);
    if (!isDrawable(value))
      continue;
    least = cells.empty() ? value : std::min(least, value);
    most = std::max(most, value);
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
  if (most >= least * leastSpan)
    shade += std::min(unsigned(4 * (value - least) / (most - least)), 3u);
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
  std::vector<std::string> memories = valuesOf(experiment, "memory");
  for (const std::string &memory : memories)
    columns.push_back(">memory " + memory);
  out << "<figure class=\"nodemap\">\n<figcaption><strong>" << escapeHtml(name)
      << "</strong>" << (title.empty() ? "" : ": ") << escapeHtml(title)
      << "</figcaption>\n";
  beginHtmlTable(out, "Map of " + name + " " + title, columns);
  for (const std::string &cpus : valuesOf(experiment, "cpus")) {
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
    if (!is_contained(titles, titleOf(point)))
      titles.push_back(titleOf(point));
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
