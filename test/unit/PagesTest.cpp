// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the runtime that find, build, and move memory, on memory of this
// process. Large pages themselves are tested with real programs
// (test/runtime); here the pages are normal ones, so that it runs everywhere.

#include "pages/Pages.h"
#include "base/SelfMaps.h"
#include "pages/PageMap.h"
#include "pages/Shortage.h"
#include "segments/Segments.h"

#include "gtest/gtest.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mpg;

static constexpr size_t mib2 = 2 << 20;

// Arithmetic and parsers

TEST(RangeTest, InnerFrames) {
  struct {
    Range range;
    uintptr_t start, end;
  } cases[] = {
      {{0, 0}, 0, 0},
      {{0, mib2 - 1}, 0, 0},
      {{0, mib2}, 0, mib2},
      {{1, mib2}, 0, 0},
      {{1, 2 * mib2}, mib2, 2 * mib2},
      {{mib2 - 1, 2 * mib2 - 1}, 0, 0},
      {{mib2, 2 * mib2 + 1}, mib2, 2 * mib2},
      {{mib2 + 1, 4 * mib2 - 1}, 2 * mib2, 3 * mib2},
  };
  for (auto &each : cases) {
    Range inner = innerHugeFrames(each.range, mib2);
    EXPECT_EQ(inner.start, each.start) << each.range.start;
    EXPECT_EQ(inner.end, each.end) << each.range.end;
  }
}

TEST(SelfMapsTest, ParsesLines) {
  Mapping mapping;
  ASSERT_TRUE(parseMapping(
      "55d0c8a00000-55d0c8a28000 rw-p 00002000 fe:01 1234     /usr/a b",
      mapping));
  EXPECT_EQ(mapping.range.start, 0x55d0c8a00000u);
  EXPECT_EQ(mapping.range.bytes(), 0x28000u);
  EXPECT_TRUE(mapping.readable && mapping.writable);
  EXPECT_FALSE(mapping.executable || mapping.shared);
  EXPECT_STREQ(mapping.name, "/usr/a b");
  EXPECT_EQ(mapping.inode, 1234u);
  ASSERT_TRUE(parseMapping("1000-2000 r-xs 00000000 00:00 0 ", mapping));
  EXPECT_TRUE(mapping.executable && mapping.shared);
  EXPECT_STREQ(mapping.name, "");
  std::string longName = "1000-2000 ---p 0 0:0 0 /" + std::string(500, 'x');
  ASSERT_TRUE(parseMapping(longName.c_str(), mapping));
  EXPECT_EQ(std::string(mapping.name), "/" + std::string(94, 'x'));
  for (const char *bad : {"", "Rss:  4 kB", "1000", "1000-", "1000-2000",
                          "1000-2000 rw", "-2000 rw-p 0 0:0 0", "xyz"})
    EXPECT_FALSE(parseMapping(bad, mapping)) << bad;
}

TEST(SelfMapsTest, ReadsLinesOfAnyLength) {
  std::string path = testing::TempDir() + "mpg-lines-XXXXXX";
  close(mkstemp(path.data()));
  std::vector<std::string> lines = {"",
                                    "a",
                                    std::string(4095, 'b'),
                                    "c",
                                    std::string(3000, 'd'),
                                    std::string(3000, 'e'),
                                    "without newline"};
  std::ofstream out(path);
  for (size_t i = 0; i < lines.size(); ++i)
    out << lines[i] << (i + 1 < lines.size() ? "\n" : "");
  out.close();
  LineReader reader(path.c_str());
  for (const std::string &line : lines) {
    const char *read = reader.next();
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read, line);
  }
  EXPECT_EQ(reader.next(), nullptr);
  unlink(path.c_str());
  LineReader missing("/nonexistent");
  EXPECT_EQ(missing.next(), nullptr);
  EXPECT_FALSE(missing.opened());
}

/// Whether no mapping has a byte in \p range.
static bool isFree(Range range) {
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping))
    if (mapping.range.overlaps(range))
      return false;
  return true;
}

