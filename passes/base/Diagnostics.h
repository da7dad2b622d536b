// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes say: warnings about wrong hints, and remarks about each hint
// that was applied or not (-Rpass=mpg, -Rpass-missed=mpg).

#ifndef MPG_PASSES_DIAGNOSTICS_H
#define MPG_PASSES_DIAGNOSTICS_H

#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/DiagnosticInfo.h"
#include <string>

namespace mpg {

/// Name of our remarks, for -Rpass=.
inline constexpr char remarkPass[] = "mpg";

/// Where in the source a hint stands.
struct SourceLine {
  std::string file;
  unsigned line = 0;

  /// "app.c:12: ", or "" if it is not known.
  std::string text() const;
};

/// "app.c:12: hint 'mpg:1:...': \p text". The compile goes on.
void warn(llvm::LLVMContext &context, const SourceLine &where,
          const llvm::Twine &text);

/// An error that stops the compile: for options, not for hints.
void fail(llvm::LLVMContext &context, const llvm::Twine &text);

/// The innermost place of \p location, seen through inlining, that is not in a
/// header of the system: what a user can change.
llvm::DebugLoc userLocation(llvm::DebugLoc location);

/// Whether \p location, not seen through inlining, is in a file that a user can
/// change; also if it is not known.
bool isUserCode(const llvm::DebugLoc &location);

} // namespace mpg

#endif // MPG_PASSES_DIAGNOSTICS_H
