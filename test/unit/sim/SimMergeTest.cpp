// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the records of several threads: it does not depend on when they
// arrive, and no thread runs ahead of the others.

#include "SimRun/SimMerge.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace mpg::sim;

namespace {

using Records = std::vector<mpg_sim_record>;
constexpr unsigned perChunk = MPG_SIM_CHUNK_BYTES / sizeof(mpg_sim_record);

mpg_sim_record record(mpg_sim_kind kind, uint64_t number, uint64_t value = 0) {
  return {value, uint64_t(kind) << MPG_SIM_KIND_SHIFT | number};
}

/// The records of each lane, and how many of them have arrived so far.
class Arrivals : public SimLanes {
public:
  explicit Arrivals(unsigned count) : lanes(count) {}
  Records &fill(unsigned lane) {
    lanes[lane].chunks.emplace_back();
    return lanes[lane].chunks.back();
  }
  const mpg_sim_record *chunk(unsigned number) override {
    Lane &lane = lanes[number];
    return lane.taken < lane.delivered ? lane.chunks[lane.taken].data()
                                       : nullptr;
  }
  void release(unsigned number, unsigned used) override {
    EXPECT_LE(used, lanes[number].chunks[lanes[number].taken].size());
    ++lanes[number].taken;
  }
  bool deliver(unsigned number) {
    Lane &lane = lanes[number];
    if (lane.delivered == lane.chunks.size())
      return false;
    lane.chunks[lane.delivered].resize(perChunk);
    ++lane.delivered;
    return true;
  }

private:
  struct Lane {
    std::vector<Records> chunks;
    size_t delivered = 0, taken = 0;
  };
  std::vector<Lane> lanes;
};

/// Single accesses and loops, one place for each lane.
void addWork(Arrivals &all, unsigned lane, unsigned pieces,
             std::mt19937 &random) {
  Records *chunk = &all.fill(lane);
  for (unsigned piece = 0; piece < pieces; ++piece) {
    if (chunk->size() + 8 > perChunk)
      chunk = &all.fill(lane);
    if (random() % 4) {
      chunk->push_back(record(MPG_SIM_ACCESS, lane, piece));
      continue;
    }
    chunk->push_back(record(MPG_SIM_LOOP, 2, random() % 3000));
    for (uint64_t stream = 0; stream < 2; ++stream) {
      chunk->push_back(record(MPG_SIM_STREAM, lane, piece << 20));
      chunk->push_back(record(MPG_SIM_STRIDE, 0, 8 * stream));
    }
  }
}

/// A program whose threads begin, meet at barriers, and are joined.
Arrivals makeProgram(unsigned threads, unsigned seed) {
  std::mt19937 random(seed);
  Arrivals all(threads + 1);
  Records &first = all.fill(0);
  for (unsigned lane = 1; lane <= threads; ++lane)
    first.push_back(record(MPG_SIM_CREATED, lane));
  for (unsigned phase = 0; phase < 4; ++phase)
    for (unsigned lane = 1; lane <= threads; ++lane) {
      addWork(all, lane, random() % 2000, random);
      all.fill(lane).push_back(record(MPG_SIM_BARRIER, threads, 77));
    }
  for (unsigned lane = 1; lane <= threads; ++lane) {
    all.fill(lane).push_back(record(MPG_SIM_ENDED, 0));
    all.fill(0).push_back(record(MPG_SIM_JOINS, lane, 1));
  }
  addWork(all, 0, 100, random);
  return all;
}

/// Which lane made which accesses, one after the other.
using Order = std::vector<std::pair<unsigned, uint64_t>>;

class Listener {
public:
  explicit Listener(Order &order) : order(order) {}
  void operator()(const mpg_sim_record *chunk, unsigned records) {
    for (unsigned at = 0; at < records; ++at) {
      auto kind = chunk[at].word >> MPG_SIM_KIND_SHIFT;
      if (kind == MPG_SIM_CORE)
        core = unsigned(chunk[at].word);
      if (kind == MPG_SIM_ACCESS || kind == MPG_SIM_STREAM) {
        EXPECT_EQ(unsigned(chunk[at].word), core);
      }
      if (kind == MPG_SIM_ACCESS)
        add(1);
      else if (kind == MPG_SIM_LOOP)
        add(chunk[at].value * unsigned(chunk[at].word));
    }
  }

private:
  void add(uint64_t accesses) {
    if (order.empty() || order.back().first != core)
      order.push_back({core, 0});
    order.back().second += accesses;
  }
  Order &order;
  unsigned core = 0;
};

/// \p arrival: the order in which this machine happened to run the threads.
Order merge(unsigned threads, unsigned seed, unsigned arrival) {
  Arrivals all = makeProgram(threads, seed);
  std::mt19937 random(arrival);
  Order order;
  SimMerge merged(all, threads + 1, Listener(order));
  for (unsigned idle = 0; idle < 100;) {
    idle = all.deliver(unsigned(random() % (threads + 1))) ? 0 : idle + 1;
    if (random() % 2)
      merged.advance();
  }
  for (unsigned lane = 0; lane <= threads; ++lane)
    while (all.deliver(lane))
      ;
  merged.finish();
  EXPECT_EQ(merged.skips(), 0u);
  return order;
}

TEST(SimMerge, DoesNotDependOnArrival) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Order first = merge(1 + seed % 5, seed, 0);
    EXPECT_GT(first.size(), 1u);
    for (unsigned arrival = 1; arrival < 8; ++arrival)
      EXPECT_EQ(merge(1 + seed % 5, seed, arrival), first) << seed;
  }
}

