// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which thread works on which iterations, against a model that assigns them one
// at a time, and at sizes where a sum or a product would wrap.

#include "numa/SharedArray.h"

#include <gtest/gtest.h>
#include <vector>

using namespace mpg;

/// The owner of each iteration by the words of the OpenMP specification.
static std::vector<uint32_t> dealOut(const SharedLoop &loop) {
  std::vector<uint32_t> owners;
  if (loop.sched == 1) {
    for (uint64_t i = 0; i < loop.iterations; ++i)
      owners.push_back(uint32_t(i / loop.chunk % loop.threads));
    return owners;
  }
  // At most one block for each thread, as equal as can be, larger ones first.
  std::vector<uint64_t> sizes(loop.threads);
  for (uint64_t i = 0; i < loop.iterations; ++i)
    ++sizes[i % loop.threads];
  for (uint32_t thread = 0; thread < loop.threads; ++thread)
    owners.insert(owners.end(), sizes[thread], thread);
  return owners;
}

/// Every iteration is in exactly one part, and that is its owner's.
static void expectLike(const SharedLoop &loop) {
  SCOPED_TRACE(testing::Message()
               << loop.iterations << " iterations, sched " << loop.sched
               << ", chunk " << loop.chunk << ", threads " << loop.threads);
  std::vector<uint32_t> wanted = dealOut(loop);
  std::vector<uint32_t> found(loop.iterations, UINT32_MAX);
  for (uint32_t thread = 0; thread < loop.threads; ++thread) {
    uint64_t first, behind, last = 0;
    for (uint64_t turn = 0; getPart(loop, thread, turn, first, behind);
         ++turn) {
      ASSERT_LT(first, behind);
      ASSERT_LE(behind, loop.iterations);
      ASSERT_GE(first, last);
      last = behind;
      for (uint64_t i = first; i < behind; ++i) {
        ASSERT_EQ(found[i], UINT32_MAX);
        found[i] = thread;
      }
    }
  }
  EXPECT_EQ(found, wanted);
  for (uint64_t i = 0; i < loop.iterations; ++i)
    ASSERT_EQ(getOwner(loop, i), wanted[i]) << "iteration " << i;
}

TEST(SharedLoop, BlocksAreLikeTheModel) {
  for (uint64_t iterations = 1; iterations <= 70; ++iterations)
    for (uint32_t threads : {1u, 2u, 3u, 7u, 48u, 64u, 65u, 200u})
      expectLike({iterations, 0, 0, threads});
}

TEST(SharedLoop, ChunksAreLikeTheModel) {
  for (uint64_t iterations = 1; iterations <= 70; ++iterations)
    for (uint64_t chunk : {1, 2, 3, 8, 69, 70, 71})
      for (uint32_t threads : {1u, 2u, 5u, 48u, 100u})
        expectLike({iterations, 1, chunk, threads});
}

TEST(SharedLoop, NoIterationsGiveNoParts) {
  uint64_t first, behind;
  for (uint32_t sched : {0u, 1u})
    for (uint32_t thread : {0u, 3u})
      EXPECT_FALSE(getPart({0, sched, 5, 4}, thread, 0, first, behind));
}

TEST(SharedLoop, HugeNumbersDoNotWrap) {
  uint64_t first, behind;
  // Blocks: the last one ends where the loop does.
  SharedLoop blocks{UINT64_MAX, 0, 0, UINT32_MAX};
  ASSERT_TRUE(getPart(blocks, UINT32_MAX - 1, 0, first, behind));
  EXPECT_EQ(behind, UINT64_MAX);
  EXPECT_EQ(behind - first, UINT64_MAX / UINT32_MAX);
  EXPECT_EQ(getOwner(blocks, UINT64_MAX - 1), UINT32_MAX - 1);
  EXPECT_FALSE(getPart(blocks, 0, 1, first, behind));
  // One chunk that is larger than the loop.
  SharedLoop chunks{UINT64_MAX - 1, 1, UINT64_MAX, 4};
  ASSERT_TRUE(getPart(chunks, 0, 0, first, behind));
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(behind, UINT64_MAX - 1);
  EXPECT_FALSE(getPart(chunks, 1, 0, first, behind));
  EXPECT_FALSE(getPart(chunks, 0, 1, first, behind));
  // The last of very many, and the turn behind it.
  SharedLoop many{UINT64_MAX, 1, 2, 2};
  uint64_t lastTurn = UINT64_MAX / 4;
  ASSERT_TRUE(getPart(many, 1, lastTurn, first, behind));
  EXPECT_EQ(first, UINT64_MAX - 1);
  EXPECT_EQ(behind, UINT64_MAX);
  EXPECT_FALSE(getPart(many, 1, lastTurn + 1, first, behind));
  EXPECT_FALSE(getPart(many, 0, UINT64_MAX, first, behind));
}
