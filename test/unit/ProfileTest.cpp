// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page fault belongs to the block that was there at its time, and what a
// program wrote into the table of its blocks is not believed.

#include "Profile/Profile.h"
#include "Process/StateFile.h"
#include "Profile/ProfileTable.h"
#include "mpg/state.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <cstddef>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t MiB = 1 << 20;

TEST(Profile, faultsBelongToTheBlockOfTheirTime) {
  // Two sites one after the other in one place, one beside them.
  std::vector<mpg_profile_block> blocks = {
      {16 * MiB, 4 * MiB, 100, 200, 0, 0, 0},
      {16 * MiB, 2 * MiB, 300, 0, 1, 0, 0},
      {32 * MiB, MiB, 50, 0, 2, 0, 0}};
  ProfileFaults faults;
  faults.add({{350, 16 * MiB + 5, 13, 7},
              {150, 19 * MiB, 13, 7},
              {100, 16 * MiB, 13, 8},
              {200, 16 * MiB, 13, 8},
              {250, 16 * MiB, 13, 7},
              {350, 18 * MiB, 13, 7},
              {60, 33 * MiB - 1, 13, 9},
              {40, 32 * MiB, 13, 9}},
             blocks);
  EXPECT_EQ(faults.all(), 8u * 13);
  EXPECT_EQ(faults.atSite(0).faults, 3u * 13);
  EXPECT_EQ(faults.atSite(0).threads[8], 2u * 13);
  EXPECT_EQ(faults.atSite(1).faults, 13u);
  EXPECT_EQ(faults.atSite(2).faults, 13u);
  EXPECT_EQ(faults.within(16 * MiB, 20 * MiB).faults, 2u * 13);
  EXPECT_EQ(faults.within(32 * MiB, 33 * MiB).threads[9], 13u);
  EXPECT_EQ(faults.within(0, UINT64_MAX).faults, 3u * 13);
  EXPECT_EQ(faults.atSite(3).faults, 0u);
}

TEST(Profile, threadsAreNamedByTheirShare) {
  FaultCount count;
  count.add(7, 13);
  EXPECT_EQ(describeThreads(count, 7), "main");
  EXPECT_EQ(describeThreads(count, 6), "thread 7");
  count.add(8, 13);
  EXPECT_EQ(describeThreads(count, 7), "2 threads");
  count.add(7, 13 * 2);
  EXPECT_EQ(describeThreads(count, 7), "2 threads, main 75 %");
  count.add(7, 13 * 200);
  EXPECT_EQ(describeThreads(count, 7), "main"); // a page of many
}

/// A program with one array that main has filled; \p baseBytes on base pages.
static Profile makeProfile(uint64_t baseBytes) {
  Profile profile;
  profile.isMeasured = true;
  profile.program = "./app";
  profile.firstThread = 7;
  ProfileObject object;
  object.region = RunRegion::heap;
  object.name = "makeMatrix+0x4";
  object.bytes = object.peakBytes = object.lookedBytes = 64 * MiB;
  object.pages.emplace();
  object.pages->usedBytes = 64 * MiB;
  object.pages->hugeBytes = 64 * MiB - baseBytes;
  object.faults.add(7, 13);
  profile.objects.push_back(object);
  return profile;
}

/// Of a run with libmpg that had \p regions parts, of which the first is the
/// heap.
static RunReport makeReport(size_t regions) {
  RunReport report;
  report.hasState = true;
  report.mode = "auto";
  report.regions.resize(regions);
  report.regions[0].region = RunRegion::heap;
  return report;
}

TEST(Profile, adviceNamesWhatLiesOnOneNode) {
  RunReport report = makeReport(2);
  report.regions[0].bytes = 64 * MiB;
  report.regions[0].nodes = {64 * MiB, 0};
  report.regions[1].region = RunRegion::threadStack;
  report.regions[1].nodes = {0, 64 << 10};
  std::vector<AdviceLine> lines = adviseNext(report, makeProfile(0), "./app");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text,
            "64 MiB of heap (makeMatrix+0x4) lie on node 0, and threads run on "
            "others: initialise them in the threads that use them, or spread "
            "them");
  EXPECT_EQ(lines[1].command, "mpgrun --compare -- ./app");
  // Stacks that each thread has on its node need no advice.
  report.regions[0].nodes = {32 * MiB, 32 * MiB};
  EXPECT_EQ(adviseNext(report, makeProfile(0), "./app").size(), 1u);
}

