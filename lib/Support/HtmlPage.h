// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared part of the pages that programs write for a browser: their style,
// and text that cannot become markup.

#ifndef MPG_SUPPORT_HTMLPAGE_H
#define MPG_SUPPORT_HTMLPAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// The style sheet.
llvm::StringRef htmlStyle();

/// \p text for any place in a page: markup is escaped, control characters are
/// shown as \\x1b, what is not UTF-8 is replaced.
std::string escapeHtml(llvm::StringRef text);

/// A page up to the start of its body. \p generator: program and version;
/// \p style: what follows htmlStyle().
void beginHtmlPage(llvm::raw_ostream &out, const std::string &generator,
                   const std::string &title, llvm::StringRef style = "");

/// The start of a table that can be scrolled sideways, up to its first row; and
/// its end. \p columns: headings; those that begin with '>' are of numbers.
void beginHtmlTable(llvm::raw_ostream &out, llvm::StringRef name,
                    llvm::ArrayRef<std::string> columns);
void endHtmlTable(llvm::raw_ostream &out);

/// "1 error", "2 errors".
std::string countWord(size_t count, llvm::StringRef word);

} // namespace mpg

#endif // MPG_SUPPORT_HTMLPAGE_H