/// Loops are divided: a turn is over after so many accesses.
TEST(SimMerge, NobodyRunsAway) {
  Arrivals all(3);
  all.fill(0).push_back(record(MPG_SIM_CREATED, 1));
  all.fill(0).push_back(record(MPG_SIM_CREATED, 2));
  for (unsigned lane : {1, 2}) {
    Records &chunk = all.fill(lane);
    chunk.push_back(record(MPG_SIM_LOOP, 1, 100000));
    chunk.push_back(record(MPG_SIM_STREAM, lane, 4096));
    chunk.push_back(record(MPG_SIM_STRIDE, 0, 8));
  }
  for (unsigned lane : {0, 0, 1, 2})
    EXPECT_TRUE(all.deliver(lane));
  all.fill(0).push_back(record(MPG_SIM_JOINS, 1, 1));
  EXPECT_TRUE(all.deliver(0));
  Order order;
  SimMerge merged(all, 3, Listener(order));
  merged.advance();
  EXPECT_GT(order.size(), 190u);
  for (const auto &turn : order)
    EXPECT_LE(turn.second, SimMerge::turn);
}

/// A thread that was killed, or whose creator was: its records are in, too.
TEST(SimMerge, EndsWithoutEnds) {
  Arrivals all(3);
  all.fill(0).push_back(record(MPG_SIM_BARRIER, 3, 5));
  all.fill(1).push_back(record(MPG_SIM_ACCESS, 1));
  all.fill(2).push_back(record(MPG_SIM_JOINS, 1, 9));
  all.fill(2).push_back(record(MPG_SIM_ACCESS, 2));
  for (unsigned lane : {0, 1, 2, 2})
    EXPECT_TRUE(all.deliver(lane));
  Order order;
  SimMerge merged(all, 3, Listener(order));
  EXPECT_FALSE(merged.advance());
  merged.finish();
  EXPECT_EQ(order, (Order{{1, 1}, {2, 1}}));
}

/// A late lane resumes although no other lane waits for it.
TEST(SimMerge, SkipsWhoDoesNotCome) {
  Arrivals all(2);
  all.fill(0).push_back(record(MPG_SIM_CREATED, 1));
  Records &much = all.fill(0);
  for (unsigned at = 0; at < 3000; ++at)
    much.push_back(record(MPG_SIM_ACCESS, 0));
  all.fill(1).push_back(record(MPG_SIM_ACCESS, 1));
  EXPECT_TRUE(all.deliver(0) && all.deliver(0));
  Order order;
  SimMerge merged(all, 2, Listener(order));
  EXPECT_EQ(merged.advance(), 1u);
  merged.skip(1);
  EXPECT_EQ(merged.advance(), 0u);
  EXPECT_EQ(order, (Order{{0, 3000}}));
  EXPECT_TRUE(all.deliver(1));
  merged.finish();
  EXPECT_EQ(order.back(), std::pair(1u, uint64_t(1)));
  EXPECT_EQ(merged.skips(), 1u);
}

} // namespace
