// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The message when the heap does not get large pages: once, with cause and fix,
// and none if there is no pool. Sizes that no kernel offers represent a node
// without a pool.

#include "StderrLines.h"
#include "heap/HeapReport.h"
#include "pages/Shortage.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace mpg;

static constexpr size_t withPool = 2 << 20, withoutPool = 4 << 20;
static constexpr uint64_t wanted = 64 << 20;

static bool hasPool() {
  Pool pool = readPool(withPool);
  return pool.exists && (pool.total || pool.overcommit);
}

static bool begins(const std::string &line, const std::string &with) {
  return line.compare(0, with.size(), with) == 0;
}

TEST(HeapShortageTest, AFallbackIsToldOnceWithCauseAndFix) {
  if (!hasPool())
    GTEST_SKIP() << "no pool of large pages";
  for (auto [used, what] :
       {std::pair(Source::normal, "on normal pages (more TLB misses): "),
        std::pair(Source::thp, "on transparent huge pages (only a request: the "
                               "kernel may use normal ones): ")}) {
    StderrLines lines;
    Messages messages;
    for (int i = 0; i < 3; ++i)
      reportHeapFallback(wanted, withPool, used, ENOMEM, messages);
    auto said = lines.drain();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(begins(said[0], "mpg: heap: 64 MiB now, and "
                                "what comes later, " +
                                    std::string(what)))
        << said[0];
    EXPECT_NE(said[0].find("; fix: "), std::string::npos) << said[0];
  }
}

TEST(HeapShortageTest, WithoutAnyPoolTransparentPagesAreNoNews) {
  StderrLines lines;
  Messages messages;
  for (int i = 0; i < 100; ++i)
    reportHeapFallback(wanted, withoutPool, Source::thp, ENOMEM, messages);
  EXPECT_TRUE(lines.drain().empty());
}

/// In a child, because the sum over the process counts.
static void growOnNormalPages() {
  Messages messages;
  auto grow = [&] {
    StderrLines lines;
    reportHeapFallback(withoutPool, withoutPool, Source::normal, ENOMEM,
                       messages);
    return lines.drain();
  };
  for (int i = 0; i < 2; ++i)
    if (!grow().empty())
      _exit(1);
  // The report has a reason for it all the same.
  if (!strstr(heapFallbackReason(), "; fix: "))
    _exit(4);
  auto said = grow();
  if (said.size() != 1 || !begins(said[0], "mpg: heap: 4 MiB now") ||
      said[0].find("no pages of 4 MiB; fix: ") == std::string::npos)
    _exit(2);
  _exit(grow().empty() ? 0 : 3);
}

TEST(HeapShortageDeathTest, WithoutAnyPoolASmallHeapIsNoNews) {
  EXPECT_EXIT(growOnNormalPages(), testing::ExitedWithCode(0), "");
}

// Mode thp: the pool has no part in it.
TEST(HeapShortageTest, WhereThePoolWasNotAskedItIsNotTheCause) {
  StderrLines lines;
  Messages messages;
  reportHeapFallback(wanted, withPool, Source::normal, 0, messages);
  auto said = lines.drain();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(begins(said[0], "mpg: heap: 64 MiB now, and what comes later, "
                              "on normal pages"))
      << said[0];
  EXPECT_EQ(said[0].find("the pool of 2 MiB"), std::string::npos) << said[0];
  // The cause depends on settings and free memory.
  EXPECT_NE(said[0].find("; fix: "), std::string::npos) << said[0];
}

TEST(HeapShortageTest, ARefusalIsToldOnceWithTheSetting) {
  StderrLines lines;
  Messages messages;
  for (int i = 0; i < 3; ++i)
    reportHeapRefusal(wanted, withPool, ENOMEM, messages);
  auto said = lines.drain();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(begins(said[0], "mpg: heap: malloc returns NULL for 64 MiB "
                              "(XOS_MMM_L_HUGETLB_FALLBACK=0"))
      << said[0];
  EXPECT_NE(said[0].find("; fix: "), std::string::npos) << said[0];
}

TEST(HeapShortageTest, AnotherRankSpeaksForThisOne) {
  StderrLines lines;
  Messages messages;
  messages.start(/*speaks=*/false, -1);
  reportHeapFallback(wanted, withPool, Source::normal, ENOMEM, messages);
  reportHeapRefusal(wanted, withPool, ENOMEM, messages);
  EXPECT_TRUE(lines.drain().empty());
}
