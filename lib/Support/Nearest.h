// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user may have meant by a name that does not exist.

#ifndef MPG_SUPPORT_NEAREST_H
#define MPG_SUPPORT_NEAREST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mpg {

/// The one of \p names that \p typed is a slip of; empty: none is close.
llvm::StringRef nearestName(llvm::StringRef typed,
                            llvm::ArrayRef<llvm::StringRef> names);

/// "; did you mean 'target'?", or all \p names when none is close.
std::string suggest(llvm::StringRef typed,
                    llvm::ArrayRef<llvm::StringRef> names);

/// The same for an option's values, of which three letters are enough: "fug".
std::string suggestValue(llvm::StringRef typed,
                         llvm::ArrayRef<llvm::StringRef> values);

} // namespace mpg

#endif // MPG_SUPPORT_NEAREST_H
