// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What .mpgaudit.yaml asks for, as words of a command line.

#ifndef MPG_TOOLS_MPGAUDIT_CONFIGURATIONWORDS_H
#define MPG_TOOLS_MPGAUDIT_CONFIGURATIONWORDS_H

#include "Policy/Policy.h"
#include <functional>

namespace mpg {

/// The options that a file may have.
llvm::ArrayRef<llvm::StringRef> configurationKeys();

struct ConfigurationWord {
  std::string text; ///< "--target=fugaku"
  unsigned line;    ///< of the file
};

/// Without what the command line says otherwise: \p isGiven(key).
std::vector<ConfigurationWord>
wordsOf(const Configuration &configuration,
        const std::function<bool(llvm::StringRef)> &isGiven);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_CONFIGURATIONWORDS_H
