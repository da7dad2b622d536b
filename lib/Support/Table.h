// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of plain text, and its writers for a terminal and for a page; and
// CSV. Tables with markup in their cells are HtmlTable's.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace mpg {

/// \p value for people, with four digits that mean something: "0.1234",
/// "46.27", "12345", "1.234e-09"; "-" for NaN.
std::string formatFigure(double value);
/// With as many decimals as formatFigure(\p like) has, so that numbers that
/// belong together can be compared at a glance.
std::string formatFigureLike(double value, double like);

class Table {
public:
  /// The first columns; a heading of numbers begins with "size|".
  Table(std::initializer_list<llvm::StringRef> headings = {});
  /// \p heading may have lines: "conflicting\nsets". Numbers are on the right.
  void addColumn(llvm::StringRef heading, bool isNumber = false);
  void addNumber(llvm::StringRef heading) { addColumn(heading, true); }
  /// One cell a column.
  void addRow(std::vector<std::string> cells);
  /// Of the longest line, without the indent.
  size_t width() const;

  /// Each column is as wide as its widest cell, with two blanks between them.
  /// Each line after \p indent blanks, none with blanks at its end. No line for
  /// headings if all are empty.
  void write(llvm::raw_ostream &out, unsigned indent = 0) const;
  /// The first column names the rows: in the class \p style, or as code.
  void writeHtml(llvm::raw_ostream &out, llvm::StringRef name,
                 llvm::StringRef style = "", bool isCode = false) const;

private:
  struct Column {
    std::vector<std::string> heading; ///< lines
    bool isNumber;
    size_t width;
  };
  void writeLine(llvm::raw_ostream &out, unsigned indent,
                 const std::vector<std::string> &cells) const;

  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// One line of CSV as RFC 4180 says. \p end: of the line.
void writeCsvLine(llvm::raw_ostream &out, llvm::ArrayRef<std::string> cells,
                  llvm::StringRef end);

} // namespace mpg
