// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and threads of measurements, on the machine that runs the tests. Tests
// that depend on a node's state use made-up nodes. No test measures time.

#include "mpgbench/Run/BenchMemory.h"
#include "Measure/MachineLoad.h"
#include "Support/Format.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace mpg;

namespace {

constexpr uint64_t gigabyte = 1 << 30;

HugePool pool(uint64_t pageBytes, uint64_t total, uint64_t free,
              uint64_t reserved = 0, uint64_t surplus = 0,
              uint64_t overcommit = 0) {
  return {pageBytes, total, free, reserved, surplus, overcommit};
}

/// 4 KiB pages, transparent ones on request, 4 GiB free, and \p pools.
Node nodeWith(std::vector<HugePool> pools) {
  Node node;
  node.pages.baseBytes = uint64_t(4096);
  node.pages.pools = std::move(pools);
  node.pages.availableBytes = 4 * gigabyte;
  node.transparent.present = true;
  node.transparent.enabled = std::string("madvise");
  node.transparent.pageBytes = largePageBytes;
  return node;
}

std::string kindNames(const Node &node) {
  std::string names;
  for (const PageKind &kind : pageKinds(node))
    names += kind.name + " ";
  return names;
}

std::string whyNot(const Node &node, const char *name, uint64_t bytes) {
  for (const PageKind &kind : pageKinds(node))
    if (kind.name == name)
      return whyNotNow(node, kind, bytes);
  return "no such kind";
}

std::string baseName() { return sizeName(uint64_t(sysconf(_SC_PAGESIZE))); }

} // namespace

TEST(BenchPages, NamesOfSizesCanBeReadBack) {
  EXPECT_EQ(sizeName(4096), "4K");
  EXPECT_EQ(sizeName(2 << 20), "2M");
  EXPECT_EQ(sizeName(gigabyte), "1G");
  EXPECT_EQ(sizeName(1536), "1536");
  EXPECT_EQ(sizeName(1536 << 10), "1536K");
  for (uint64_t bytes : {uint64_t(1), uint64_t(1023), uint64_t(64 << 10),
                         uint64_t(3) << 40, UINT64_MAX})
    EXPECT_EQ(parseBytes(sizeName(bytes)), bytes);
}

TEST(BenchPages, KindsThatMatterAreNamedEvenIfTheKernelHasNone) {
  EXPECT_EQ(kindNames(nodeWith({pool(gigabyte, 0, 0), pool(2 << 20, 0, 0)})),
            "4K THP 2M 1G ");
  // This kernel's default large page is none of our kinds. HW:huge-sizes-64k
  Node node = nodeWith({pool(2 << 20, 0, 0), pool(512 << 20, 9, 9)});
  node.pages.baseBytes = uint64_t(65536);
  node.transparent.present = false;
  EXPECT_EQ(kindNames(node), "64K THP 2M ");
  EXPECT_EQ(whyNot(node, "THP", 1),
            "this kernel has no transparent huge pages");
  EXPECT_EQ(kindNames(nodeWith({})), "4K THP 2M ");
  EXPECT_EQ(whyNot(nodeWith({}), "2M", 1),
            "this kernel has no large pages of 2 MiB");
  // Nothing is known if /sys is hidden.
  Node hidden;
  hidden.pages.pools.unknown = "no /sys";
  hidden.transparent.present.unknown = "no /sys";
  EXPECT_EQ(whyNot(hidden, "2M", 1), "no /sys");
  EXPECT_EQ(whyNot(hidden, "THP", 1),
            "whether there are transparent huge pages is not known: no /sys");
}