TEST(Profile, adviceHasTheReason) {
  RunReport report = makeReport(2);
  report.regions[0].bytes = 16 * MiB;
  report.regions[0].reason = "the pool is empty";
  // Of a few bytes.
  report.regions[1].region = RunRegion::heap;
  report.regions[1].reason = "another";
  std::vector<AdviceLine> lines =
      adviseNext(report, makeProfile(16 * MiB), "./app");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, "16 MiB (makeMatrix+0x4) are on base pages: the "
                           "pool is empty");
  EXPECT_EQ(lines[0].command, "mpginfo");
  // Its remedy is what to do.
  report.regions[0].reason = "the program has forked; fix: vfork() instead";
  lines = adviseNext(report, makeProfile(16 * MiB), "./app");
  EXPECT_EQ(lines[0].text, "16 MiB (makeMatrix+0x4) are on base pages: the "
                           "program has forked");
  EXPECT_EQ(lines[0].command, "vfork() instead");
  // The edges of a region alone cause no advice.
  EXPECT_EQ(adviseNext(report, makeProfile(3 * MiB), "./app").size(), 1u);
}

TEST(Profile, adviceOnMappingsIsGivenOnce) {
  RunReport report = makeReport(1);
  Profile profile = makeProfile(64 * MiB);
  ProfileObject &object = profile.objects[0];
  object.region = RunRegion::mmap;
  object.name = "0x7f0000000000";
  std::vector<AdviceLine> lines = adviseNext(report, profile, "./app");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].command, "MPG_MMAP=thp mpgrun ./app");
  EXPECT_EQ(lines[1].command, "MPG_MMAP=thp mpgrun --compare -- ./app");
  report.asksForOwnMaps = true;
  lines = adviseNext(report, profile, "./app");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].command, "MPG_MMAP=thp mpgrun --compare -- ./app");
  // Nor can it do anything for what is a file's.
  report.asksForOwnMaps = false;
  object.name = "/usr/lib/sbcl/sbcl.core";
  lines = adviseNext(report, profile, "./app");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].command, "mpgrun --compare -- ./app");
}

TEST(Profile, aLongNameLosesTheArgumentsOfTemplatesFirst) {
  Profile profile = makeProfile(0);
  profile.objects[0].name =
      "Array<double, std::allocator<double>>::resize+0x5a";
  std::string text;
  raw_string_ostream out(text);
  writeProfileText(out, profile);
  EXPECT_NE(text.find(" Array::resize+0x5a "), std::string::npos) << text;
  profile.objects[0].name = "Short<int>::grow+0x1";
  text.clear();
  writeProfileText(out, profile);
  EXPECT_NE(text.find(" Short<int>::grow+0x1 "), std::string::npos) << text;
}

