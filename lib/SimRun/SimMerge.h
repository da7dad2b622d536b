// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One order for what the threads of a program have recorded. It is a function
// of the records and of how the threads wait for each other, not of when which
// of them ran here: the thread that has made the fewest accesses goes on, a
// turn at a time, and what waits in the program waits here. docs/sim.md has the
// rules.

#pragma once

#include "mpg/sim.h"
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace mpg::sim {

/// Where the chunks of each lane come from, in its order.
class SimLanes {
public:
  virtual ~SimLanes() = default;
  /// The first that was not released; null: it has not come yet.
  virtual const mpg_sim_record *chunk(unsigned lane) = 0;
  /// \p used: its records, of which nothing is needed any more.
  virtual void release(unsigned lane, unsigned used) = 0;
};

class SimMerge {
public:
  /// Receives chunks of so many records from all lanes. MPG_SIM_CORE comes
  /// first where the lane changes; a lane is a core. MPG_SIM_REGION is the
  /// first of its chunk.
  using Reader =
      std::function<void(const mpg_sim_record *chunk, unsigned records)>;
  /// No thread is more accesses than this ahead of another that it does not
  /// wait for, but for what one record is that cannot be divided.
  static constexpr uint64_t turn = 1024;

  /// \p lanes must stay.
  SimMerge(SimLanes &lanes, unsigned count, Reader reader);

  /// Takes what there is. \returns the lane that has to come first; nothing if
  /// all threads wait for each other.
  std::optional<unsigned> advance();
  /// Goes on without \p lane until its records come. From then on the order
  /// depends on this machine.
  void skip(unsigned lane);
  /// Lets \p lane go on without threads that it waits for: they do not come.
  void release(unsigned lane);
  /// The program has ended: takes what is left, in whatever order.
  void finish();

  /// Where a lane's thread is: so many chunks were filled, and so many records
  /// of the next one.
  struct Position {
    uint64_t chunks, records;
  };
  /// A region begins or ends where the first lane is beyond its position; from
  /// another thread.
  void mark(std::vector<Position> positions, bool begins);
  /// Records that \p chunk has, up to one that is being written.
  static unsigned countRecords(const mpg_sim_record *chunk);

  unsigned skips() const { return skipped; }

private:
  struct Lane {
    enum State : uint8_t { absent, ready, atBarrier, joins, pauses };
    State state = absent;
    uint64_t clock = 0;
    const mpg_sim_record *chunk = nullptr;
    unsigned at = 0;
    uint64_t chunksRead = 0;
    uint64_t loopDone = 0; ///< iterations of the loop at hand
    uint64_t ended = 0;    ///< threads that did
    uint64_t key = 0;      ///< of the barrier, or ends that it waits for
    uint64_t size = 0;     ///< of the barrier, or lane that it waits for
  };

  struct Mark {
    std::vector<Position> positions;
    bool begins;
  };

  bool hasChunk(unsigned number);
  unsigned leftToMark(unsigned number, unsigned left);
  void resume();
  std::optional<unsigned> findEarliestReady() const;
  void run(unsigned number);
  void passOn(Lane &lane);
  bool runRecord(unsigned number, uint64_t end);
  unsigned runAccesses(Lane &lane, const mpg_sim_record *record, unsigned left,
                       uint64_t end);
  unsigned runLoop(Lane &lane, const mpg_sim_record *record, unsigned left,
                   uint64_t end);
  bool wait(unsigned number, const mpg_sim_record &record);
  void meet(const Lane &last);
  void wakeJoiners(unsigned number);
  mpg_sim_record *room(unsigned records);
  void flush();

  SimLanes &source;
  std::vector<Lane> lanes;
  Reader reader;
  std::map<uint64_t, uint64_t> barrierSizes;
  std::mutex marksMutex;
  std::deque<Mark> marks;
  std::atomic<bool> hasMarks = false;
  std::vector<mpg_sim_record> out;
  unsigned outSize = 0;
  unsigned written = 0; ///< whose records came last
  unsigned skipped = 0;
};

} // namespace mpg::sim