TEST(BenchPages, AShortPoolSaysHowShortAndWhatHelps) {
  struct Case {
    HugePool pool;
    uint64_t bytes;
    const char *why;
  };
  const Case cases[] = {
      {pool(2 << 20, 512, 512), gigabyte, ""},
      {pool(2 << 20, 512, 512), gigabyte + 1,
       "513 pages of 2 MiB are needed, "
       "and 512 of 512 are free"},
      {pool(2 << 20, 0, 0), 1, "1 page of 2 MiB is needed, and 0 of 0"},
      // Promised to others.
      {pool(2 << 20, 512, 512, 500), 26 << 20, "and 12 of 512 are free"},
      {pool(2 << 20, 512, 512, 500), 24 << 20, ""},
      // May still grow, by what of that has not been used.
      {pool(2 << 20, 10, 10, 0, 6, 8), 24 << 20, ""},
      {pool(2 << 20, 10, 10, 0, 6, 8), 26 << 20, "13 pages"},
      // Numbers that contradict each other must not wrap round.
      {pool(2 << 20, 4, 1, 9, 9, 3), 2 << 20, "and 0 of 4 are free"},
  };
  for (const Case &test : cases) {
    std::string why = whyNot(nodeWith({test.pool}), "2M", test.bytes);
    if (*test.why == 0)
      EXPECT_EQ(why, "");
    else
      EXPECT_NE(why.find(test.why), std::string::npos) << why;
  }
  EXPECT_NE(whyNot(nodeWith({pool(2 << 20, 512, 12)}), "2M", 26 << 20)
                .find("echo 513 > /sys/kernel/mm/hugepages/hugepages-2048kB/"),
            std::string::npos);
  EXPECT_NE(whyNot(nodeWith({pool(gigabyte, 0, 0)}), "1G", 1)
                .find("echo 1 > /sys/kernel/mm/hugepages/hugepages-1048576kB/"),
            std::string::npos);
}

TEST(BenchPages, LimitsOfTheNodeAreReasonsToo) {
  Node node = nodeWith({pool(2 << 20, 512, 512)});
  EXPECT_EQ(whyNot(node, "THP", gigabyte), "");
  EXPECT_NE(whyNot(node, "4K", 5 * gigabyte).find("5 GiB of memory"),
            std::string::npos);
  node.transparent.enabled = std::string("never");
  EXPECT_NE(whyNot(node, "THP", gigabyte).find("echo madvise > /sys"),
            std::string::npos);
  EXPECT_EQ(whyNot(node, "4K", gigabyte), "");
  GroupLimit limit;
  limit.file = "/sys/fs/cgroup/hugetlb.2MB.max";
  limit.limitBytes = uint64_t(64 << 20);
  limit.usageBytes = uint64_t(0);
  node.cgroups.largePages.limits = {limit};
  EXPECT_EQ(whyNot(node, "2M", 64 << 20), "");
  EXPECT_NE(whyNot(node, "2M", 66 << 20).find(limit.file), std::string::npos);
}

TEST(BenchPages, NineOfTenBytesMustLieOnThePagesThatWereAskedFor) {
  EXPECT_EQ(checkBackingOn("2M", {10, 0, 90}), "");
  EXPECT_EQ(checkBackingOn("2M", {11, 0, 89}),
            "only 89 B of 100 B lie on 2M pages");
  EXPECT_EQ(checkBackingOn("THP", {0, 90, 10}), "");
  EXPECT_NE(checkBackingOn("THP", {0, 0, 100}), "");
  EXPECT_EQ(checkBackingOn("4K", {100, 0, 0}), "");
  EXPECT_NE(checkBackingOn("4K", {0, 100, 0}), "");
  EXPECT_NE(checkBackingOn("4K", {}), "");
}

// Mappings

TEST(BenchMemory, NeighboursAreToldApart) {
  constexpr size_t bytes = 3 << 20;
  BenchMemory one(bytes, baseName()), two(bytes, baseName());
  ASSERT_EQ(one.error(), "");
  ASSERT_EQ(two.error(), "");
  EXPECT_EQ(uintptr_t(one.as<char>()) % largePageBytes, 0u);
  memset(two.as<char>(), 1, bytes);
  Backing backing;
  one.addBacking(backing);
  EXPECT_EQ(backing.normalBytes, 0u);
  EXPECT_NE(one.checkBacking(), "");
  two.addBacking(backing);
  EXPECT_EQ(backing.normalBytes, bytes);
  EXPECT_EQ(backing.thpBytes + backing.hugetlbBytes, 0u);
  EXPECT_EQ(two.checkBacking(), "");
  // Only what is present counts.
  memset(one.as<char>(), 1, 1 << 20);
  Backing third;
  one.addBacking(third);
  EXPECT_EQ(third.normalBytes, 1u << 20);
}

