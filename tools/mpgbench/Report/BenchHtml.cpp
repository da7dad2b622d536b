// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgbench --html: one page that can be mailed and opened anywhere, as
// mpgaudit's is. It loads nothing and runs nothing. In front stands whether the
// numbers can be trusted, then what they say, then the numbers.

#include "Render/HtmlParts.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

namespace {

class PageWriter {
public:
  PageWriter(raw_ostream &out, const BenchRun &run) : out(out), run(run) {}
  void write();

private:
  void writeHead();
  void writeHow();
  void writeLoad();
  void writeContents();
  void writeMachine();
  void writeExperiment(size_t index);

  raw_ostream &out;
  const BenchRun &run;
};

} // namespace

void PageWriter::writeHead() {
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
         "charset=\"utf-8\">\n<meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\">\n<meta "
         "name=\"color-scheme\" content=\"light dark\">\n<meta "
         "name=\"generator\" content=\"mpgbench "
      << escapeHtml(run.version)
      << "\">\n<title>What pages cost: " << escapeHtml(run.date)
      << " - mpgbench</title>\n<style>" << htmlStyle() << benchStyle()
      << "</style>\n</head>\n<body>\n"
      << plotShapes() << "<header>\n<h1>What pages cost on this machine</h1>\n";
}

/// "Measured on DATE: 7 repetitions ..., full sizes."
void PageWriter::writeHow() {
  size_t points = 0, measured = 0;
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points) {
      ++points;
      measured += !point.samples.empty();
    }
  out << "<p>";
  if (measured == points)
    out << countWord(points, "point");
  else
    out << measured << " of " << countWord(points, "point");
  out << " in " << countWord(run.experiments.size(), "experiment")
      << ", measured " << escapeHtml(run.date) << ", "
      << countWord(run.repetitions, "repetition") << " each, in random order ("
      << "seed " << run.seed << ").</p>\n";
  if (run.quick)
    out << "<p class=\"quick\"><span class=\"badge note\">quick</span> Small "
           "arrays and short runs: good for a first look. Leave out "
           "<code>--quick</code> for figures to publish.</p>\n";
}

void PageWriter::writeLoad() {
  size_t busy = 0;
  for (const ExperimentResult &experiment : run.experiments)
    busy += size_t(count_if(experiment.points, [](const PointResult &point) {
      return point.isBusy;
    }));
  bool isBusy = run.load.isBusy();
  if (!isBusy && !busy) {
    out << "<p class=\"muted\">The machine was quiet: "
        << escapeHtml(run.load.describe()) << ".</p>\n";
    return;
  }
  out << "<p class=\"banner\" role=\"note\"><strong>"
      << (isBusy ? "The machine was busy"
                 : "The machine was busy for a part of the time")
      << "</strong>: " << escapeHtml(run.load.describe()) << ". ";
  if (busy)
    out << countWord(busy, "point")
        << " disturbed: hollow in the plots, and without a verdict. ";
  out << "Measure again when nothing else runs.</p>\n";
}

void PageWriter::writeContents() {
  if (run.experiments.size() < 2)
    return;
  out << "<nav aria-label=\"Experiments\"><ul class=\"contents\">\n";
  for (size_t i = 0; i < run.experiments.size(); ++i)
    out << "<li><a href=\"#e" << i + 1 << "\">"
        << escapeHtml(run.experiments[i].name) << "</a></li>\n";
  out << "</ul></nav>\n";
}

void PageWriter::writeMachine() {
  if (run.machine.empty())
    return;
  out << "<section>\n<h2>Machine</h2>\n<dl class=\"machine\">\n";
  for (const auto &[name, value] : run.machine)
    out << "<dt>" << escapeHtml(name) << "</dt><dd>" << escapeHtml(value)
        << "</dd>\n";
  out << "</dl>\n</section>\n";
}

void PageWriter::writeExperiment(size_t index) {
  const ExperimentResult &experiment = run.experiments[index];
  std::string id = "e" + std::to_string(index + 1);
  out << "<section id=\"" << id << "\">\n<h2>" << escapeHtml(experiment.name)
      << "</h2>\n";
  if (!experiment.title.empty())
    out << "<p class=\"verdict\">" << escapeHtml(experiment.title) << "</p>\n";
  if (!experiment.accounting.empty())
    out << "<p class=\"muted\">" << escapeHtml(experiment.accounting)
        << "</p>\n";
  std::vector<GuideMark> marks = writePlots(out, experiment, id);
  writeMissing(out, experiment);
  writeGuideTable(out, experiment, marks);
  writePointTable(out, experiment);
  writeCounterTable(out, experiment);
  out << "</section>\n";
}

void PageWriter::write() {
  writeHead();
  writeHow();
  writeLoad();
  writeContents();
  out << "</header>\n<main>\n";
  writeConclusions(out, run);
  if (run.experiments.empty())
    out << "<p>There are no experiments in this result.</p>\n";
  writeMachine();
  for (size_t i = 0; i < run.experiments.size(); ++i)
    writeExperiment(i);
  out << "</main>\n<footer><p>mpgbench " << escapeHtml(run.version)
      << ". A value is the median of its repetitions, each a process of its "
         "own. The interval holds the true median with at least 95 %; below "
         "six repetitions there is none.</p></footer>\n</body>\n</html>\n";
}

void mpg::writeBenchHtml(raw_ostream &out, const BenchRun &run) {
  PageWriter(out, run).write();
}
