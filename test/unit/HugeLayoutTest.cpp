// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frame arithmetic: the edges at which a verdict about a program flips, and the
// pair rule against a second opinion that uses no rounding: it marks the large
// pages that a segment touches and looks for a shared one.

#include "Elf/HugeLayout.h"
#include "gtest/gtest.h"
#include <elf.h>
#include <random>
#include <set>

using namespace mpg;

namespace {

constexpr uint64_t mib = uint64_t(1) << 20;
constexpr uint64_t huge = 2 * mib;
constexpr uint32_t readOnly = PF_R, codeFlags = PF_R | PF_X,
                   dataFlags = PF_R | PF_W;

Segment load(uint32_t flags, uint64_t address, uint64_t bytes) {
  return {PT_LOAD, flags, 0, 0, address, bytes, bytes, 4096};
}

Segment relro(uint64_t address, uint64_t bytes) {
  return {PT_GNU_RELRO, PF_R, 0, 0, address, bytes, bytes, 1};
}

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

Pairs overlaps(const std::vector<Segment> &loads, uint64_t hugeBytes = huge) {
  Pairs pairs;
  for (OverlapPair pair : findOverlaps(loads, hugeBytes))
    pairs.push_back({pair.first, pair.second});
  return pairs;
}

} // namespace

TEST(HugeLayout, RoundsToPowersOfTwo) {
  const struct {
    uint64_t value, unit, down, up;
  } cases[] = {
      {0, huge, 0, 0},
      {1, huge, 0, huge},
      {huge - 1, huge, 0, huge},
      {huge, huge, huge, huge},
      {huge + 1, huge, huge, 2 * huge},
      {12345, 1, 12345, 12345},
      {0x404010, 4096, 0x404000, 0x405000},
      {uint64_t(5) << 40, uint64_t(16) << 30, uint64_t(5) << 40,
       uint64_t(5) << 40},
      // No multiple exists above: the result must not wrap to 0.
      {UINT64_MAX, huge, UINT64_MAX - huge + 1, UINT64_MAX - huge + 1},
      {UINT64_MAX - huge + 1, huge, UINT64_MAX - huge + 1,
       UINT64_MAX - huge + 1},
  };
  for (const auto &test : cases) {
    EXPECT_EQ(roundDown(test.value, test.unit), test.down) << test.value;
    EXPECT_EQ(roundUp(test.value, test.unit), test.up) << test.value;
  }
}

TEST(HugeLayout, DataMeetsWhatSharesItsLargePage) {
  // One byte decides: code that ends where the large page of .data begins.
  EXPECT_EQ(
      overlaps({load(codeFlags, 0x400000, huge), load(dataFlags, 0x600000, 1)}),
      Pairs{});
  EXPECT_EQ(overlaps({load(codeFlags, 0x400000, huge + 1),
                      load(dataFlags, 0x600800, 1)}),
            (Pairs{{0, 1}}));
  EXPECT_EQ(
      overlaps({load(codeFlags, 0x400000, 1), load(dataFlags, 0x5fffff, 1)}),
      (Pairs{{0, 1}}));
  EXPECT_EQ(
      overlaps({load(codeFlags, 0x3fffff, 1), load(dataFlags, 0x5fffff, 1)}),
      Pairs{});
  // The same with .data in front.
  EXPECT_EQ(
      overlaps({load(dataFlags, 0x400000, huge), load(codeFlags, 0x600000, 1)}),
      Pairs{});
  EXPECT_EQ(
      overlaps({load(dataFlags, 0x400000, 1), load(codeFlags, 0x5fffff, 1)}),
      (Pairs{{0, 1}}));
}

TEST(HugeLayout, OnlyPairsWithDataCount) {
  EXPECT_EQ(
      overlaps({load(readOnly, 0x400000, 1), load(codeFlags, 0x401000, 1)}),
      Pairs{});
  EXPECT_EQ(
      overlaps({load(dataFlags, 0x400000, 1), load(dataFlags, 0x401000, 1)}),
      (Pairs{{0, 1}}));
  EXPECT_EQ(overlaps({}), Pairs{});
  EXPECT_EQ(overlaps({load(dataFlags, 0x400000, 1)}), Pairs{});
}

TEST(HugeLayout, PairsAreNumberedInTableOrder) {
  std::vector<Segment> lld = {
      load(readOnly, 0x200000, 0x4fc), load(codeFlags, 0x201500, 0x160),
      load(dataFlags, 0x202660, 0x1a0), load(dataFlags, 0x203800, 0x600000)};
  EXPECT_EQ(overlaps(lld), (Pairs{{1, 2}, {2, 3}}));
  // The first segment ends a frame before .data: larger pages reach it.
  std::vector<Segment> spaced = {load(codeFlags, 0x400000, 0x1000),
                                 load(dataFlags, 0x800000, 0x1000)};
  EXPECT_EQ(overlaps(spaced), Pairs{});
  EXPECT_EQ(overlaps(spaced, 32 * mib), (Pairs{{0, 1}}));
}

