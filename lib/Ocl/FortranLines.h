// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fortran source text as a list of statements and OCL lines. What belongs to
// one statement is joined, comments are gone, and lines that the preprocessor
// would leave out are left out.
//
// Both source forms are known: free, and fixed with its columns. The text is
// not checked: that is the compiler's work, so whatever is no Fortran comes out
// as some statement or other. Files named by include lines are not read, and
// macros are looked at in conditions only.

#ifndef MPG_OCL_FORTRANLINES_H
#define MPG_OCL_FORTRANLINES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

/// How the compiler is going to read the file.
struct FortranOptions {
  bool fixedForm = false;
  unsigned fixedLineLength = 72; ///< columns, the rest is a comment; 0: no end
  bool underscoring = true;      ///< external procedures get a final '_'
  /// In the order of the command line; no value: the macro is undefined (-U).
  std::vector<std::pair<std::string, std::optional<std::string>>> macros;
};

/// Whether flang takes \p path for a source in fixed form, or in free form, by
/// its suffix.
bool hasFixedForm(llvm::StringRef path);
bool hasFreeForm(llvm::StringRef path);

/// Whether flang defines macros, its own and the user's, for the file \p path.
bool isPreprocessed(llvm::StringRef path);

/// Where a character of a joined line stands; both count from 1.
struct SourcePlace {
  unsigned line;
  unsigned column; ///< in bytes
};

/// One statement, or the text after one !OCL.
struct FortranLine {
  bool isOcl = false;
  std::string text; ///< as written: blanks, case and character literals stay
  std::vector<SourcePlace> places; ///< of each character of text

  unsigned firstLine() const { return places.front().line; }
  unsigned lastLine() const { return places.back().line; }
};

/// All statements and OCL lines in \p source, in its order; none is empty.
std::vector<FortranLine> readFortranLines(llvm::StringRef source,
                                          const FortranOptions &options);

} // namespace mpg

#endif // MPG_OCL_FORTRANLINES_H