TEST(SelfMapsTest, FindsWhatIsMapped) {
  static int variable;
  Mapping mapping;
  ASSERT_TRUE(findMapping(uintptr_t(&variable), mapping));
  EXPECT_TRUE(mapping.writable);
  EXPECT_FALSE(isFree(mapping.range));
  // Not the address of a variable: sanitizers keep those somewhere else.
  ASSERT_TRUE(findMapping(uintptr_t(__builtin_frame_address(0)), mapping));
  EXPECT_STREQ(mapping.name, "[stack]");
  void *page =
      mmap(nullptr, mib2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uintptr_t at = uintptr_t(page);
  EXPECT_FALSE(isFree({at + mib2 - 1, at + mib2}));
  munmap(page, mib2);
  EXPECT_TRUE(isFree({at, at + 4096}));
}

TEST(SelfMapsTest, SmallFilesAndThreads) {
  char text[8];
  EXPECT_LT(readSmallFile("/nonexistent", text, sizeof text), 0);
  EXPECT_EQ(readSmallFile("/proc/self/stat", text, sizeof text), 7);
  EXPECT_EQ(text[7], 0);
  EXPECT_EQ(readNumber("/nonexistent", 17), 17u);
  EXPECT_EQ(readNumber("/proc/self/comm", 17), 17u); // no number
  unsigned before = threadCount();
  EXPECT_GE(before, 1u);
  unsigned with = 0;
  std::thread([&] { with = threadCount(); }).join();
  EXPECT_EQ(with, before + 1);
}

TEST(ShortageTest, PoolArithmetic) {
  Pool pool;
  pool.total = 10, pool.free = 7, pool.reserved = 3;
  EXPECT_EQ(pool.available(), 4u);
  pool.overcommit = 5, pool.surplus = 2;
  EXPECT_EQ(pool.available(), 7u);
  pool.reserved = 9; // the numbers are read one after the other
  EXPECT_EQ(pool.available(), 3u);
  EXPECT_FALSE(readPool(3 << 20).exists);
}

// Frames that may be moved

namespace {

struct Layout {
  Segment segment;
  uintptr_t brk = 0;
  std::vector<Mapping> mappings;

  Layout(uintptr_t start, uintptr_t end) { segment.range = {start, end}; }
  Layout &map(uintptr_t start, uintptr_t end, const char *protection) {
    Mapping mapping = {};
    mapping.range = {start, end};
    mapping.readable = protection[0] == 'r';
    mapping.writable = protection[1] == 'w';
    mapping.executable = protection[2] == 'x';
    mapping.shared = protection[3] == 's';
    mappings.push_back(mapping);
    return *this;
  }
  /// "2-4 6-7": in frames.
  std::string movable() const {
    MovableFinder finder(segment, mib2, 4096, brk);
    for (const Mapping &mapping : mappings)
      finder.see(mapping);
    finder.finish();
    std::string text;
    for (unsigned i = 0; i < finder.count; ++i)
      text += (i ? " " : "") + std::to_string(finder.ranges[i].start / mib2) +
              "-" + std::to_string(finder.ranges[i].end / mib2);
    return text;
  }
};

} // namespace

static constexpr uintptr_t g(double frames) { return uintptr_t(frames * mib2); }

TEST(MovableTest, AlignedSegmentIsMovedWhole) {
  EXPECT_EQ(Layout(g(2), g(6)).map(g(2), g(6), "rw-p").movable(), "2-6");
}

TEST(MovableTest, SharedFramesStay) {
  Layout layout(g(2.5), g(5.5));
  layout.map(g(1), g(2.5), "r-xp").map(g(2.5), g(5.5), "rw-p");
  EXPECT_EQ(Layout(layout).map(g(5.5), g(7), "rw-p").movable(), "3-5");
  // Nobody is behind it: its last frame is its own.
  EXPECT_EQ(layout.movable(), "3-6");
  // The heap of brk begins there.
  layout.brk = g(5.5);
  EXPECT_EQ(layout.movable(), "3-5");
  layout.brk = g(5.75);
  EXPECT_EQ(layout.movable(), "3-5");
  layout.brk = g(6);
  EXPECT_EQ(layout.movable(), "3-6");
}

TEST(MovableTest, FreeSpaceBelow) {
  Layout layout(g(2.5), g(4));
  layout.map(g(2.5), g(4), "rw-p");
  EXPECT_EQ(layout.movable(), "2-4");
  EXPECT_EQ(Layout(g(2.5), g(4))
                .map(g(2.25), g(2.3), "r--p")
                .map(g(2.5), g(4), "rw-p")
                .movable(),
            "3-4");
}

TEST(MovableTest, ProtectionAsItReallyIs) {
  for (const char *protection : {"r--p", "rwxp", "rw-s", "---p", "-w-p"})
    EXPECT_EQ(Layout(g(2), g(6))
                  .map(g(2), g(3.5), "rw-p")
                  .map(g(3.5), g(3.75), protection)
                  .map(g(3.75), g(6), "rw-p")
                  .movable(),
              "2-3 4-6")
        << protection;
  // A hole in the middle is not filled.
  EXPECT_EQ(Layout(g(2), g(6))
                .map(g(2), g(3.5), "rw-p")
                .map(g(3.75), g(6), "rw-p")
                .movable(),
            "2-3 4-6");
  EXPECT_EQ(Layout(g(2), g(6)).movable(), "");
}

TEST(MovableTest, RelroStaysEvenIfItCanBeWritten) {
  Layout layout(g(2), g(6));
  layout.segment.relro = {g(3.25), g(3.5)};
  layout.map(g(2), g(6), "rw-p");
  EXPECT_EQ(layout.movable(), "2-3 4-6");
  layout.segment.relro = {g(1.5), g(2.5)};
  EXPECT_EQ(layout.movable(), "3-6");
  layout.segment.relro = {g(1), g(2)};
  EXPECT_EQ(layout.movable(), "2-6");
}

TEST(MovableTest, SmallSegments) {
  EXPECT_EQ(Layout(g(2.25), g(2.75))
                .map(g(2), g(2.25), "r-xp")
                .map(g(2.25), g(2.75), "rw-p")
                .movable(),
            "");
  // Half of a large page is worth one, less is not.
  EXPECT_EQ(Layout(g(2.25), g(2.75)).map(g(2.25), g(2.75), "rw-p").movable(),
            "2-3");
  EXPECT_EQ(Layout(g(2.25), g(2.7)).map(g(2.25), g(2.7), "rw-p").movable(), "");
  EXPECT_EQ(Layout(g(2), g(3) + 1).map(g(2), g(3) + 4096, "rw-p").movable(),
            "2-3");
  EXPECT_EQ(Layout(g(2.75), g(4)).map(g(2.75), g(4), "rw-p").movable(), "3-4");
}

// Building and moving

namespace {

/// Both ways of moving.
class MoveTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override { probePages(GetParam()); }
  void TearDown() override { probePages(false); }
};

} // namespace