TEST(HugeLayout, DamagedAddressesDoNotWrap) {
  EXPECT_EQ(overlaps({load(codeFlags, 0x400000, 0x1000),
                      load(dataFlags, UINT64_MAX - 10, 100)}),
            Pairs{});
  EXPECT_EQ(overlaps({load(dataFlags, 0x400000, UINT64_MAX),
                      load(dataFlags, 0x80000000, 100)}),
            (Pairs{{0, 1}}));
}

TEST(HugeLayout, PairRuleIsSharingALargePage) {
  std::mt19937_64 random(20241122);
  auto pick = [&](uint64_t below) { return random() % below; };
  unsigned shared = 0;
  constexpr unsigned cases = 5000;
  for (unsigned i = 0; i < cases; ++i) {
    uint64_t start = pick(4) * huge + pick(2) * pick(huge);
    uint64_t bytes = 1 + pick(2) * pick(2 * huge) + pick(0x2000);
    Segment first = load(pick(2) ? dataFlags : codeFlags, start, bytes);
    uint64_t gap = pick(2) ? pick(0x3000) : pick(2 * huge);
    Segment second = load(pick(2) ? dataFlags : codeFlags, start + bytes + gap,
                          1 + pick(huge));
    std::set<uint64_t> pages;
    for (uint64_t page = first.address / huge; page <= (first.end() - 1) / huge;
         ++page)
      pages.insert(page);
    bool expected = (first.writable() || second.writable()) &&
                    pages.count(second.address / huge) != 0;
    shared += expected;
    ASSERT_EQ(overlaps({first, second}).size(), expected ? 1u : 0u)
        << std::hex << first.address << "+" << first.memoryBytes << ", "
        << second.address << "+" << second.memoryBytes;
  }
  // Neither answer is rare, so that the comparison means something.
  EXPECT_GT(shared, cases / 5);
  EXPECT_LT(shared, cases * 4 / 5);
}

TEST(HugeLayout, SumsOfWritableSegments) {
  std::vector<Segment> loads = {load(codeFlags, 0x400000, 0x1000),
                                load(dataFlags, 0x5ff000, 0x1000),
                                load(dataFlags, 0x600000, 0x200001)};
  EXPECT_EQ(writableBytes(loads), 0x201001u);
  EXPECT_EQ(roundedOutBytes(loads, huge), huge + 2 * huge);
  // RELRO and .data, as linkers lay them out: one page holds both.
  loads = {load(dataFlags, 0x600e00, 0x200), load(dataFlags, 0x601000, 0x300)};
  EXPECT_EQ(roundedOutBytes(loads, huge), huge);
  std::swap(loads[0], loads[1]);
  EXPECT_EQ(roundedOutBytes(loads, huge), huge);
  loads[0].memoryBytes = huge;
  EXPECT_EQ(roundedOutBytes(loads, huge), 2 * huge);
  EXPECT_EQ(writableBytes({}), 0u);
  EXPECT_EQ(roundedOutBytes({load(codeFlags, 0x400000, 0x1000)}, huge), 0u);
}

TEST(HugeLayout, InteriorIsWholeFrames) {
  const struct {
    uint64_t address, bytes, interior;
  } cases[] = {
      {0x400000, huge, huge},
      {0x400000, huge - 1, 0},
      {0x400001, huge, 0},
      {0x400001, 2 * huge - 1, huge},
      {0x3ff000, 3 * huge, 2 * huge},
      {0x400000, 0, 0},
      {0x404010, 9 * mib, 6 * mib},
  };
  for (const auto &test : cases) {
    std::vector<Segment> loads = {load(dataFlags, test.address, test.bytes)};
    EXPECT_EQ(interiorBytes(loads, loads, huge), test.interior)
        << std::hex << test.address << "+" << test.bytes;
  }
  std::vector<Segment> onlyCode = {load(codeFlags, 0x400000, 8 * huge)};
  EXPECT_EQ(interiorBytes(onlyCode, onlyCode, huge), 0u);
}

TEST(HugeLayout, RelroIsNoInterior) {
  std::vector<Segment> loads = {load(dataFlags, 0x400000, 3 * huge)};
  auto withRelro = [&](uint64_t address, uint64_t bytes) {
    std::vector<Segment> table = loads;
    table.push_back(relro(address, bytes));
    return interiorBytes(loads, table, huge);
  };
  EXPECT_EQ(withRelro(0x400000, 0), 3 * huge);
  EXPECT_EQ(withRelro(0x400000, 0x1000), 2 * huge);
  EXPECT_EQ(withRelro(0x400000, huge), 2 * huge);
  EXPECT_EQ(withRelro(0x400000, huge + 1), 1 * huge);
  EXPECT_EQ(withRelro(0x600800, 1), 2 * huge);     // the one in the middle
  EXPECT_EQ(withRelro(0x1000000, huge), 3 * huge); // elsewhere
  EXPECT_EQ(withRelro(0, UINT64_MAX), 0u);
}

