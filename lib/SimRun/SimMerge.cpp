// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimMerge.h.

#include "SimRun/SimMerge.h"
#include "SimRun/SimDecoder.h"
#include <algorithm>
#include <cstring>

using namespace mpg::sim;

/// The number of records that belong together; 1 for a single one.
static unsigned getLength(const mpg_sim_record *record, unsigned left) {
  uint64_t length = 1;
  switch (getKind(*record)) {
  case MPG_SIM_LOOP:
    length = 1 + 2 * uint64_t(getNumber(*record));
    break;
  case MPG_SIM_BUNDLE:
    length = recordsOfBundle(*record);
    break;
  case MPG_SIM_FROM:
    length = 3;
    break;
  case MPG_SIM_ALLOCATED:
    length = 2;
    while (length < left && getKind(record[length]) == MPG_SIM_CALLER)
      ++length;
    break;
  case MPG_SIM_TO:
  case MPG_SIM_STACK:
  case MPG_SIM_OBJECT:
    length = 2;
    break;
  case MPG_SIM_TEXT:
    length = 1 + record->value / sizeof(*record) +
             (record->value % sizeof(*record) != 0);
    break;
  }
  return length <= left ? unsigned(length) : 1;
}

/// One of those that mostly come many in a row.
static bool isAccess(const mpg_sim_record &record) {
  return getKind(record) == MPG_SIM_ACCESS ||
         getKind(record) == MPG_SIM_INSTRUCTION;
}

/// Accesses of a record that is neither one nor a loop.
static uint64_t getAccessCount(const mpg_sim_record *record, unsigned length) {
  if (getKind(*record) == MPG_SIM_BUNDLE)
    return getAccessCount(*record);
  bool isCopy =
      getKind(*record) == MPG_SIM_FROM || getKind(*record) == MPG_SIM_TO;
  return isCopy && length > 1 ? record[length - 1].value / 64 * (length - 1) + 1
                              : 0;
}

SimMerge::SimMerge(SimLanes &source, unsigned count, Reader reader)
    : source(source), lanes(count), reader(std::move(reader)),
      out(recordsOfChunk) {
  lanes[0].state = Lane::ready;
}

unsigned SimMerge::countRecords(const mpg_sim_record *chunk) {
  unsigned at = 0;
  while (at < recordsOfChunk && getKind(chunk[at]) != MPG_SIM_END)
    at += getLength(chunk + at, recordsOfChunk - at);
  return at;
}

void SimMerge::mark(std::vector<Position> positions, bool begins) {
  std::lock_guard<std::mutex> lock(marksMutex);
  marks.push_back({std::move(positions), begins});
  hasMarks = true;
}

/// How many of the \p left records of the lane's chunk come before the next
/// mark. Writes the record of those that the lane has reached.
unsigned SimMerge::leftToMark(unsigned number, unsigned left) {
  std::lock_guard<std::mutex> lock(marksMutex);
  const Lane &lane = lanes[number];
  while (!marks.empty()) {
    const Position &position = marks.front().positions[number];
    if (lane.chunksRead < position.chunks)
      return left;
    if (lane.chunksRead == position.chunks && lane.at < position.records)
      return std::min<uint64_t>(left, position.records - lane.at);
    flush();
    *room(1) = {0, uint64_t(MPG_SIM_REGION) << MPG_SIM_KIND_SHIFT |
                       uint64_t(marks.front().begins)};
    marks.pop_front();
  }
  hasMarks = false;
  return left;
}

bool SimMerge::hasChunk(unsigned number) {
  Lane &lane = lanes[number];
  if (!lane.chunk) {
    lane.chunk = source.chunk(number);
    lane.at = 0;
  }
  return lane.chunk != nullptr;
}

std::optional<unsigned> SimMerge::findEarliestReady() const {
  std::optional<unsigned> min;
  for (unsigned number = 0; number < lanes.size(); ++number)
    if (lanes[number].state == Lane::ready &&
        (!min || lanes[number].clock < lanes[*min].clock))
      min = number;
  return min;
}

/// A thread that has paused goes on beside the one that is furthest behind.
void SimMerge::resume() {
  for (unsigned number = 0; number < lanes.size(); ++number) {
    Lane &lane = lanes[number];
    if (lane.state != Lane::pauses || !hasChunk(number))
      continue;
    if (std::optional<unsigned> min = findEarliestReady())
      lane.clock = std::max(lane.clock, lanes[*min].clock);
    lane.state = Lane::ready;
  }
}

