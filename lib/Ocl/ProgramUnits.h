// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the program units of a Fortran source statement by statement: the
// current procedure, its name in the object file, whether its executable part
// has begun, and the directives in it.
//
// Statements are recognised by their first words, as in a compiler without a
// symbol table. The names are those of flang (`_QMmodPproc`, `proc_`), which
// the tests compare with flang itself.

#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

// Constants.cpp: named integer constants of Fortran (PARAMETER), as far as one
// file has them, and expressions of them. Each program unit has a copy of what
// it sees.

/// Whether a name in Fortran may contain \p c.
inline bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Where \p text has \p token outside of parentheses and character literals;
/// its size if nowhere.
size_t findOutside(llvm::StringRef text, llvm::StringRef token);

/// Names are in lower case; those without a value hide one of an outer unit.
using Constants = llvm::StringMap<std::optional<int64_t>>;

/// The value of \p expression: integers, names of \p constants, + - * / ** and
/// parentheses. Nothing if it has anything else, or does not fit.
std::optional<int64_t> evaluate(llvm::StringRef expression,
                                const Constants &constants);

/// Adds what the specification \p statement declares. It has no blanks and is
/// in lower case; \p modules are those of the file so far.
void addDeclarations(llvm::StringRef statement,
                     const llvm::StringMap<Constants> &modules,
                     Constants &constants);

// Directives (OclDirective.cpp). The text after !OCL, taken apart. Only the
// directives of the sector cache and of zero fill are known here; of all others
// there is the name.
//
// Checks the request of a directive (HW:a64fx-l2-ways-job), but not its place:
// that takes the whole procedure (OclReader).

/// Four directives that can be ended by another one, and two about a loop.
enum class OclForm {
  isolateWay,
  isolateAssign,
  sectorSize,
  subsectorAssign,
  zfill,
  noZfill,
  prefetch,
  prefetchSequential,
  noPrefetch,
  prefetchLine,
  prefetchLineL2
};

/// As users write them, for messages.
llvm::StringRef oclName(OclForm form);
llvm::StringRef oclEndName(OclForm form);

/// Whether \p form names arrays; the others give a number of ways.
inline bool namesArrays(OclForm form) {
  return form == OclForm::isolateAssign || form == OclForm::subsectorAssign;
}

/// Whether \p form is about the loop after it.
inline bool isAboutLoop(OclForm form) { return form >= OclForm::zfill; }

/// How many ways sector 1 of one cache gets.
struct OclWays {
  unsigned number = 0;
  std::string variable; ///< that has the number at run time, in lower case
};

struct OclDirective {
  OclForm form;
  bool isEnd = false;
  /// It has no effect; kept because its end belongs to it and is not wrong.
  bool isWrong = false;
  size_t offset = 0; ///< in the text
  std::optional<OclWays> l1Ways, l2Ways;
  std::vector<std::string> arrays; ///< in lower case, each once
  unsigned lines = 0;              ///< to zero or prefetch ahead
};

struct OclProblem {
  size_t offset; ///< in the text
  std::string text;
};

/// A directive for another purpose.
struct OclOther {
  size_t offset; ///< in the text
  std::string name;
  std::string arguments; ///< between its parentheses
};

struct OclLine {
  std::vector<OclDirective> directives;
  std::vector<OclProblem> problems;
  std::vector<OclOther> others;
};

/// Reads \p text, one or more directives separated by commas or blanks, where
/// \p constants are known.
OclLine parseOclLine(llvm::StringRef text, const Constants &constants);

/// A procedure or main program with a body.
struct Procedure {
  /// In the object file; the first one is the procedure's own, the others come
  /// from ENTRY.
  struct Name {
    std::string linkage;
    unsigned line;
  };
  std::vector<Name> names;
  bool isExecutable = false; ///< the statements so far include executable ones
};

class ProgramUnits {
public:
  ProgramUnits(bool fixedForm, bool underscoring)
      : fixedForm(fixedForm), underscoring(underscoring) {}

  /// \p text is a whole statement without comments, as it is written.
  void addStatement(llvm::StringRef text, unsigned line);

  /// The procedure in whose body the next line stands; null elsewhere.
  Procedure *current() const;

  /// Those that the next line sees.
  const Constants &constants() const {
    return open.empty() ? none : open.back().constants;
  }

  /// All so far, in the order in which they begin; they stay where they are.
  const std::vector<std::unique_ptr<Procedure>> &procedures() const {
    return all;
  }

private:
  enum class Kind { module, submodule, procedure, blockData };
  struct Unit {
    Kind kind;
    std::string scope; ///< how the names of what is in it begin, as _QMmod
    Constants constants;
    Procedure *procedure = nullptr;
    bool hasContains = false;
  };
  class Cursor;

  bool mayBegin() const;
  bool skipBlocks(Cursor &cursor);
  bool endUnit(Cursor &cursor);
  bool beginUnit(Cursor &cursor, unsigned line);
  bool beginModule(Cursor &cursor);
  bool beginProcedure(Cursor &cursor, unsigned line);
  void beginMain(unsigned line);
  void addEntry(Cursor &cursor, unsigned line);
  void push(Kind kind, std::string scope);
  void pushProcedure(const std::string &name, const std::string &bindName,
                     bool isSeparate, unsigned line);
  void addDummies(llvm::StringRef list);

  const Constants none;
  llvm::StringMap<Constants> modules;
  const bool fixedForm, underscoring;
  std::vector<Unit> open;
  std::vector<std::unique_ptr<Procedure>> all;
  bool inInterface = false, inType = false;
};

} // namespace mpg
