// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lines of a Fortran source that the compiler reads: with the files that it
// includes, without what the preprocessor leaves out, and with the places that
// line markers give.
//
// Macros count in conditions only. An included file that is not found is left
// out: the compiler reports it.

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
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
  std::vector<std::string> includeFolders; ///< -I, in their order
};

/// Whether flang takes \p path for a source in fixed form, or in free form, by
/// its suffix.
bool hasFixedForm(llvm::StringRef path);
bool hasFreeForm(llvm::StringRef path);

/// Whether flang defines macros, its own and the user's, for the file \p path.
bool isPreprocessed(llvm::StringRef path);

/// Where the compiler says that a line is.
struct LinePlace {
  unsigned file; ///< in SourceText::files
  unsigned line; ///< counts from 1
};

struct TextLine {
  llvm::StringRef text; ///< without its end
  LinePlace place;
  /// The line of the source itself: for included text that of its include line.
  /// flang keeps no other number of included text.
  unsigned mainLine;
  bool isIncluded;
  /// An include line, not #include: flang -E leaves it as it is.
  bool byIncludeLine;
};

struct SourceText {
  std::string path; ///< of the source itself
  bool fixedForm = false;
  std::vector<std::string> files;
  std::vector<TextLine> lines;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> included;
};

/// \p text is that of the file \p path, and has to stay.
SourceText readSourceText(llvm::StringRef path, llvm::StringRef text,
                          const FortranOptions &options);

/// The offset after the OCL that makes \p line an OCL line; npos if it is
/// none.
size_t findOcl(llvm::StringRef line, bool fixedForm);

/// Writes \p preprocessed, what flang -E made of \p sources, with their OCL
/// lines, which flang drops as comments.
void writeWithOclLines(llvm::raw_ostream &out, llvm::StringRef preprocessed,
                       llvm::ArrayRef<SourceText> sources);

} // namespace mpg
