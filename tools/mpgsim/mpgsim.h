// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a run: the memory that mpgsim shares with the program, and qemu
// for programs of another compiler. SimReport.h has the results of a run.

#pragma once

#include "DebugInfo/DebugInfo.h"
#include "Options.h"
#include "SimRun/SimEmulated.h"
#include "SimRun/SimMerge.h"
#include "Support/Threads.h"
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mpg {

// Shared memory (SimRing.cpp)

// The memory that the program writes, and the thread that reads it while the
// program runs. Nothing of it is in a file system: a run that is killed leaves
// nothing behind.

class SimRing : private sim::SimLanes {
public:
  using Reader = sim::SimMerge::Reader;

  SimRing() = default;
  ~SimRing() override;
  SimRing(const SimRing &) = delete;

  /// For so many threads at most. \returns "" or why there is none.
  std::string open(unsigned lanes, const SimSample &sample);
  /// The program's value of MPG_SIM_VARIABLE.
  std::string path() const;
  const mpg_sim_ring &head() const { return *ring; }

  /// A region of threads without a lane is open.
  bool isOpenElsewhere() const;

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
  void goOn(std::optional<unsigned> missing);
  bool isStuck(std::optional<unsigned> missing);
  uint64_t programNs() const;
  mpg_sim_record *memory(unsigned lane, uint32_t chunks) const;
  std::vector<sim::SimMerge::Position> positions() const;

  /// At the threads, while nothing comes.
  struct Look {
    std::optional<unsigned> missing; ///< lane that is waited for
    uint64_t programNs, threadNs;    ///< processor time
  };

  int file = -1;
  mpg_sim_ring *ring = nullptr;
  std::optional<Look> firstLook; ///< since something came
  Look lastLook = {};
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

// --engine=qemu (SimQemu.cpp)

// Which qemu runs the program, how, and what its addresses are in the source.
// The program may come from any compiler; what records it is MpgQemu.so, inside
// of qemu.

struct SimQemu {
  std::string path, plugin;
  bool seesSve = false;
  bool hasThreads = false; ///< the program may begin some
  std::string libraries;   ///< a folder with a loader for it; may be empty
};

/// The qemu for \p options, and whether it can do so. \p program: what is run.
/// \returns "" or what is wrong; \p self: argv[0].
std::string findQemu(const SimOptions &options, const std::string &program,
                     const char *self, SimQemu &qemu);

/// The command to run: qemu with the program at \p program. \p ring: its path.
std::vector<std::string> qemuCommand(const SimQemu &qemu,
                                     const SimOptions &options,
                                     const std::string &program,
                                     const std::string &ring);

/// Functions and lines of programs that were not compiled with --mpg-sim, from
/// their symbol tables and debug information.
class SimSources {
public:
  /// The source at \p address of the file at \p path, as far as it is known.
  sim::SimSource find(const std::string &path, uint64_t address);

private:
  std::map<std::string, std::unique_ptr<DebugInfo>> files;
};

} // namespace mpg
