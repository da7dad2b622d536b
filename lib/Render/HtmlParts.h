// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the page of --format=html. Each part escapes its input: names
// come from files and scripts, so they may hold anything.

#pragma once

#include "Render/Report.h"
#include "Support/HtmlPage.h"

namespace mpg {

/// The patterns that maps are filled with.
llvm::StringRef htmlPatterns();

/// Badges like "2 errors" in colour, "clean" if there are none.
std::string severityBadges(llvm::ArrayRef<Finding> findings);

/// Findings, the worst first. \p prefix makes the ids of a page unique. \p
/// scriptLines: the text of the lines of a job script; null for a file.
void writeHtmlFindings(llvm::raw_ostream &out, llvm::ArrayRef<Finding> findings,
                       const FixContext &context, llvm::StringRef prefix,
                       const std::map<unsigned, std::string> *scriptLines);

/// The map of a program's address space against large pages, to scale, and the
/// table of its segments. Nothing for a file without segments.
void writeHtmlMap(llvm::raw_ostream &out, const FileReport &report,
                  llvm::StringRef prefix);

/// Everything about one file, as a section with the id \p prefix.
void writeHtmlFile(llvm::raw_ostream &out, const FileReport &report,
                   llvm::StringRef prefix);

} // namespace mpg
