// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds loops in records of single accesses and basic blocks. A loop with a
// condition in its body is not summed up in the program: another iteration
// might access something else. Often none does for a long time, and each
// address goes on by the same number of bytes. Such iterations are a loop of
// the model. To look at their records costs a fraction of modelling each
// access, because words are compared and not read.

#ifndef MPG_SIMRUN_SIMREPEATS_H
#define MPG_SIMRUN_SIMREPEATS_H

#include "SimRun/SimDecoder.h"

namespace mpg::sim {

class SimRepeats {
public:
  /// Fewer iterations are not worth the preparation of a loop.
  static constexpr uint64_t minTimes = 8;

  /// Looks for iterations from the bundle \p first on, in \p left records.
  /// \returns how many there are; 0: fewer than minTimes, or it did not look
  /// because it found none there before.
  uint64_t find(const mpg_sim_record *first, unsigned left);
  /// Those that were found at \p first last are of no use.
  void reject(const mpg_sim_record *first);
  /// Of one iteration of those that were found last.
  unsigned records() const { return length; }
  /// The first record of each bundle, single access and call of it.
  const std::vector<const mpg_sim_record *> &parts() const { return theParts; }
  /// From the address in \p word, of the first iteration, to that of the next
  /// one.
  int64_t getStep(const uint64_t &word) const {
    return int64_t(*(&word + 2 * length) - word);
  }

private:
  /// For how many bundles with this first place there is no look.
  struct Wait {
    uint16_t left = 0, next = 0;
  };
  bool findLength(const mpg_sim_record *first, unsigned left);
  bool isAlikeNext() const;

  unsigned length = 0;
  std::vector<const mpg_sim_record *> theParts;
  std::vector<Wait> waits; ///< by first place
};

} // namespace mpg::sim

#endif // MPG_SIMRUN_SIMREPEATS_H