TEST(HugeLayout, SubtractSplitsShortensAndRemoves) {
  const struct {
    AddressRange hole;
    std::vector<std::pair<uint64_t, uint64_t>> left;
  } cases[] = {
      {{0, 10}, {{10, 20}}},
      {{0, 12}, {{12, 20}}},
      {{13, 15}, {{10, 13}, {15, 20}}},
      {{18, 25}, {{10, 18}}},
      {{20, 25}, {{10, 20}}},
      {{10, 20}, {}},
      {{0, UINT64_MAX}, {}},
  };
  for (const auto &test : cases) {
    std::vector<AddressRange> ranges = {{10, 20}};
    subtractRange(ranges, test.hole);
    std::vector<std::pair<uint64_t, uint64_t>> left;
    for (AddressRange range : ranges)
      left.push_back({range.start, range.end});
    EXPECT_EQ(left, test.left) << test.hole.start << ".." << test.hole.end;
  }
}

TEST(HugeLayout, CoveredBytesOfASection) {
  std::vector<AddressRange> ranges = {{0x1000, 0x2000}, {0x3000, 0x4000}};
  EXPECT_EQ(coveredBytes(ranges, 0, 0x1000), 0u);
  EXPECT_EQ(coveredBytes(ranges, 0, 0x1001), 1u);
  EXPECT_EQ(coveredBytes(ranges, 0x1800, 0x2000), 0x1000u);
  EXPECT_EQ(coveredBytes(ranges, 0x4000, 0x1000), 0u);
  EXPECT_EQ(coveredBytes(ranges, 0x3fff, UINT64_MAX), 1u);
  EXPECT_EQ(coveredBytes({}, 0, UINT64_MAX), 0u);
}

TEST(HugeLayout, FramesOfTheFile) {
  auto frames = [](uint32_t flags, uint64_t offset, uint64_t address,
                   uint64_t bytes) {
    Segment segment = load(flags, address, bytes);
    segment.offset = offset;
    return fileFrameBytes(segment, huge);
  };
  EXPECT_EQ(frames(codeFlags, huge, 3 * huge, 2 * huge), 2 * huge);
  EXPECT_EQ(frames(readOnly, huge, 3 * huge, 2 * huge - 1), huge);
  EXPECT_EQ(frames(codeFlags, 0x1000, 0x401000, 2 * huge), huge);
  EXPECT_EQ(frames(codeFlags, 0x1000, 0x401000, huge), 0u);
  EXPECT_EQ(frames(codeFlags, 0x1000, 0x402000, 8 * huge), 0u);
  EXPECT_EQ(frames(dataFlags, huge, 3 * huge, 2 * huge), 0u);
  EXPECT_EQ(frames(codeFlags, 0, UINT64_MAX - huge + 1, UINT64_MAX), 0u);
  Segment zeros = load(readOnly, huge, 4 * huge);
  zeros.fileBytes = huge;
  EXPECT_EQ(fileFrameBytes(zeros, huge), huge);
}

TEST(HugeLayout, MovedPagesAreTheProgramsOwn) {
  auto pages = [](const std::vector<Segment> &loads,
                  std::optional<Segment> relro = std::nullopt,
                  bool isMovable = false) {
    return countMovedPages(loads, relro, huge, isMovable).max;
  };
  // Less than half a page is not worth one; a half that nothing shares is.
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, mib - 4096)}), 0u);
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, mib)}), 1u);
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, mib), load(readOnly, 5 * mib, 9)}),
            0u);
  // The last page counts from a half on, by base pages.
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, 5 * mib)}), 3u);
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, 5 * mib - 4095)}), 3u);
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, 5 * mib - 4096)}), 2u);
  // The first one has code in it, or RELRO.
  EXPECT_EQ(pages({load(codeFlags, 4 * mib, 4096),
                   load(dataFlags, 4 * mib + 8192, 6 * mib - 8192)}),
            2u);
  EXPECT_EQ(pages({load(dataFlags, 4 * mib, 6 * mib)}, relro(4 * mib, 4096)),
            2u);
  EXPECT_EQ(pages({load(readOnly, 4 * mib, 4096)}), 0u);
  // At any address: 5.5 MiB beside code fill two pages and a half, or three.
  EXPECT_EQ(pages({load(codeFlags, 0, 4096), load(dataFlags, 8192, 5 * mib)},
                  std::nullopt, /*isMovable=*/true),
            3u);
  EXPECT_EQ(countMovedPages(
                {load(codeFlags, 0, 4096), load(dataFlags, 8192, 5 * mib)},
                std::nullopt, huge, /*isMovable=*/true)
                .min,
            2u);
}
