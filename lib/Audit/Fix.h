// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes out what to do about a finding: the words of Findings.def, with the
// large page that was asked for, the paths of this installation, and without
// the command lines that would not help this file. It is done when a report
// prints a fix, not when a check finds something: a run over many files prints
// none.

#ifndef MPG_AUDIT_FIX_H
#define MPG_AUDIT_FIX_H

#include "Audit/Finding.h"
#include <memory>

namespace mpg {

/// Where the parts of mpgtools lie that a fix names. The program finds them
/// relative to itself; what is empty stays <prefix>/... in the text.
struct InstalledParts {
  std::string linker;    ///< .../bin/ld.mpg
  std::string gccFolder; ///< .../share/mpgtools/ld, for gcc -B
  std::string lldScript;
  std::string bfdScript;
  std::string libraries; ///< .../lib, where libmpgrt.so is
};

/// What a fix depends on beside the finding itself.
struct FixContext {
  uint64_t hugeBytes = uint64_t(2) << 20;
  /// There is nothing to lay out.
  bool noData = false;
  /// ld.mpg by itself would leave the layout out.
  bool smallData = false;
  /// The linker scripts need a .data and a .bss to work on.
  bool scriptsFit = true;
  /// Whose command lines to print: "gcc" (g++ and gfortran too), "clang",
  /// "flang" or "fcc"; "": not known, all.
  llvm::StringRef compiler;
  /// Nothing: all parts as <prefix>/...
  std::shared_ptr<const InstalledParts> parts;
};

/// Prose, then lines "  gcc:   <flags>" that can be pasted. Empty when nothing
/// has to be done.
std::string fixText(const Finding &finding, const FixContext &context);

/// The part of a remedy that a report prints: up to the first paragraph that
/// only explains.
std::string shortRemedy(const FindingInfo &info, const FixContext &context);

/// \p text with the paths of \p parts in place of <prefix>/...
std::string withPaths(llvm::StringRef text, const InstalledParts &parts);

/// "2M", "512M", "1G": how ld.mpg and mpgaudit take a size.
std::string pageOption(uint64_t bytes);

} // namespace mpg

#endif // MPG_AUDIT_FIX_H
