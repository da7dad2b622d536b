// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared part of the pages that programs write for a browser: their style,
// and text that cannot become markup.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mpg {

/// \p text for any place in a page: markup is escaped, control characters are
/// shown as \\x1b, what is not UTF-8 is replaced.
std::string escapeHtml(llvm::StringRef text);

struct HtmlHead {
  std::string generator; ///< program and version
  std::string title, heading;
  std::string style = {};  ///< what follows the style sheet of all pages
  std::string shapes = {}; ///< markup that pictures refer to
};
/// A page up to the heading in its header, which the caller ends.
void beginHtmlPage(llvm::raw_ostream &out, const HtmlHead &head);

/// From the end of its main part on. \p footer: markup; "": there is none.
void endHtmlPage(llvm::raw_ostream &out, llvm::StringRef footer = "");

/// A section with a heading. It ends with the object's life.
class HtmlSection {
public:
  HtmlSection(llvm::raw_ostream &out, llvm::StringRef heading,
              llvm::StringRef id = "");
  ~HtmlSection();
  HtmlSection(const HtmlSection &) = delete;
  HtmlSection &operator=(const HtmlSection &) = delete;

private:
  llvm::raw_ostream &out;
};

/// A paragraph of the class \p style.
void writeHtmlText(llvm::raw_ostream &out, llvm::StringRef text,
                   llvm::StringRef style = "");
/// Nothing if there are no \p lines.
void writeHtmlList(llvm::raw_ostream &out, llvm::ArrayRef<std::string> lines);

/// \p text as code: a name, a path, a command.
std::string htmlCode(llvm::StringRef text);

/// A table that can be scrolled sideways. It begins with the object's life and
/// ends with it. A column is its heading, behind the class of its cells if they
/// have one: "size|Peak" for numbers; "row|Name" for what names the row.
class HtmlTable {
public:
  HtmlTable(llvm::raw_ostream &out, llvm::StringRef name,
            llvm::ArrayRef<std::string> columns);
  ~HtmlTable();
  /// Begins the next cell, in a new row after the last column. Its markup goes
  /// into the stream. \p style: for a cell that differs from its column.
  llvm::raw_ostream &cell(llvm::StringRef style = "");
  /// \p cells: markup, one a column. \p style: the class of the row.
  void addRow(llvm::ArrayRef<std::string> cells, llvm::StringRef style = "");

private:
  void endCell();

  llvm::raw_ostream &out;
  std::vector<std::string> styles;
  size_t cells = 0; ///< of the row so far
  llvm::StringRef rowStyle;
};

} // namespace mpg
