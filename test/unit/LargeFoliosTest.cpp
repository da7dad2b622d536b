// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transparent pages of 2 MiB on base pages of 64 KiB, which smaps does not
// report: counted from frames, and "not known" where those are hidden.

#include "Process/RunReport.h"
#include "Process/Smaps.h"
#include "gtest/gtest.h"
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t base = 64 << 10, mib2 = 2 << 20, start = 0x40000000;
static constexpr uint64_t head = 1 << 15 | 1 << 22, tail = 1 << 16 | 1 << 22;

namespace {

/// Memory of a process: the frame of each base page, 0: absent; and the entries
/// of /proc/kpageflags.
struct Memory {
  std::vector<uint64_t> frames;
  std::map<uint64_t, uint64_t> flags;
  bool isHidden = false;

  /// A page of \p bytes, or a part of it, on frames from \p first on.
  void add(uint64_t first, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes / base; ++i) {
      frames.push_back(first + i);
      flags[first + i] = bytes == base ? 0 : i ? tail : head;
    }
  }
  void skip(uint64_t bytes) { frames.resize(frames.size() + bytes / base); }

  std::optional<uint64_t>
  count(uint64_t from, uint64_t to,
        decltype(countLargeFolios) *countFolios = countLargeFolios) const {
    return countFolios(
        from, to, base,
        [&](uint64_t first, MutableArrayRef<uint64_t> words) {
          for (uint64_t &word : words) {
            uint64_t frame = frames.at(first++ - start / base);
            word = frame ? uint64_t(1) << 63 | (isHidden ? 0 : frame) : 0;
          }
          return true;
        },
        [&](uint64_t first, MutableArrayRef<uint64_t> words) {
          for (uint64_t &word : words)
            word = flags.at(first++);
          return true;
        });
  }
  std::optional<uint64_t> count() const {
    return count(start, start + frames.size() * base);
  }
  std::optional<uint64_t> countMiddle() const {
    return count(start, start + frames.size() * base, countMiddleFolios);
  }
};

} // namespace

TEST(LargeFolios, CountsPiecesThatAreOneLargePage) {
  Memory memory;
  memory.add(32 * 5, mib2);
  for (unsigned i = 0; i < 32; ++i) // the same frames, one by one
    memory.add(32 * 6 + i, base);
  memory.add(32 * 8, 4 * mib2); // larger ones
  memory.add(32 * 20, mib2 / 2);
  memory.add(32 * 20 + 16, mib2 / 2); // two small ones side by side
  memory.add(32 * 30 + 1, mib2);      // not where one entry could map it
  memory.skip(mib2);
  memory.add(32 * 40, mib2);
  EXPECT_EQ(memory.count(), 6 * mib2);
  // Only whole pieces.
  EXPECT_EQ(memory.count(start + base, start + mib2), 0u);
  EXPECT_EQ(memory.count(start, start + mib2 - base), 0u);
  EXPECT_EQ(memory.count(start, start), 0u);
}

TEST(LargeFolios, HiddenFramesAreNotKnown) {
  Memory memory;
  memory.add(32, mib2);
  memory.isHidden = true;
  EXPECT_FALSE(memory.count());
}

TEST(LargeFolios, CountsWhatIsBetweenBaseAndLarge) {
  Memory memory;
  memory.add(32 * 5, mib2);
  memory.add(32 * 7 + 8, 8 * base);
  memory.add(32 * 9 + 3, base);
  memory.skip(3 * base);
  memory.add(32 * 11, 4 * base);
  EXPECT_EQ(memory.countMiddle(), 12 * base);
  memory.isHidden = true;
  EXPECT_FALSE(memory.countMiddle());
}

TEST(LargeFolios, SwitchesSayWhetherThereAreSizesBetween) {
  TransparentFacts facts;
  facts.present = true;
  facts.enabled = std::string("madvise");
  facts.pageBytes = mib2;
  facts.sizes = {{64 << 10, std::string("never")},
                 {mib2, std::string("inherit")}};
  EXPECT_FALSE(mayHaveMiddle(facts));
  facts.sizes[0].enabled = std::string("inherit");
  EXPECT_TRUE(mayHaveMiddle(facts));
}

TEST(LargeFolios, SwitchesSayWhetherThereCanBeAny) {
  TransparentFacts facts;
  facts.present = true;
  facts.enabled = std::string("madvise");
  facts.pageBytes = uint64_t(512) << 20;
  facts.sizes = {{1 << 20, std::string("always")},
                 {mib2, std::string("never")},
                 {512 << 20, std::string("inherit")}};
  EXPECT_FALSE(mayBeUncounted(facts, base, true));
  facts.sizes[1].enabled = std::string("inherit");
  EXPECT_TRUE(mayBeUncounted(facts, base, true));
  EXPECT_FALSE(mayBeUncounted(facts, base, false));
  facts.sizes[1].enabled = std::string("always");
  EXPECT_TRUE(mayBeUncounted(facts, base, false));
  // On base pages of 4 KiB smaps counts those of 2 MiB.
  EXPECT_FALSE(mayBeUncounted(facts, 4096, true));
}

TEST(LargeFolios, NotKnownIsNeverZeroPercent) {
  MappedArea area;
  area.start = start;
  area.end = start + 16 * mib2;
  area.readable = area.writable = true;
  area.pageBytes = base;
  area.residentBytes = area.unknownBytes = 16 * mib2;
  RunReport report;
  report.program = "app";
  report.mode = "thp";
  report.measured = report.hasState = report.ownHeap = true;
  report.regions =
      classifyAreas({area}, {}, HeapRange{area.start, area.end, area.end});
  EXPECT_TRUE(findMissing(report).empty());
  std::string text, json;
  raw_string_ostream out(text), jsonOut(json);
  writeRunText(out, report);
  writeRunJson(jsonOut, report);
  EXPECT_NE(text.find("heap             32 MiB       not known"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("kpageflags"), std::string::npos) << text;
  EXPECT_EQ(text.find('%'), std::string::npos) << text;
  EXPECT_NE(json.find("\"unknown_bytes\": 33554432"), std::string::npos);
  // A page that smaps does count has its own size.
  area.unknownBytes = 0;
  area.addThp(512 << 20, upperPageBytes(base));
  report.regions = classifyAreas({area}, {}, {});
  EXPECT_EQ(report.regions[0].pageBytes, uint64_t(512) << 20);
}

// The kernel's own pages, where it counts them as well: base pages of 4 KiB.
TEST(LargeFolios, AgreesWithSmapsWhereThatCounts) {
  int pagemap = open("/proc/self/pagemap", O_RDONLY);
  int frames = open("/proc/kpageflags", O_RDONLY);
  if (frames < 0 || sysconf(_SC_PAGESIZE) != 4096)
    GTEST_SKIP() << "not root, or base pages of another size";
  constexpr size_t bytes = 32 * mib2;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 1, bytes / 2);
  auto reader = [](int file) {
    return [file](uint64_t first, MutableArrayRef<uint64_t> words) {
      ssize_t length = ssize_t(8 * words.size());
      return pread(file, words.data(), size_t(length), off_t(8 * first)) ==
             length;
    };
  };
  for (const MappedArea &area : readSmaps(getpid())) {
    if (uintptr_t(memory) >= area.end ||
        uintptr_t(memory) + bytes <= area.start)
      continue;
    EXPECT_EQ(countLargeFolios(area.start, area.end, 4096, reader(pagemap),
                               reader(frames)),
              area.thpBytes);
  }
  munmap(memory, bytes);
  close(frames);
  close(pagemap);
}
