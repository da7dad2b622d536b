// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What -j relies on: results in order, each piece of work done once, on any
// number of threads, and a slow piece does not let the others pile up.

#include "Support/Threads.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace mpg;

TEST(OrderedParallel, ResultsComeInOrderOnAnyNumberOfThreads) {
  for (unsigned threads : {0u, 1u, 2u, 7u, 16u})
    for (size_t count : {0u, 1u, 2u, 5u, 1000u}) {
      std::vector<std::atomic<unsigned>> done(count);
      std::vector<size_t> emitted;
      orderedParallel<size_t>(
          count, threads,
          [&](size_t index) {
            ++done[index];
            return index * 3;
          },
          [&](size_t result) { emitted.push_back(result); });
      ASSERT_EQ(emitted.size(), count);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(emitted[i], i * 3);
        EXPECT_EQ(done[i], 1u);
      }
    }
}

TEST(OrderedParallel, EmitsOnTheCallingThread) {
  std::thread::id caller = std::this_thread::get_id();
  bool same = true;
  orderedParallel<int>(
      100, 4, [](size_t) { return 0; },
      [&](int) { same &= std::this_thread::get_id() == caller; });
  EXPECT_TRUE(same);
}

TEST(OrderedParallel, TakesResultsThatCanOnlyBeMoved) {
  size_t sum = 0;
  orderedParallel<std::unique_ptr<size_t>>(
      300, 3, [](size_t index) { return std::make_unique<size_t>(index); },
      [&](std::unique_ptr<size_t> result) { sum += *result; });
  EXPECT_EQ(sum, 300u * 299 / 2);
}

TEST(OrderedParallel, SlowFirstPieceBoundsWhatWaits) {
  constexpr unsigned threads = 4;
  constexpr size_t count = 5000, window = 64 * threads;
  std::atomic<size_t> started(0), emitted(0), maxAhead(0);
  orderedParallel<size_t>(
      count, threads,
      [&](size_t index) {
        size_t ahead = ++started - emitted;
        for (size_t max = maxAhead; ahead > max;)
          if (maxAhead.compare_exchange_weak(max, ahead))
            break;
        // The first piece ends only when the others have run into the window.
        while (index == 0 && started < window)
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        return index;
      },
      [&](size_t) { ++emitted; });
  EXPECT_EQ(emitted, count);
  EXPECT_GE(maxAhead, window);
  // A worker may count itself before the emitting thread counts its result.
  EXPECT_LE(maxAhead, window + threads + 1);
}
