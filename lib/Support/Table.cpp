// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Table.h.

#include "Support/Table.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llvm;
using namespace mpg;

std::string mpg::formatFigureLike(double value, double like) {
  constexpr int digits = 4, maxDecimals = 6;
  if (!std::isfinite(value))
    return "-";
  if (value == 0 && like == 0)
    return "0";
  int exponent = like != 0 && std::isfinite(like)
                     ? int(std::floor(std::log10(std::abs(like))))
                     : 0;
  int decimals = std::max(0, digits - 1 - exponent);
  if (decimals > maxDecimals || exponent > 12)
    return formatv("{0}", format("%.3e", value));
  return formatv("{0}", format("%.*f", decimals, value));
}

std::string mpg::formatFigure(double value) {
  return formatFigureLike(value, value);
}

Table::Table(std::initializer_list<StringRef> headings) {
  for (StringRef heading : headings) {
    if (heading.consume_front("row|"))
      nameColumn = columns.size();
    bool isNumber = heading.consume_front("size|");
    addColumn(heading, isNumber);
  }
}

void Table::addColumn(StringRef heading, bool isNumber) {
  assert(rows.empty() && "columns come before rows");
  Column column = {{}, isNumber, false, 0};
  for (StringRef line : split(heading, '\n')) {
    column.heading.push_back(printable(line));
    column.width = std::max(column.width, labelColumns(column.heading.back()));
  }
  columns.push_back(std::move(column));
}

void Table::addPicture(StringRef heading) {
  addColumn(heading);
  columns.back().isPicture = true;
}

void Table::addRow(std::vector<std::string> cells) {
  assert(cells.size() == columns.size() && "one cell a column");
  for (size_t i = 0; i < columns.size(); ++i) {
    cells[i] = printable(cells[i]);
    columns[i].width = std::max(columns[i].width, labelColumns(cells[i]));
  }
  std::vector<std::string> markup(cells.size());
  rows.push_back({std::move(cells), std::move(markup), "", ""});
}

void Table::setMarkup(size_t column, std::string markup) {
  rows.back().markup[column] = std::move(markup);
}

void Table::addNote(StringRef text, StringRef markup) {
  rows.back().note = printable(text);
  rows.back().noteMarkup = markup.str();
}

size_t Table::width() const {
  size_t width = 0;
  for (const Column &column : columns)
    width += column.isPicture ? 0 : column.width + 2;
  return width ? width - 2 : 0;
}

void Table::writeLine(raw_ostream &out, unsigned indent,
                      const std::vector<std::string> &cells) const {
  std::string line(indent, ' ');
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].isPicture)
      continue;
    std::string blanks(columns[i].width - labelColumns(cells[i]), ' ');
    line += columns[i].isNumber ? blanks + cells[i] : cells[i] + blanks;
    line += "  ";
  }
  out << StringRef(line).rtrim(' ') << "\n";
}

void Table::write(raw_ostream &out, unsigned indent) const {
  size_t headingLines = 0;
  for (const Column &column : columns)
    if (!column.isPicture && column.heading != std::vector<std::string>{""})
      headingLines = std::max(headingLines, column.heading.size());
  for (size_t line = 0; line < headingLines; ++line) {
    std::vector<std::string> cells;
    for (const Column &column : columns) {
      // The last lines stand side by side.
      size_t skipped =
          headingLines - std::min(headingLines, column.heading.size());
      cells.push_back(line < skipped ? "" : column.heading[line - skipped]);
    }
    writeLine(out, indent, cells);
  }
  for (const Row &row : rows) {
    writeLine(out, indent, row.cells);
    if (!row.note.empty())
      out << std::string(indent + 2, ' ') << row.note << "\n";
  }
}

void Table::writeHtml(raw_ostream &out, StringRef name, StringRef style,
                      bool isCode) const {
  std::vector<std::string> headings;
  for (const Column &column : columns)
    headings.push_back((headings.size() == nameColumn ? "row " + style.str()
                        : column.isPicture            ? "picture"
                        : column.isNumber             ? "size"
                                                      : "") +
                       "|" + join(column.heading, " "));
  HtmlTable table(out, name, headings);
  for (const Row &row : rows)
    for (size_t i = 0; i < row.cells.size(); ++i) {
      raw_ostream &cell = table.cell();
      if (!row.markup[i].empty())
        cell << row.markup[i];
      else
        cell << (isCode && i == nameColumn ? htmlCode(row.cells[i])
                                           : escapeHtml(row.cells[i]));
      if (i == nameColumn && !row.noteMarkup.empty())
        cell << "<br><span class=\"muted\">" << row.noteMarkup << "</span>";
    }
}

/// In quotes where it needs them.
static std::string quoteCell(StringRef text) {
  std::string valid = validUtf8(text);
  if (valid.find_first_of("\",\r\n") == std::string::npos)
    return valid;
  std::string quoted = "\"";
  for (char letter : valid)
    quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

void mpg::writeCsvLine(raw_ostream &out, ArrayRef<std::string> cells,
                       StringRef end) {
  out << join(map_range(cells, quoteCell), ",") << end;
}
