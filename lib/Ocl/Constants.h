// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named integer constants of Fortran (PARAMETER), as far as one file has them,
// and expressions of them. Each program unit has a copy of what it sees.

#ifndef MPG_OCL_CONSTANTS_H
#define MPG_OCL_CONSTANTS_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// Of a name in Fortran.
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

} // namespace mpg

#endif // MPG_OCL_CONSTANTS_H
