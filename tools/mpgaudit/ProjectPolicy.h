// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the options and the configuration file say about accepted findings,
// applied to one report after the other.

#ifndef MPG_TOOLS_MPGAUDIT_PROJECTPOLICY_H
#define MPG_TOOLS_MPGAUDIT_PROJECTPOLICY_H

#include "Options.h"
#include <atomic>
#include <mutex>

namespace mpg {

class ProjectPolicy {
public:
  explicit ProjectPolicy(const Options &options);

  /// Reads the baseline that was asked for. Error: the text for the user.
  llvm::Error start();

  /// Takes out the findings that do not count. \p looked: what was looked for;
  /// null is everything. Thread-safe.
  void apply(std::vector<Finding> &findings, llvm::StringRef path,
             const FindingSet *looked = nullptr);

  /// Writes the baseline that was asked for.
  llvm::Error finish();

  unsigned takenOut() const { return removed; }
  /// Entries that have expired or that nothing needed.
  std::vector<std::string> complaints() const;

private:
  const Options &options;
  Suppressor suppressor;
  std::optional<Baseline> known;
  Baseline found;
  std::mutex mutex; ///< of found
  std::atomic<unsigned> removed{0};
};

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_PROJECTPOLICY_H
