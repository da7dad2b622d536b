// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that mpgsim shares with the program, and the thread that reads it
// while the program runs. Nothing of it is in a file system.

#ifndef MPG_TOOLS_MPGSIM_SIMRING_H
#define MPG_TOOLS_MPGSIM_SIMRING_H

#include "Options.h"
#include "SimRun/SimMerge.h"
#include "Support/Threads.h"
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace mpg {

class SimRing : private sim::SimLanes {
public:
  using Reader = sim::SimMerge::Reader;

  SimRing() = default;
  ~SimRing() override;
  SimRing(const SimRing &) = delete;

  /// For so many threads at most. \returns "" or why there is none.
  std::string open(unsigned lanes, const SimSample &sample);
  /// What the program finds in MPG_SIM_VARIABLE.
  std::string path() const;
  const mpg_sim_ring &head() const { return *ring; }

  /// Reads from now on, in a thread that takes no signals; a sample by time
  /// begins. \returns "" or why it cannot.
  std::string start(Reader reader);
  /// The program has ended: reads what is left.
  void finish();
  /// How often the order of threads could not be that of the program alone.
  unsigned skips() const { return merge ? merge->skips() : 0; }

private:
  const mpg_sim_record *chunk(unsigned lane) override;
  void release(unsigned lane, unsigned used) override;
  void readAll();
  void runSample();
  void switchOn(bool isOn);
  void goOn(std::optional<unsigned> missing, unsigned looks);
  bool isAsleep(unsigned lane) const;
  mpg_sim_record *memory(unsigned lane) const;

  int file = -1;
  mpg_sim_ring *ring = nullptr;
  std::optional<sim::SimMerge> merge;
  bool isLast[MPG_SIM_LANES] = {}; ///< the chunk that was not handed over
  std::atomic<bool> hasEnded = false;
  std::function<void()> readsAll, runsSample;
  Thread thread, sampler;
  SimSample sample;
  std::mutex endMutex; ///< of isOver
  std::condition_variable end;
  bool isOver = false; ///< for the sampler
};

} // namespace mpg

#endif // MPG_TOOLS_MPGSIM_SIMRING_H
