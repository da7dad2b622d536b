// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pages that programs write for a browser have in common: how they
// look, and text that cannot become markup.

#ifndef MPG_SUPPORT_HTMLPAGE_H
#define MPG_SUPPORT_HTMLPAGE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mpg {

/// The style sheet.
llvm::StringRef htmlStyle();

/// \p text for any place in a page: markup is escaped, control characters are
/// shown as \\x1b, what is not UTF-8 is replaced.
std::string escapeHtml(llvm::StringRef text);

/// "1 error", "2 errors".
std::string countWord(size_t count, llvm::StringRef word);

} // namespace mpg

#endif // MPG_SUPPORT_HTMLPAGE_H