std::optional<unsigned> SimMerge::advance() {
  for (;;) {
    resume();
    std::optional<unsigned> next = findEarliestReady();
    if (!next || !hasChunk(*next)) {
      flush();
      return next;
    }
    run(*next);
  }
}

void SimMerge::skip(unsigned number) {
  lanes[number].state = Lane::pauses;
  ++skipped;
}

void SimMerge::release(unsigned number) {
  Lane::State &state = lanes[number].state;
  if (state == Lane::atBarrier || state == Lane::joins)
    state = Lane::ready;
  ++skipped;
}

void SimMerge::finish() {
  // The thread that said that another begins may have been killed before.
  for (unsigned number = 0; number < lanes.size(); ++number)
    if (lanes[number].state == Lane::absent && hasChunk(number))
      lanes[number].state = Lane::ready;
  for (;;) {
    if (std::optional<unsigned> missing = advance()) {
      lanes[*missing].state = Lane::absent;
      continue;
    }
    auto waits = std::find_if(lanes.begin(), lanes.end(), [](const Lane &lane) {
      return lane.state == Lane::atBarrier || lane.state == Lane::joins;
    });
    if (waits == lanes.end())
      return;
    waits->state = Lane::ready;
  }
}

/// One turn, or up to the end of the chunk; alone a thread needs no turns.
void SimMerge::run(unsigned number) {
  bool isAlone = std::none_of(lanes.begin(), lanes.end(), [&](const Lane &one) {
    return &one != &lanes[number] && one.state == Lane::ready;
  });
  if (number != written) {
    *room(1) = {0, uint64_t(MPG_SIM_CORE) << MPG_SIM_KIND_SHIFT | number};
    written = number;
  }
  if (isAlone && !lanes[number].loopDone && !hasMarks)
    passOn(lanes[number]);
  uint64_t end = isAlone ? ~uint64_t(0) : lanes[number].clock + turn;
  while (lanes[number].clock < end && runRecord(number, end))
    ;
}

/// Accesses that one \p record stands for.
static uint64_t countAccesses(const mpg_sim_record *record, unsigned length) {
  if (getKind(*record) == MPG_SIM_LOOP)
    return length > 1 ? record->value * getNumber(*record) : 0;
  return isAccess(*record) ? 1 : getAccessCount(record, length);
}

/// Up to the next record that is not for the reader alone, without a copy. The
/// program has just written the records: another processor's caches have them.
void SimMerge::passOn(Lane &lane) {
  constexpr unsigned recordsAhead = 64;
  const mpg_sim_record *first = lane.chunk + lane.at;
  unsigned left = recordsOfChunk - lane.at, count = 0;
  while (count < left) {
    uint64_t kind = getKind(first[count]);
    if (kind == MPG_SIM_END || kind == MPG_SIM_REGION ||
        (kind >= MPG_SIM_CREATED && kind <= MPG_SIM_ENDED))
      break;
    __builtin_prefetch(first + count + recordsAhead);
    unsigned length = getLength(first + count, left - count);
    lane.clock += countAccesses(first + count, length);
    count += length;
  }
  lane.at += count;
  flush();
  if (count)
    reader(first, count);
}

/// Whether the lane can go on.
bool SimMerge::runRecord(unsigned number, uint64_t end) {
  Lane &lane = lanes[number];
  const mpg_sim_record *record = lane.chunk + lane.at;
  if (lane.at == recordsOfChunk || getKind(*record) == MPG_SIM_END) {
    lane.chunk = nullptr;
    ++lane.chunksRead;
    source.release(number, lane.at);
    return false;
  }
  unsigned left = recordsOfChunk - lane.at;
  if (hasMarks.load(std::memory_order_acquire))
    left = leftToMark(number, left);
  if (isAccess(*record)) {
    lane.at += runAccesses(lane, record, left, end);
    return true;
  }
  if (getKind(*record) == MPG_SIM_LOOP && getLength(record, left) > 1) {
    lane.at += runLoop(lane, record, left, end);
    return true;
  }
  unsigned length = getLength(record, left);
  lane.at += length;
  if (getKind(*record) >= MPG_SIM_CREATED && getKind(*record) <= MPG_SIM_ENDED)
    return wait(number, *record);
  if (getKind(*record) == MPG_SIM_REGION)
    flush();
  std::copy(record, record + length, room(length));
  lane.clock += countAccesses(record, length);
  return true;
}

