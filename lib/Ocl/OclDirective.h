// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text after !OCL, taken apart. Only the directives of the sector cache
// are known here; of all others there is the name.
//
// What a directive may ask for is checked (HW:a64fx-l2-ways-job), not whether
// it stands where it may: that takes the whole procedure (OclReader).

#ifndef MPG_OCL_OCLDIRECTIVE_H
#define MPG_OCL_OCLDIRECTIVE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// The four directives that can be ended by another one.
enum class OclForm { isolateWay, isolateAssign, sectorSize, subsectorAssign };

/// As users write them, for messages.
llvm::StringRef oclName(OclForm form);
llvm::StringRef oclEndName(OclForm form);

/// Whether \p form names arrays; the others give a number of ways.
inline bool namesArrays(OclForm form) {
  return form == OclForm::isolateAssign || form == OclForm::subsectorAssign;
}

struct OclDirective {
  OclForm form;
  bool isEnd = false;
  /// It has no effect; kept because its end belongs to it and is not wrong.
  bool isWrong = false;
  size_t offset = 0;                      ///< in the text
  std::optional<unsigned> l1Ways, l2Ways; ///< of sector 1
  std::vector<std::string> arrays;        ///< in lower case, each once
};

struct OclProblem {
  size_t offset; ///< in the text
  std::string text;
};

/// A directive for another purpose.
struct OclOther {
  size_t offset; ///< in the text
  std::string name;
};

struct OclLine {
  std::vector<OclDirective> directives;
  std::vector<OclProblem> problems;
  std::vector<OclOther> others;
};

/// Reads \p text, one or more directives separated by commas or blanks.
OclLine parseOclLine(llvm::StringRef text);

} // namespace mpg

#endif // MPG_OCL_OCLDIRECTIVE_H
