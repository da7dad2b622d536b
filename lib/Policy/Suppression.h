// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of a suppression, which are the same in a configuration file and on
// the command line.

#ifndef MPG_POLICY_SUPPRESSION_H
#define MPG_POLICY_SUPPRESSION_H

#include "Policy/Policy.h"

namespace mpg {

/// Collects one suppression key by key. What is wrong is said as text without
/// a place, which only the caller knows; "" if nothing is.
class SuppressionReader {
public:
  std::string set(llvm::StringRef key, llvm::StringRef value);
  /// What is missing.
  std::string finish() const;
  /// pre: nothing was wrong.
  Suppression take() { return std::move(suppression); }

private:
  Suppression suppression;
};

/// "2027-01-31", a day that exists.
bool isDate(llvm::StringRef text);

} // namespace mpg

#endif // MPG_POLICY_SUPPRESSION_H