static char *mapTarget(size_t bytes) {
  Staged staged;
  EXPECT_EQ(buildStaged(Source::normal, bytes, mib2, nullptr, staged), 0);
  return reinterpret_cast<char *>(staged.range.start);
}

TEST_P(MoveTest, MovesContents) {
  for (Source source : {Source::normal, Source::thp}) {
    char *target = mapTarget(2 * mib2);
    target[0] = 1;
    Staged staged;
    ASSERT_EQ(buildStaged(source, 2 * mib2, mib2, nullptr, staged), 0);
    EXPECT_EQ(staged.range.start % mib2, 0u);
    EXPECT_EQ(populate(staged.range, mib2), 2 * mib2);
    uintptr_t old = staged.range.start;
    reinterpret_cast<char *>(old)[0] = 7;
    reinterpret_cast<char *>(old)[2 * mib2 - 1] = 9;
    ASSERT_EQ(moveInto(staged, uintptr_t(target), mib2), 0);
    EXPECT_TRUE(staged.range.empty());
    EXPECT_EQ(target[0], 7);
    EXPECT_EQ(target[2 * mib2 - 1], 9);
    target[mib2] = 5; // it can be written
    EXPECT_TRUE(isFree({old, old + 4096}));
    munmap(target, 2 * mib2);
  }
}

