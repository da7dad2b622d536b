// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hints as text and as what they ask for. The one grammar, mpg:1:<kind>:<args>,
// that the macros of <mpg/hints.h>, the pragmas and the side file all use
// (docs/hints.md describes it); and the requests that their readers make of it,
// each about one variable or function of a module.

#pragma once

#include "base/Diagnostics.h"
#include "base/Hint.h"
#include "base/LLVM.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace mpg {

/// The scope of a text. The kinds with an end are in a function's body and
/// apply to the code between.
enum class HintKind {
  hint,            ///< data, or a function's accesses
  touch,           ///< first touch: an array's memory, or all of a function's
  ways,            ///< cache ways: a function, or the code up to endWays
  assign,          ///< hint for one variable up to endAssign
  procedureAssign, ///< the same for the whole function
  procedureWays,
  wayValue, ///< the number of ways, known at run time, for ways
  endAssign,
  endWays,
  loop ///< lines to zero or prefetch ahead: the next loop, and those in it
};

/// A choice for a loop: metadata with a number.
struct LoopChoice {
  const char *mark = nullptr; ///< zfillMark or one of prefetch*Mark
  unsigned value = 0;         ///< lines, or whether
};

/// Names of variables that have a number of ways; "" for none.
struct WayNames {
  std::string l1, l2;
  bool isEmpty() const { return l1.empty() && l2.empty(); }
};

struct HintText {
  HintKind kind = HintKind::hint;
  Hint hint;              ///< of hint, assign, procedureAssign
  Ways ways;              ///< of ways, procedureWays
  WayNames wayNames = {}; ///< of ways in side files
  TouchChoice touch = TouchChoice::none;
  LoopChoice loop; ///< of loop
  /// Of pragmas: the number of their region, which its end has as well.
  unsigned region = 0;
  bool isL1 = false; ///< of wayValue
};

/// Whether \p text is one of our hints; annotations of other tools are not.
bool isHintText(StringRef text);

/// Reads "mpg:1:<kind>:<args>". The error names the wrong word and what is
/// allowed there.
Expected<HintText> parseHintText(StringRef text);

/// Reads what follows "mpg:1:" in a side file, where "hint:" may be
/// missing.
Expected<HintText> parseShortHintText(StringRef text);

/// Instructions between a begin and an end in the source.
using Region = DenseSet<const Instruction *>;

struct HintRequest {
  enum Target {
    pointerVariable, ///< root is the address of a pointer (or descriptor)
    data,            ///< root is the address of the data
    function         ///< root is a function
  };
  Value *root = nullptr;
  /// The same variable where its address is computed again: a member's.
  std::vector<Value *> sameRoots = {};
  Target target = data;
  Hint hint;
  SourceLine where;
  bool isDirective = false; ///< of a line of the source, which gets an answer
  /// Limits the hint to this region; null: everything.
  std::shared_ptr<Region> region;
  Function *regionFunction = nullptr;
  /// One line of a side file may mean several variables of one name: of a
  /// procedure, of its ENTRY statements, of its parallel regions. Then they
  /// have the same number. 0: of no side file.
  unsigned entry = 0;

  /// Of two hints for one access the stronger one wins: that of a function is
  /// weakest, that of a region strongest.
  int strength() const { return region ? 2 : target == function ? 0 : 1; }
};

/// An integer variable; none if it has no address.
struct NumberVariable {
  Value *address = nullptr;
  Type *type = nullptr;
};

/// Ways of the caches for a function, or for the code between two places.
struct WaysRequest {
  Function *function = nullptr;
  Ways ways;
  SourceLine where;
  Instruction *begin = nullptr; ///< none: the whole function
  std::vector<Instruction *> ends = {};
  std::shared_ptr<Region> region = {};
  /// Numbers that are known at run time: integers that exist at begin.
  Value *l1 = nullptr, *l2 = nullptr;
  /// Variables that have them when begin is reached.
  NumberVariable l1Variable = {}, l2Variable = {};
  bool isDirective = false; ///< as in HintRequest

  bool hasVariables() const { return l1Variable.address || l2Variable.address; }
};

/// A choice for loops of the source.
struct LoopRequest {
  Function *function = nullptr;
  Instruction *before = nullptr; ///< the loop follows; none: in region
  std::shared_ptr<Region> region = {};
  LoopChoice choice = {};
  SourceLine where;
};

/// Whether first touch may place what is allocated for a variable, or in a
/// function.
struct TouchRequest {
  Value *root = nullptr;
  HintRequest::Target target = HintRequest::data;
  TouchChoice choice = TouchChoice::none;
  SourceLine where;
};

/// All requests of a module.
struct HintRequests {
  std::vector<HintRequest> hints;
  std::vector<WaysRequest> ways;
  std::vector<LoopRequest> loops;
  std::vector<TouchRequest> touches;
  StringMap<unsigned> entries; ///< of side files, by line and name
  /// Warnings about side files so far: two may come from one source.
  StringSet<> complaints;
};

} // namespace mpg
