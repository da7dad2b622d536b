// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextTable.h.

#include "mpgbench/Report/TextTable.h"
#include "Support/Format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llvm;
using namespace mpg;

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