TEST_P(MoveTest, MovesNothingButZeros) {
  char *target = mapTarget(mib2);
  Staged staged;
  ASSERT_EQ(buildStaged(Source::normal, mib2, mib2, nullptr, staged), 0);
  ASSERT_EQ(moveInto(staged, uintptr_t(target), mib2, Contents::zero), 0);
  EXPECT_FALSE(
      PageMap().isTouched({uintptr_t(target), uintptr_t(target) + mib2}));
  for (size_t i = 0; i < mib2; ++i)
    ASSERT_EQ(target[i], 0);
  munmap(target, mib2);
}

INSTANTIATE_TEST_SUITE_P(Ways, MoveTest, testing::Bool());

TEST(PagesTest, PopulateKeepsContentsAndStopsAtAHole) {
  probePages(false);
  char *memory = mapTarget(4 * mib2);
  uintptr_t start = uintptr_t(memory);
  memory[0] = 3;
  munmap(memory + 2 * mib2, mib2);
  EXPECT_EQ(populate({start, start + 4 * mib2}, mib2), 2 * mib2);
  EXPECT_EQ(memory[0], 3);
  EXPECT_TRUE(PageMap().isTouched({start + mib2, start + mib2 + 4096}));
  munmap(memory, 4 * mib2);
}

TEST(PagesTest, TouchedRuns) {
  probePages(false);
  char *memory = mapTarget(6 * mib2);
  madvise(memory, 6 * mib2, MADV_NOHUGEPAGE);
  uintptr_t start = uintptr_t(memory), end = start + 6 * mib2;
  memory[2 * mib2 + 5] = 1;
  memory[4 * mib2 - 1] = 1;
  bool touched;
  EXPECT_EQ(touchedRun({start, end}, mib2, touched), 2 * mib2);
  EXPECT_FALSE(touched);
  EXPECT_EQ(touchedRun({start + 2 * mib2, end}, mib2, touched), 2 * mib2);
  EXPECT_TRUE(touched);
  EXPECT_EQ(touchedRun({start + 4 * mib2, end}, mib2, touched), 2 * mib2);
  EXPECT_FALSE(touched);
  munmap(memory, 6 * mib2);
}

TEST(PagesTest, ReasonAgainstCollapseOfWhatIsNotMapped) {
  void *memory = mmap(nullptr, 2 * mib2, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  uintptr_t start = roundUp(uintptr_t(memory), mib2);
  EXPECT_EQ(munmap(memory, 2 * mib2), 0);
  EXPECT_EQ(collapse({start, start + mib2}), EINVAL);
}

TEST(PagesTest, ShrinkAndDiscard) {
  Staged staged;
  ASSERT_EQ(buildStaged(Source::normal, 4 * mib2, mib2, nullptr, staged), 0);
  Range all = staged.range;
  shrinkStaged(staged, mib2);
  EXPECT_EQ(staged.range.bytes(), mib2);
  EXPECT_TRUE(isFree({all.start + mib2, all.end}));
  discard(staged);
  EXPECT_TRUE(isFree(all));
  discard(staged); // once more is nothing
}

TEST(PagesTest, TooMuchIsAnErrorAndLeavesNothing) {
  Staged staged;
  size_t tooMuch = size_t(1) << 50;
  EXPECT_EQ(buildStaged(Source::normal, tooMuch, mib2, nullptr, staged),
            ENOMEM);
  EXPECT_TRUE(staged.range.empty());
  EXPECT_NE(buildStaged(Source::hugetlb, tooMuch, mib2, nullptr, staged), 0);
  EXPECT_NE(buildStaged(Source::hugetlbFile, tooMuch, mib2, "test", staged), 0);
  EXPECT_EQ(staged.fd, -1);
}
