// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The !OCL lines of a Fortran source as hints in the terms of the side file,
// which the compiler plugin reads: Fortran compilers forget their comments.
//
// A directive with an end is a hint for the lines in between, one without an
// end at the beginning of a procedure is a hint for all of it. One that is
// wrong is reported and has no effect.

#ifndef MPG_OCL_OCLREADER_H
#define MPG_OCL_OCLREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

//===----------------------------------------------------------------------===//
// The source (FortranLines.cpp)
//===----------------------------------------------------------------------===//
//
// Fortran source text as a list of statements and OCL lines. What belongs to
// one statement is joined, comments are gone, and lines that the preprocessor
// would leave out are left out.
//
// Both source forms are known: free, and fixed with its columns. The text is
// not checked: that is the compiler's work, so whatever is no Fortran comes out
// as some statement or other. Files named by include lines are not read, and
// macros are looked at in conditions only.

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

struct OclHint {
  std::string function;         ///< its name in the object file
  std::string variable;         ///< in the source; empty: the function itself
  unsigned first = 0, last = 0; ///< lines, inclusive; 0: the whole function
  unsigned line = 0;            ///< of the directive
  std::string value;            ///< "sector=1", "ways:l2=10,l1=2"
};

/// Remarks say what becomes of a directive that is right.
enum class OclSeverity { warning, honoured, noEffect };

struct OclDiagnostic {
  SourcePlace place;
  std::string text;
  OclSeverity severity = OclSeverity::warning;
};

struct OclResult {
  std::vector<OclHint> hints;             ///< in the order of the source
  std::vector<OclDiagnostic> diagnostics; ///< by place
};

OclResult readOcl(llvm::StringRef source, const FortranOptions &options);

/// Writes \p hints, found in the file \p path, as a part of the side file. A
/// comment in front of each says where it is from: "# app.f90:12".
void writeSideFile(llvm::raw_ostream &out, llvm::StringRef path,
                   llvm::ArrayRef<OclHint> hints);

/// Writes \p diagnostics about the file \p path as compilers do: with the line
/// and a caret below it.
void writeOclDiagnostics(llvm::raw_ostream &out, llvm::StringRef path,
                         llvm::StringRef source,
                         llvm::ArrayRef<OclDiagnostic> diagnostics);

} // namespace mpg

#endif // MPG_OCL_OCLREADER_H
