// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table and its writers for a terminal and for a page, which may have markup
// in place of a cell's text, and pictures beside it; measured numbers; and CSV.

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
  /// The first columns; a heading of numbers begins with "size|", that of the
  /// names of the rows with "row|" if it is not the first one.
  Table(std::initializer_list<llvm::StringRef> headings = {});
  /// \p heading may have lines: "conflicting\nsets". Numbers are on the right.
  void addColumn(llvm::StringRef heading, bool isNumber = false);
  void addNumber(llvm::StringRef heading) { addColumn(heading, true); }
  /// A column that only a page has.
  void addPicture(llvm::StringRef heading);
  /// One cell a column, "" for a picture.
  void addRow(std::vector<std::string> cells);
  /// Sets what a page has in place of the text of \p column in the last row.
  void setMarkup(size_t column, std::string markup);
  /// Adds a line below the last row. A page has \p markup behind the row's
  /// name.
  void addNote(llvm::StringRef text, llvm::StringRef markup);
  /// The length of the longest line, without the indent.
  size_t width() const;

  /// Each column is as wide as its widest cell, with two blanks between them.
  /// Each line after \p indent blanks, none with blanks at its end. No line for
  /// headings if all are empty.
  void write(llvm::raw_ostream &out, unsigned indent = 0) const;
  /// The names of the rows are in the class \p style, or code.
  void writeHtml(llvm::raw_ostream &out, llvm::StringRef name,
                 llvm::StringRef style = "", bool isCode = false) const;

private:
  struct Column {
    std::vector<std::string> heading; ///< lines
    bool isNumber, isPicture;
    size_t width;
  };
  struct Row {
    std::vector<std::string> cells, markup;
    std::string note, noteMarkup;
  };
  void writeLine(llvm::raw_ostream &out, unsigned indent,
                 const std::vector<std::string> &cells) const;

  std::vector<Column> columns;
  size_t nameColumn = 0;
  std::vector<Row> rows;
};

/// One line of CSV as RFC 4180 says. \p end: of the line.
void writeCsvLine(llvm::raw_ostream &out, llvm::ArrayRef<std::string> cells,
                  llvm::StringRef end);

} // namespace mpg