TEST(Profile, onlyThePageHasAllCallersAndLongNamesOfFiles) {
  Profile profile = makeProfile(0);
  ProfileObject &object = profile.objects[0];
  object.callers = {"f+0x1", "a+0x1", "b+0x1", "c+0x1", "last+0x1"};
  object.name = "table";
  object.file = "libwithaverylongnameofitsown.so.1.2.3";
  object.blocks = 0;
  std::string text, page;
  raw_string_ostream out(text), pageOut(page);
  writeProfileText(out, profile);
  writeProfileHtml(pageOut, profile);
  EXPECT_NE(text.find("from a+0x1, b+0x1, c+0x1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(object.file), std::string::npos) << text;
  EXPECT_NE(page.find(", <code>last+0x1</code>"), std::string::npos) << page;
  EXPECT_NE(page.find(object.file), std::string::npos) << page;
}

/// Half of the frames accessed, and of each \p accessed bytes, in two
/// intervals.
static AccessCount halfHot(uint64_t accessed) {
  AccessCount count;
  count.intervals = 2;
  count.bytes = count.presentBytes = 128 * MiB;
  count.frames = 64;
  count.hotFrames = {32};
  count.accessedInFrames = count.accessedBytes = 32 * accessed;
  return count;
}

TEST(Profile, sharesOfCodeAddUp) {
  Profile profile;
  profile.codeSamples = 100;
  for (const char *name : {"a", "b", "c", "d"}) {
    profile.objects.emplace_back();
    profile.objects.back().region = RunRegion::text;
    profile.objects.back().name = name;
    profile.objects.back().codeSamples = 20;
  }
  EXPECT_EQ(describeCode(profile),
            "a 20 %, b 20 %, c 20 %, d 20 %, other code 20 %; of 100 samples");
  profile.objects.push_back(profile.objects.back());
  EXPECT_EQ(describeCode(profile),
            "a 20 %, b 20 %, c 20 %, d 20 %, other code 20 %; of 100 samples")
      << "a fifth file has no name";
}

TEST(Profile, skewIsOfFramesThatAreAccessed) {
  AccessCount quarter = halfHot(MiB / 2);
  EXPECT_EQ(quarter.hotFramePercent(), 50.0);
  EXPECT_EQ(quarter.skewPercent(), 75.0);
  EXPECT_EQ(quarter.hotBloatBytes(), 24 * MiB); // three quarters of 32 MiB
  EXPECT_EQ(describeAccesses(quarter),
            "sparse: large pages would hold 24 MiB beside it");
  EXPECT_EQ(describeAccesses(halfHot(2 * MiB)), "dense");
  // Two of 64, then none, and the figures of a mapping alone.
  AccessCount cold = halfHot(MiB);
  cold.hotFrames = {0, 2};
  EXPECT_EQ(describeAccesses(cold), "cold: deserves no large pages");
  cold.hotFrames = {};
  EXPECT_EQ(cold.skewPercent(), std::nullopt);
  EXPECT_TRUE(isCold(cold));
  cold.foreignBytes = 100 * MiB;
  EXPECT_EQ(describeAccesses(cold), "of its whole mapping");
  EXPECT_EQ(describeAccesses(AccessCount()), "");
  EXPECT_FALSE(isCold(AccessCount()) || isSparse(AccessCount()));
}

/// Removes all translations from the TLB, which hides accesses.
static void emptyTlb(char *start, size_t bytes) {
  ASSERT_EQ(mprotect(start, bytes, PROT_READ), 0);
  ASSERT_EQ(mprotect(start, bytes, PROT_READ | PROT_WRITE), 0);
}

TEST(Profile, theWorkingSetIsWhatWasAccessedInBetween) {
  WorkingSet set(-1);
  EXPECT_NE(set.missing(), "");
  // A mapping of two frames between inaccessible memory.
  constexpr size_t frame = 2 * MiB, all = 6 * frame;
  void *mapped =
      mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  uint64_t first = alignTo(uintptr_t(mapped), frame) + frame;
  char *array = reinterpret_cast<char *>(uintptr_t(first));
  ASSERT_EQ(mprotect(array, 2 * frame, PROT_READ | PROT_WRITE), 0);
  madvise(array, 2 * frame, MADV_NOHUGEPAGE);
  memset(array, 1, 2 * frame);
  set.start();
  set.inspect(getpid(), false);
  if (set.intervals() == 0 || !set.missing().empty())
    GTEST_SKIP() << set.missing();
  AccessCount count = set.within(first, first + 2 * frame);
  EXPECT_EQ(count.accessedBytes, 2 * frame); // it was filled
  emptyTlb(array, 2 * frame);
  memset(array, 2, MiB);
  set.inspect(getpid(), false);
  count = set.within(first, first + 2 * frame);
  EXPECT_EQ(count.intervals, 1u); // that one counts no more
  EXPECT_EQ(count.presentBytes, 2 * frame);
  EXPECT_EQ(count.accessedBytes, MiB);
  EXPECT_FALSE(count.isOfMapping());
  // Half of the mapping, by its share.
  EXPECT_EQ(set.within(first, first + frame).accessedBytes, MiB / 2);
  EXPECT_EQ(set.within(first + 2 * frame, first + 3 * frame).bytes, 0u);
  munmap(mapped, all);
}

TEST(Profile, whatIsFilledLaterCountsFromThenOn) {
  constexpr size_t frame = 2 * MiB;
  void *mapped = mmap(nullptr, 3 * frame, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  uint64_t first = alignTo(uintptr_t(mapped), frame);
  char *array = reinterpret_cast<char *>(uintptr_t(first));
  madvise(array, 2 * frame, MADV_NOHUGEPAGE);
  madvise(array + frame, frame, MADV_DONTDUMP); // a mapping of its own
  memset(array, 1, frame);
  WorkingSet set(-1);
  set.start();
  set.inspect(getpid(), false);
  memset(array + frame, 1, frame);
  set.inspect(getpid(), false);
  set.inspect(getpid(), false);
  if (set.intervals() == 0 || !set.missing().empty())
    GTEST_SKIP() << set.missing();
  AccessCount count = set.within(first, first + 2 * frame);
  EXPECT_EQ(count.presentBytes / count.intervals, 2 * frame);
  munmap(mapped, 3 * frame);
}

TEST(Profile, whatIsColdIsNotAskedFor) {
  RunReport report;
  report.mode = "none";
  report.hasState = true;
  Profile profile = makeProfile(64 * MiB);
  profile.objects[0].accesses = halfHot(2 * MiB);
  EXPECT_EQ(adviseNext(report, profile, "./app")[0].command,
            "mpgrun --mode=thp ./app");
  profile.objects[0].accesses.hotFrames = {};
  std::vector<AdviceLine> lines = adviseNext(report, profile, "./app");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text,
            "64 MiB (makeMatrix+0x4) are hardly accessed: the pool need not "
            "hold large pages for them");
}

template <typename Value>
static void writeAt(int fd, size_t offset, const Value &value) {
  ASSERT_EQ(
      pwrite(fd, &value, sizeof(value), off_t(MPG_STATE_PROFILE + offset)),
      ssize_t(sizeof(value)));
}

TEST(Profile, aTableIsNotBelieved) {
  int fd = makeStateFile();
  EXPECT_EQ(readProfileTable(fd).sites.size(), 0u); // there is none yet
  ASSERT_TRUE(addProfileTable(fd));
  EXPECT_EQ(readProfileTable(fd).sites.size(), 0u);
  writeAt(fd, offsetof(mpg_profile, siteCount), uint32_t(1));
  writeAt(fd, offsetof(mpg_profile, blockCount), UINT32_MAX);
  mpg_profile_block good = {MiB, MiB, 5, 0, 1, 0, 0}, noSite = good,
                    wrongSite = good, tooLong = good;
  noSite.site = 0;
  wrongSite.site = 2;
  tooLong.bytes = UINT64_MAX;
  size_t at = offsetof(mpg_profile, blocks);
  for (const mpg_profile_block &block : {noSite, good, wrongSite, tooLong}) {
    writeAt(fd, at, block);
    at += sizeof(block);
  }
  ProfileTable table = readProfileTable(fd);
  ASSERT_EQ(table.sites.size(), 1u);
  ASSERT_EQ(table.blocks.size(), 1u);
  EXPECT_EQ(table.blocks[0].start, MiB);
  EXPECT_EQ(table.blocks[0].site, 0u);
  writeAt(fd, offsetof(mpg_profile, siteCount), UINT32_MAX);
  EXPECT_EQ(readProfileTable(fd).sites.size(), size_t(MPG_PROFILE_SITES));
  close(fd);
  EXPECT_EQ(readProfileTable(-1).blocks.size(), 0u);
}
