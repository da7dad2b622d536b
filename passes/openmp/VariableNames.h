// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the source calls the memory behind an address: a global's name is always
// known, others' from debug information only.

#ifndef MPG_PASSES_VARIABLENAMES_H
#define MPG_PASSES_VARIABLENAMES_H

#include <string>

namespace llvm {
class Value;
}

namespace mpg {

/// The variable whose memory \p address is in, or that points there; "" if that
/// is not known.
std::string variableNameOf(const llvm::Value &address);

/// The member of a class, or else the variable, that is at \p address; "" if
/// that is not known.
std::string memberNameOf(const llvm::Value &address);

} // namespace mpg

#endif // MPG_PASSES_VARIABLENAMES_H
