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

#include "Ocl/FortranLines.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

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
