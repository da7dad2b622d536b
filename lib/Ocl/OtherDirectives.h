// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of the OCL directives that are not about sectors.

#ifndef MPG_OCL_OTHERDIRECTIVES_H
#define MPG_OCL_OTHERDIRECTIVES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mpg {

/// The remark for the directive \p name: what asks flang for the same, or that
/// nothing does.
std::string otherDirectiveRemark(llvm::StringRef name);

} // namespace mpg

#endif // MPG_OCL_OTHERDIRECTIVES_H
