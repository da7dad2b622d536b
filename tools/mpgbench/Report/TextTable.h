// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables in plain text, for terminals: columns as wide as their widest cell,
// two blanks between them; and numbers with as many digits as mean something.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_TEXTTABLE_H
#define MPG_TOOLS_MPGBENCH_REPORT_TEXTTABLE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace mpg {

class TextTable {
public:
  /// \p header may have lines: "conflicting\nsets".
  void addColumn(llvm::StringRef header, bool isNumber);
  /// One cell a column.
  void addRow(std::vector<std::string> cells);
  /// Each line after \p indent blanks, none with blanks at its end.
  void write(llvm::raw_ostream &out, unsigned indent) const;
  /// Of the longest line, without the indent.
  size_t width() const;

private:
  struct Column {
    std::vector<std::string> header; ///< lines
    bool isNumber;
    size_t width;
  };
  void writeLine(llvm::raw_ostream &out, unsigned indent,
                 const std::vector<std::string> &cells) const;

  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Four digits that mean something: "0.1234", "12.34", "12345", "1.234e-09".
std::string formatFigure(double value);
/// With as many decimals as formatFigure(\p like) has, so that numbers that
/// belong together can be compared at a glance.
std::string formatFigureLike(double value, double like);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_TEXTTABLE_H
