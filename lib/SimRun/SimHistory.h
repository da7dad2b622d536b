// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sample begins with caches and TLBs as the program would have them: what was
// recorded last before a region goes through the model first, without being
// counted. Older records are dropped: a region is there to save the time that
// the model takes.

#pragma once

#include "SimRun/SimProgram.h"
#include <deque>

namespace mpg::sim {

class SimHistory {
public:
  /// Records that are kept: 64 MiB. A record of one access brings one
  /// line at most; L2 of A64FX has 32,768 lines, L3 of Zen 4 524,288.
  static constexpr size_t maxRecords = size_t(4) << 20;

  /// \p program must stay.
  explicit SimHistory(SimProgram &program) : program(program) {}

  /// A chunk of \p records as SimMerge makes them. \p isOpenElsewhere: a region
  /// is open that has no record.
  void read(const mpg_sim_record *chunk, unsigned records,
            bool isOpenElsewhere);
  /// No more chunks.
  void finish();

private:
  void replay();

  SimProgram &program;
  std::deque<std::vector<mpg_sim_record>> kept;
  size_t keptRecords = 0;
  /// Begins less ends; an end may come first if two threads do not wait for
  /// each other.
  int64_t open = 0;
  bool isCounting = false;
};

} // namespace mpg::sim
