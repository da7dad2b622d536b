// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the names and lines of a source, C or Fortran, to what became of them in
// the module, by debug information and flang's rules for names. Called at the
// start of the pipeline, where the code is still in the order of the source.

#pragma once

#include "base/LLVM.h"
#include "hints/HintText.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>
#include <optional>
#include <vector>

namespace mpg {

struct SourceLines {
  SmallVector<std::pair<unsigned, unsigned>, 1> ranges; ///< both ends included
  bool hasIncluded = false; ///< included text between them as well

  bool areGiven() const { return !ranges.empty(); }
  bool contains(unsigned line) const {
    return any_of(ranges, [=](auto range) {
      return range.first <= line && line <= range.second;
    });
  }
  /// Whether code between \p before and \p after, without a line number, may
  /// belong to the lines.
  bool mayContain(unsigned before, unsigned after) const {
    return hasIncluded && any_of(ranges, [=](auto range) {
             return before <= range.second && range.first <= after;
           });
  }
};

/// The function \p name (a linkage name or the name of a Fortran procedure),
/// and the functions that flang made of its OpenMP regions.
std::vector<Function *> functionsNamed(Module &module, StringRef name);

/// The global or module variable \p name; nullptr if there is none.
GlobalVariable *globalNamed(Module &module, StringRef name);

/// Addresses of the variables \p name of \p function: known from debug
/// information only. Letters may be upper or lower case.
std::vector<Value *> variablesNamed(Function &function, StringRef name);

/// The integer variable \p name of \p function; without an address if there is
/// none, or more than one. \p known: the point where it has its address, or an
/// argument its value; null: from the start.
NumberVariable integerNamed(Function &function, StringRef name,
                            Instruction *&known);

/// Parameter \p number (1 is the first), or the local variable into which clang
/// stores it; nullptr if there is none.
Value *rootOfParameter(Function &function, unsigned number);

/// As findTarget; descriptors of Fortran arrays, which begin with the pointer,
/// count as pointers.
std::optional<HintRequest::Target> targetOfRoot(Value *root);

/// Whether \p function is a parallel region of flang's.
bool isTeamOfFlang(const Function &function);

/// The code in \p function that came from \p lines: known from debug
/// information only.
std::shared_ptr<Region> regionOfLines(const SourceLines &lines,
                                      Function &function);

/// Sets the begin, the ends and the code of \p request so that all of its lines
/// lie between. False if that is not possible.
bool findBracket(WaysRequest &request);

/// Whether \p module has code of the source \p file, a name without folders.
bool hasCode(const Module &module, StringRef file);

std::vector<CallBase *> callsAt(Module &module, StringRef file, unsigned line);

/// The variables that have in the line of \p call what it returns: two of
/// `a = b = malloc(n)`.
std::vector<Value *> findReceivers(CallBase &call);

} // namespace mpg
