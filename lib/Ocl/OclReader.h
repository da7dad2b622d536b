// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The !OCL lines of a Fortran source as hints in the terms of the side file,
// which the compiler plugin reads: Fortran compilers forget their comments.
//
// A directive with an end is a hint for the lines in between, one without an
// end at the beginning of a procedure is a hint for all of it. One that is
// wrong is reported and has no effect.

#pragma once

#include "Ocl/SourceText.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>
#include <vector>

namespace mpg {

// Conditions.cpp: which lines of a source the C preprocessor leaves out: #if,
// #ifdef, #elif, #else, #endif, #define and #undef. Macros with arguments count
// as 0.

class Conditions {
public:
  void define(llvm::StringRef name, llvm::StringRef value);
  void undefine(llvm::StringRef name);

  /// \p text is a line without its '#'. Other lines and wrong directives change
  /// nothing: the compiler reports them.
  void addDirective(llvm::StringRef text);

  /// Whether the next line is part of the program.
  bool isActive() const { return groups.empty() || groups.back().active; }

private:
  struct Group {
    bool outerActive; ///< around the #if
    bool active;
    bool taken; ///< one of the branches was
  };

  void beginGroup(bool condition);
  void nextBranch(bool condition);
  bool isTrue(llvm::StringRef expression) const;

  llvm::StringMap<std::string> macros;
  std::vector<Group> groups;
};

// The source (FortranLines.cpp). Fortran source text as a list of statements
// and OCL lines. Continuation lines are joined, and comments removed.
//
// Both source forms are known: free, and fixed with its columns. The text is
// not checked: that is the compiler's work, so whatever is no Fortran comes out
// as some statement or other.

/// Where a character of a joined line stands; both count from 1.
struct SourcePlace {
  unsigned line;   ///< SourceText::lines[line - 1]
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
std::vector<FortranLine> readFortranLines(const SourceText &source,
                                          const FortranOptions &options);

struct OclHint {
  std::string function; ///< its name in the object file
  std::string variable; ///< in the source; empty: the function itself
  /// As debug information has them: first and last ones, both inclusive; none:
  /// the whole function.
  std::vector<std::pair<unsigned, unsigned>> lines;
  bool hasIncluded = false; ///< included text lies between the lines as well
  SourcePlace place;        ///< of the directive
  std::string value;        ///< "sector=1", "ways:l2=10,l1=2", "loop:zfill=18"
};

/// All but warnings say what becomes of a directive that is right.
enum class OclSeverity { warning, hint, end, noEffect };

struct OclDiagnostic {
  SourcePlace place;
  std::string text;
  OclSeverity severity = OclSeverity::warning;
};

struct OclResult {
  std::vector<OclHint> hints;             ///< in the order of the source
  std::vector<OclDiagnostic> diagnostics; ///< by place
};

/// \p whyUseless says why no directive can have an effect, "at -O0"; empty:
/// they can. No hints come out otherwise.
OclResult readOcl(const SourceText &source, const FortranOptions &options,
                  llvm::StringRef whyUseless = "");

/// Writes \p hints, found in \p source, as a part of the side file. A comment
/// in front of each names the place of the directive, and the source file:
/// "# loop.inc:12 < app.f90".
void writeSideFile(llvm::raw_ostream &out, const SourceText &source,
                   llvm::ArrayRef<OclHint> hints);

/// Writes \p diagnostics about \p source as compilers do: with the line and a
/// caret below it.
void writeOclDiagnostics(llvm::raw_ostream &out, const SourceText &source,
                         llvm::ArrayRef<OclDiagnostic> diagnostics);

} // namespace mpg
