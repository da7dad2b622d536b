// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPUs and NUMA nodes that a script names in numbers.

#ifndef MPG_JOBRULES_RULECPUS_H
#define MPG_JOBRULES_RULECPUS_H

#include "JobRules/RuleContext.h"

namespace mpg {

/// "12-23,36-47"; nothing if it is no list of absolute numbers.
struct NumberList {
  unsigned least, most;
  unsigned count; ///< of numbers, twice named ones twice
};
std::optional<NumberList> parseNumbers(llvm::StringRef text);

/// One place that names them.
struct NumberUse {
  unsigned line;
  bool conditional;
  bool nodes; ///< NUMA nodes; else CPUs
  std::string text;
  std::string symbol; ///< the variable or command
  NumberList numbers;
};

/// The value of one of \p options in \p command, as "-C 12-23", "-C12-23" or
/// "--physcpubind=12-23"; "" if there is none, or if it is not known.
llvm::StringRef optionValue(const JobCommand &command,
                            std::initializer_list<llvm::StringRef> options);

/// All of them, in the order of launches and settings.
std::vector<NumberUse> findNumberUses(const JobContext &job);

} // namespace mpg

#endif // MPG_JOBRULES_RULECPUS_H
