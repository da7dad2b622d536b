// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagnostics of the passes: warnings about wrong hints, remarks about each
// hint that was applied or not (-Rpass=mpg, -Rpass-missed=mpg), and the
// source's names for the place and the memory they refer to.

#pragma once

#include "base/LLVM.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/DiagnosticInfo.h"
#include <set>
#include <string>
#include <tuple>

namespace mpg {

/// Name of our remarks, for -Rpass=.
inline constexpr char remarkPass[] = "mpg";

/// The source position of a hint.
struct SourceLine {
  std::string file;
  unsigned line = 0;

  /// "app.c:12: ", or "" if it is not known.
  std::string text() const;
};

/// "app.c:12: hint 'mpg:1:...': \p text". The compilation continues.
void warn(LLVMContext &context, const SourceLine &where, const Twine &text);

/// An error that stops the compile: for options, not for hints.
void fail(LLVMContext &context, const Twine &text);

/// One remark that \p option does nothing in all of \p module. A warning in
/// each file would fill the output of a build that serves several machines, and
/// end it with -Werror.
void remarkNoEffect(Module &module, StringRef option, StringRef reason);

/// The innermost place of \p location, seen through inlining, that is not in a
/// system header, so that the user can change it.
DebugLoc userLocation(DebugLoc location);

/// Whether \p location, without looking through inlining, is in a file that the
/// user can change; true if unknown.
bool isUserCode(const DebugLoc &location);

/// The remarks of one module about the user's source. Each is printed once for
/// a place, however many copies of its code templates, inlining and outlining
/// have made. Not thread-safe.
class RemarkPlaces {
public:
  using AddText = function_ref<void(OptimizationRemarkMissed &)>;

  /// Emits the missed remark \p name, with what \p addText puts into it, at
  /// \p location of code in \p block; nothing if the place has one already.
  void missed(StringRef name, const DebugLoc &location, const BasicBlock &block,
              AddText addText);
  void missed(StringRef name, const Instruction &at, AddText addText);

  /// Whether no remark \p name about \p subject has been printed yet at \p
  /// location of code in \p block. Records it.
  bool isNew(StringRef name, const DebugLoc &location, const BasicBlock &block,
             StringRef subject = "");

private:
  using Place =
      std::tuple<std::string, std::string, unsigned, unsigned, std::string>;
  std::set<Place> places;
};

/// Debug records about the place of \p value, in no particular order.
SmallVector<DbgVariableRecord *, 4> findDebugRecords(Value &value);

/// The variable whose memory contains \p address, or that points there; "" if
/// unknown. A global's name is always known, others' only from debug
/// information.
std::string getVariableName(const Value &address);

/// The class member, or else the variable, at \p address; "" if unknown.
std::string getMemberName(const Value &address);

} // namespace mpg