TEST(BenchMemory, EachKindIsWhatItSays) {
  Node node = readNode(SysTree("/"));
  constexpr size_t bytes = 5 << 20;
  for (const PageKind &kind : pageKinds(node)) {
    if (kind.pageBytes > 64 << 20 || !whyNotNow(node, kind, bytes).empty())
      continue;
    BenchMemory memory(bytes, kind.name);
    ASSERT_EQ(memory.error(), "") << kind.name;
    memset(memory.as<char>(), 1, bytes);
    Backing backing;
    memory.addBacking(backing);
    // Missing large pages are reported, not claimed.
    if (kind.isTransparent && backing.thpBytes < bytes * 9 / 10) {
      EXPECT_NE(memory.checkBacking(), "");
      continue;
    }
    EXPECT_EQ(memory.checkBacking(), "") << kind.name;
    EXPECT_EQ(backing.hugetlbBytes, kind.isHugetlb ? bytes : 0) << kind.name;
  }
}

TEST(BenchMemory, WhatCannotBeHadIsAnErrorAndNoSignal) {
  struct Case {
    size_t bytes;
    const char *pages, *why;
  };
  std::string base = baseName();
  const Case cases[] = {
      {4096, "3M", "pages=3M: this kernel has "},
      {4096, "", "pages=: this kernel has "},
      {4096, "4K\n", "pages=4K\\x0a"},
      {0, base.c_str(), "0 B"},
      {SIZE_MAX, base.c_str(), "can be measured"},
      {size_t(1) << 60, base.c_str(), "Cannot allocate memory"},
      {size_t(1) << 50, "2M", ""}, // no such pages, or not so many
  };
  for (const Case &test : cases) {
    BenchMemory memory(test.bytes, test.pages);
    EXPECT_NE(memory.error(), "") << test.bytes << " " << test.pages;
    EXPECT_NE(memory.error().find(test.why), std::string::npos)
        << memory.error();
    EXPECT_EQ(memory.as<char>(), nullptr);
    EXPECT_EQ(memory.checkBacking(), memory.error());
    Backing backing;
    memory.addBacking(backing);
    EXPECT_EQ(backing.normalBytes, 0u);
  }
}

TEST(BenchMemory, ThePartOfAnAreaThatWasAskedForCounts) {
  constexpr size_t bytes = 8 << 20;
  void *area = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  madvise(area, bytes, MADV_NOHUGEPAGE);
  memset(area, 1, bytes);
  Backing backing;
  addRangeBacking(static_cast<char *>(area) + (1 << 20), 2 << 20, backing);
  EXPECT_EQ(backing.normalBytes, 2u << 20);
  munmap(area, bytes);
}

// Threads

TEST(RunTogether, EachThreadHasACpuOfItsOwnWhileThereAreEnough) {
  cpu_set_t before, after;
  CPU_ZERO(&before);
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  unsigned cpus = unsigned(CPU_COUNT(&before));
  for (unsigned threads : {1u, cpus, 3 * cpus + 1}) {
    std::vector<std::atomic<int>> runs(threads), getCpu(threads);
    double seconds = runTogether(threads, [&](unsigned thread) {
      cpu_set_t mine;
      CPU_ZERO(&mine);
      sched_getaffinity(0, sizeof(mine), &mine);
      EXPECT_EQ(CPU_COUNT(&mine), 1);
      ++runs[thread];
      getCpu[thread] = sched_getcpu();
    });
    EXPECT_GE(seconds, 0);
    std::set<int> used;
    for (unsigned thread = 0; thread < threads; ++thread) {
      EXPECT_EQ(runs[thread], 1);
      used.insert(getCpu[thread]);
    }
    EXPECT_EQ(used.size(), std::min(threads, cpus));
  }
  CPU_ZERO(&after);
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(RunTogether, TheClockRunsUntilTheLastThreadHasEnded) {
  std::atomic<double> longest{0};
  double seconds = runTogether(3, [&](unsigned thread) {
    double start = nowSeconds();
    if (thread == 2)
      usleep(5000);
    if (thread == 2)
      longest = nowSeconds() - start;
  });
  EXPECT_GE(seconds, longest);
}

TEST(MeasureRepeats, TheMedianWithoutTheWarmUp) {
  WorkerResult result;
  const double seconds[] = {100, 3, 1, 2};
  unsigned calls = 0;
  measureRepeats(result, 3, [&] { return seconds[calls++]; });
  EXPECT_EQ(calls, 4u);
  EXPECT_EQ(result.value, 2);
}

TEST(MeasureRepeats, EndsAtTheFirstError) {
  WorkerResult result;
  unsigned calls = 0;
  measureRepeats(result, 5, [&] {
    if (++calls == 3)
      result.error = "no more";
    return 1.0;
  });
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ(result.value, 0);
}
