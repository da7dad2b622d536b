// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that mpgsim shares with the program, and the thread that reads it
// while the program runs. Nothing of it is in a file system.

#ifndef MPG_TOOLS_MPGSIM_SIMRING_H
#define MPG_TOOLS_MPGSIM_SIMRING_H

#include "mpg/sim.h"
#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace mpg {

class SimRing {
public:
  /// Gets each chunk, in order; what follows its last record is 0.
  using Reader = std::function<void(const mpg_sim_record *chunk)>;

  SimRing() = default;
  ~SimRing();
  SimRing(const SimRing &) = delete;

  /// \returns "" or why there is none.
  std::string open();
  /// What the program finds in MPG_SIM_VARIABLE.
  std::string path() const;
  const mpg_sim_ring &head() const { return *ring; }

  /// Reads from now on, in a thread that takes no signals.
  void start(Reader reader);
  /// The program has ended: reads what is left.
  void finish();

private:
  void readAll(const std::atomic<bool> &isOver);
  mpg_sim_record *chunk(uint32_t number);

  int file = -1;
  mpg_sim_ring *ring = nullptr;
  Reader reader;
  std::atomic<bool> hasEnded = false;
  std::thread thread;
};

} // namespace mpg

#endif // MPG_TOOLS_MPGSIM_SIMRING_H
