// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text in columns, and how numbers and points are written in them. See
// BenchReport.h.

#include "Support/Format.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// Text in columns
//===----------------------------------------------------------------------===//

void TextTable::addColumn(StringRef header, bool isNumber) {
  assert(rows.empty() && "columns come before rows");
  Column column = {{}, isNumber, 0};
  SmallVector<StringRef, 3> lines;
  header.split(lines, '\n');
  for (StringRef line : lines) {
    column.header.push_back(printable(line));
    column.width = std::max(column.width, column.header.back().size());
  }
  columns.push_back(std::move(column));
}

void TextTable::addRow(std::vector<std::string> cells) {
  assert(cells.size() == columns.size() && "one cell a column");
  for (size_t i = 0; i < columns.size(); ++i) {
    cells[i] = printable(cells[i]);
    columns[i].width = std::max(columns[i].width, cells[i].size());
  }
  rows.push_back(std::move(cells));
}

size_t TextTable::width() const {
  size_t width = 0;
  for (const Column &column : columns)
    width += column.width + 2;
  return width ? width - 2 : 0;
}

void TextTable::writeLine(raw_ostream &out, unsigned indent,
                          const std::vector<std::string> &cells) const {
  std::string line(indent, ' ');
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string blanks(columns[i].width - cells[i].size(), ' ');
    line += columns[i].isNumber ? blanks + cells[i] : cells[i] + blanks;
    line += "  ";
  }
  out << StringRef(line).rtrim(' ') << "\n";
}

void TextTable::write(raw_ostream &out, unsigned indent) const {
  size_t headerLines = 0;
  for (const Column &column : columns)
    headerLines = std::max(headerLines, column.header.size());
  for (size_t line = 0; line < headerLines; ++line) {
    std::vector<std::string> cells;
    for (const Column &column : columns) {
      // The last lines stand side by side.
      size_t skipped = headerLines - column.header.size();
      cells.push_back(line < skipped ? "" : column.header[line - skipped]);
    }
    writeLine(out, indent, cells);
  }
  for (const std::vector<std::string> &row : rows)
    writeLine(out, indent, row);
}

std::string mpg::formatFigureLike(double value, double like) {
  constexpr int digits = 4, maxDecimals = 6;
  int exponent = like != 0 && std::isfinite(like)
                     ? int(std::floor(std::log10(std::abs(like))))
                     : 0;
  int decimals = std::max(0, digits - 1 - exponent);
  std::string text;
  raw_string_ostream out(text);
  if (decimals > maxDecimals || exponent > 12)
    out << format("%.3e", value);
  else
    out << format("%.*f", decimals, value);
  return out.str();
}

std::string mpg::formatFigure(double value) {
  return formatFigureLike(value, value);
}

static std::optional<double> sampleFigure(const WorkerResult &sample,
                                          const std::string &name) {
  auto figure = sample.figures.find(name);
  if (figure != sample.figures.end())
    return figure->second;
  for (const CounterValue &counter : sample.counters)
    if (counter.name == name && counter.value)
      return double(*counter.value);
  return std::nullopt;
}

std::optional<double> mpg::findFigure(const PointResult &point,
                                      const std::string &name) {
  std::vector<double> values;
  for (const WorkerResult &sample : point.samples)
    if (std::optional<double> value = sampleFigure(sample, name))
      values.push_back(*value);
  if (values.empty())
    return std::nullopt;
  return summarise(values).median;
}

//===----------------------------------------------------------------------===//
// Names of points
//===----------------------------------------------------------------------===//

std::vector<std::string> mpg::parameterNames(const ExperimentResult &result) {
  std::vector<std::string> names;
  for (const PointResult &point : result.points)
    for (const auto &pair : point.parameters)
      if (!is_contained(names, pair.first))
        names.push_back(pair.first);
  return names;
}

StringRef mpg::kindWord(Conclusion::Kind kind) {
  switch (kind) {
  case Conclusion::Kind::yes:
    return "yes";
  case Conclusion::Kind::no:
    return "no";
  case Conclusion::Kind::undecided:
    return "undecided";
  case Conclusion::Kind::notMeasured:
    break;
  }
  return "not measured";
}

static bool isShared(ArrayRef<const PointResult *> points, StringRef name) {
  return all_of(points, [&](const PointResult *point) {
    return parameter(point->parameters, name) ==
           parameter(points.front()->parameters, name);
  });
}

static std::vector<const PointResult *>
makePoints(const ExperimentResult &result) {
  std::vector<const PointResult *> points;
  for (const PointResult &point : result.points)
    points.push_back(&point);
  return points;
}

Parameters mpg::sharedParameters(const ExperimentResult &result) {
  Parameters shared;
  std::vector<const PointResult *> all = makePoints(result);
  if (all.size() < 2)
    return shared;
  for (const std::string &name : parameterNames(result))
    if (isShared(all, name))
      shared.push_back({name, parameter(all.front()->parameters, name).str()});
  return shared;
}

/// What \p points have in common and not all points have.
static std::string commonText(const ExperimentResult &result,
                              ArrayRef<const PointResult *> points) {
  std::string text;
  std::vector<const PointResult *> all = makePoints(result);
  for (const std::string &name : parameterNames(result)) {
    StringRef value = parameter(points.front()->parameters, name);
    if (!value.empty() && isShared(points, name) && !isShared(all, name))
      text += (text.empty() ? "" : " ") + name + "=" + value.str();
  }
  return text;
}

std::string mpg::pointLabel(const ExperimentResult &result,
                            const PointResult &point) {
  std::string text = commonText(result, {&point});
  return text.empty() ? point.name : text;
}

std::string mpg::pointsLabel(const ExperimentResult &result,
                             ArrayRef<const PointResult *> points) {
  if (points.size() == 1)
    return pointLabel(result, *points.front());
  if (points.size() == result.points.size())
    return "all points";
  std::string text = commonText(result, points);
  return text + (text.empty() ? "" : ", ") + std::to_string(points.size()) +
         " points";
}