/// Accesses one after the other, as many as the turn has left.
unsigned SimMerge::runAccesses(Lane &lane, const mpg_sim_record *record,
                               unsigned left, uint64_t end) {
  uint64_t max =
      std::min<uint64_t>({left, end - lane.clock, recordsOfChunk - 1});
  unsigned count = 1;
  while (count < max && isAccess(record[count]))
    ++count;
  std::copy(record, record + count, room(count));
  lane.clock += count;
  return count;
}

/// As many iterations as the turn has left. \returns the records that are over
/// and done with.
unsigned SimMerge::runLoop(Lane &lane, const mpg_sim_record *record,
                           unsigned left, uint64_t end) {
  unsigned length = getLength(record, left);
  uint64_t streams = getNumber(*record);
  uint64_t rest = record->value - std::min(lane.loopDone, record->value);
  uint64_t times = std::min(rest, (end - lane.clock - 1) / streams + 1);
  mpg_sim_record *copy = room(length);
  std::copy(record, record + length, copy);
  copy->value = times;
  for (unsigned at = 1; at < length; at += 2)
    copy[at].value += copy[at + 1].value * lane.loopDone;
  lane.clock += times * streams;
  lane.loopDone += times;
  if (times < rest)
    return 0;
  lane.loopDone = 0;
  return length;
}

/// Synchronises threads. \returns whether this one continues.
bool SimMerge::wait(unsigned number, const mpg_sim_record &record) {
  Lane &lane = lanes[number];
  unsigned other = getNumber(record);
  switch (getKind(record)) {
  case MPG_SIM_CREATED:
    if (other < lanes.size() && other != number) {
      lanes[other].state = Lane::ready;
      lanes[other].clock = lane.clock;
    }
    return false; // from now on there are turns
  case MPG_SIM_JOINS:
    if (other >= lanes.size() || lanes[other].ended >= record.value)
      return true;
    lane.state = Lane::joins;
    lane.key = record.value;
    lane.size = other;
    return false;
  case MPG_SIM_SIZE:
    barrierSizes[record.value] = other;
    return true;
  case MPG_SIM_BARRIER:
    lane.state = Lane::atBarrier;
    lane.key = record.value;
    lane.size = other ? other : barrierSizes[record.value];
    meet(lane);
    return false;
  case MPG_SIM_PAUSES:
    lane.state = Lane::pauses;
    return false;
  default: // MPG_SIM_ENDED
    lane.state = Lane::absent;
    ++lane.ended;
    wakeJoiners(number);
    return false;
  }
}

/// If all have come to the barrier of the one that came last, they go on
/// together.
void SimMerge::meet(const Lane &last) {
  uint64_t key = last.key, size = last.size, arrived = 0, clock = 0;
  auto isHere = [&](const Lane &lane) {
    return lane.state == Lane::atBarrier && lane.key == key;
  };
  for (const Lane &lane : lanes)
    if (isHere(lane)) {
      ++arrived;
      clock = std::max(clock, lane.clock);
    }
  if (arrived < size)
    return;
  for (Lane &lane : lanes)
    if (isHere(lane)) {
      lane.state = Lane::ready;
      lane.clock = clock;
    }
}

void SimMerge::wakeJoiners(unsigned number) {
  const Lane &ended = lanes[number];
  for (Lane &lane : lanes)
    if (lane.state == Lane::joins && lane.size == number &&
        ended.ended >= lane.key) {
      lane.state = Lane::ready;
      lane.clock = std::max(lane.clock, ended.clock);
    }
}

/// Room for what must not lie in two chunks; the last record of each stays 0.
mpg_sim_record *SimMerge::room(unsigned records) {
  if (outSize + records >= recordsOfChunk)
    flush();
  outSize += records;
  return &out[outSize - records];
}

void SimMerge::flush() {
  if (!outSize)
    return;
  out[outSize] = {0, 0};
  reader(out.data(), outSize);
  outSize = 0;
}
