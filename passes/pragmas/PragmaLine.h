// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pragma line: reads the words after a directive's name. Knows nothing of
// where the line stands. A wrong line is one warning in the group
// -Wmpg-pragmas, and the directive is ignored.

#pragma once

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace mpg {

/// How the words after a directive's name are written.
enum class LineForm {
  levels, ///< L2=n [L1=m]: ways of sector 1
  pairs,  ///< (l1s0,l1s1,l2s0,l2s1) or (l2s0,l2s1): ways of sectors 0 and 1
  names,  ///< a[,b...]
  lines,  ///< n or (n), may be missing: lines to zero or prefetch ahead
  mode,   ///< auto or soft, may be missing
  none    ///< nothing
};

/// A directive that begins a region, and the one that ends it; one of
/// `#pragma loop` has no end.
struct Directive {
  const char *begin;
  const char *end;
  LineForm form;
  /// Of `#pragma loop`: in the grammar of HintText.h; and its numbers.
  const char *choice = nullptr;
  unsigned min = 0, max = 0;
  unsigned usual = 0; ///< where no number follows; 0: it must

  bool isAssign() const { return form == LineForm::names; }
};

/// All of them: scache_* of the manual for A64FX, cache_* of older programs,
/// and those of loops.
llvm::ArrayRef<Directive> directives();

/// A number of ways: digits, or the name of a variable or constant.
struct WayCount {
  int number = 0;
  const clang::IdentifierInfo *name = nullptr;
  clang::SourceLocation where;
};

/// Ways of one cache in a line: of sector 1, in pairs of sector 0, too.
struct LevelWays {
  std::optional<WayCount> sector0;
  WayCount sector1;
};

/// A variable, with the namespaces or classes in front of it: outer to inner.
struct VariableName {
  llvm::SmallVector<const clang::IdentifierInfo *, 2> words;
  clang::SourceLocation where;
  bool isGlobal = false; ///< begins with ::
  /// Not a variable but an element, a member or the like.
  bool isExpression = false;
  std::string text; ///< as it is written
};

/// One directive of the source.
struct PragmaUse {
  enum Kind { begin, end, procedure, loop };
  const Directive *directive;
  Kind kind;
  clang::SourceLocation at;   ///< of the pragma: its place in the code
  clang::SourceLocation name; ///< of the directive's name: for messages

  llvm::SmallVector<VariableName, 4> names;
  std::optional<LevelWays> l1, l2;
  unsigned lines = 0; ///< to zero or prefetch ahead

  bool isWrong = false;    ///< without effect
  bool isReported = false; ///< has its message
  bool isInFunction = false;
  bool isInTemplate = false;

  llvm::StringRef word() const {
    return kind == end ? directive->end : directive->begin;
  }
};

/// Reports what has no effect: one warning for each directive.
class PragmaWarnings {
public:
  /// \p options: -W options of the plugin, without the -W.
  PragmaWarnings(clang::Preprocessor &pp, llvm::ArrayRef<std::string> options);

  /// Warns about \p use, unless it has its message already.
  void warn(PragmaUse &use, clang::SourceLocation at, const llvm::Twine &text);

  /// The same; \p use has no effect.
  void ignore(PragmaUse &use, clang::SourceLocation at,
              const llvm::Twine &text);
  void ignore(PragmaUse &use, const llvm::Twine &text) {
    ignore(use, use.name, text);
  }

  /// Adds \p use, the other end of a region, to a warning; it has no effect.
  void ignoreToo(PragmaUse &use, const llvm::Twine &text);

private:
  void readOption(llvm::StringRef option);
  bool isOff(clang::SourceLocation at) const;

  clang::Preprocessor &pp;
  std::optional<bool> isOn;    ///< by -W[no-]mpg-pragmas
  std::optional<bool> isError; ///< by -W[no-]error=mpg-pragmas
};

using TokenList = llvm::SmallVector<clang::Token, 16>;

/// The tokens up to the end of the line; the last one is that end. Macros are
/// expanded where numbers and variables are expected.
TokenList readLine(clang::Preprocessor &pp, LineForm form);

/// Sets names or ways of \p use from the words of its line.
void parseLine(clang::Preprocessor &pp, llvm::ArrayRef<clang::Token> line,
               PragmaUse &use, PragmaWarnings &warnings);

} // namespace mpg
