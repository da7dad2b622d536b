// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun out of texts as the kernel writes them: mappings, NUMA
// nodes, which region they belong to, and states that cannot be believed.

#include "Process/RunReport.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace llvm;
using namespace mpg;

// A program with 2 MiB of .data and 4 MiB of .bss, the latter on the pool, a
// thread's stack above its guard, a heap of brk and the process stack.
static const char smaps[] =
    "00400000-00401000 r-xp 00000000 08:01 7   /home/me/app\n"
    "Size:                  4 kB\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                   4 kB\n"
    "VmFlags: rd ex mr mw me\n"
    "00600000-00800000 rw-p 00200000 08:01 7   /home/me/app\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                1024 kB\n"
    "AnonHugePages:         0 kB\n"
    "VmFlags: rd wr mr mw me ac\n"
    "00800000-00c00000 rw-p 00000000 00:0f 9   /anon_hugepage (deleted)\n"
    "KernelPageSize:     2048 kB\n"
    "Private_Hugetlb:    4096 kB\n"
    "Rss:                   0 kB\n"
    "VmFlags: rd wr mr mw me ht\n"
    "01000000-01010000 rw-p 00000000 00:00 0   [heap]\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                  64 kB\n"
    "VmFlags: rd wr mr mw me\n"
    "7f0000000000-7f0000001000 ---p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n"
    "VmFlags: mr mw me\n"
    "7f0000001000-7f0000801000 rw-p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                4096 kB\n"
    "AnonHugePages:      2048 kB\n"
    "VmFlags: rd wr mr mw me ac hg\n"
    "7fff00000000-7fff00800000 rw-p 00000000 00:01 3   "
    "/memfd: [stack] by libmpg (deleted)\n"
    "KernelPageSize:     2048 kB\n"
    "Private_Hugetlb:    2048 kB\n"
    "VmFlags: rd wr mr mw me ht\n";

static const char numaMaps[] =
    "00600000 default file=/home/me/app anon=256 dirty=256 N0=192 N2=64 "
    "kernelpagesize_kB=4\n"
    "00800000 default file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 "
    "N1=1 N3=1 kernelpagesize_kB=2048\n"
    "7fff00000000 prefer:0 file=/memfd: huge N0=1 kernelpagesize_kB=2048\n";

static const std::vector<ProgramSegment> segments = {
    {0x600000, 0x800000, 0xc00000}};

static void setAllOnLargePages(RegionUse &use) {
  use.hugeBytes = use.peakHugeBytes = use.bytes;
}

static const RegionUse *findUse(const std::vector<RegionUse> &regions,
                                RunRegion wanted) {
  for (const RegionUse &use : regions)
    if (use.region == wanted)
      return &use;
  return nullptr;
}

TEST(RunReport, MappingsAreReadAsTheKernelWritesThem) {
  std::vector<MappedArea> areas = parseSmaps(smaps, "");
  ASSERT_EQ(areas.size(), 7u);
  EXPECT_TRUE(areas[0].executable && areas[0].isFile && !areas[0].writable);
  EXPECT_EQ(areas[1].residentBytes, 1024u << 10);
  EXPECT_TRUE(areas[2].hugetlb && !areas[2].isFile);
  EXPECT_EQ(areas[2].hugeBytes(), 4u << 20); // reserved counts, touched or not
  EXPECT_EQ(areas[5].hugeBytes(), 2u << 20);
  EXPECT_EQ(areas[5].usedBytes(), 4u << 20);
  EXPECT_EQ(areas[6].name, "/memfd: [stack] by libmpg (deleted)");
}

// If this fails, a list that a program has overwritten ends mpgrun.
TEST(RunReport, AMappingMayLackItsPageSize) {
  auto regions = classifyAreas(
      parseSmaps("00600000-00602000 rw-p 00000000 00:00 0\nRss: 8 kB\n", ""),
      {{0x600100, 0x601000, 0x601800}}, {});
  EXPECT_EQ(findUse(regions, RunRegion::data)->bytes, 4096u);
  EXPECT_EQ(findUse(regions, RunRegion::bss)->bytes, 4096u);
}

TEST(RunReport, EveryMappingIsInOneRegion) {
  auto regions = classifyAreas(parseSmaps(smaps, ""), segments, {});
  ASSERT_EQ(regions.size(), 5u);
  EXPECT_EQ(findUse(regions, RunRegion::data)->bytes, 1024u << 10);
  EXPECT_EQ(findUse(regions, RunRegion::data)->hugeBytes, 0u);
  EXPECT_EQ(findUse(regions, RunRegion::bss)->hugeBytes, 4u << 20);
  EXPECT_EQ(findUse(regions, RunRegion::heap)->bytes, 64u << 10);
  EXPECT_EQ(findUse(regions, RunRegion::threadStack)->bytes, 4u << 20);
  EXPECT_EQ(findUse(regions, RunRegion::threadStack)->hugeBytes, 2u << 20);
  EXPECT_EQ(findUse(regions, RunRegion::stack)->pageBytes, 2u << 20);
}

TEST(RunReport, TheStackOfAProgramThatHasForkedIsNoThreads) {
  auto areas = parseSmaps("7ffd00000000-7ffd00100000 ---p 00000000 00:00 0\n"
                          "VmFlags: mr mw me\n"
                          "7ffd00100000-7ffd00900000 rw-p 00000000 00:00 0\n"
                          "VmFlags: rd wr mr mw me\n"
                          "7ffd00900000-7ffd00b00000 rw-p 00000000 00:00 0  "
                          "[stack]\n"
                          "VmFlags: rd wr mr mw me gd ac\n",
                          "");
  ASSERT_EQ(areas.size(), 3u);
  EXPECT_EQ(regionOfArea(areas, 1), RunRegion::stack);
  EXPECT_EQ(regionOfArea(areas, 2), RunRegion::stack);
}

TEST(RunReport, WhatIsMappedBesideAThreadsStackIsNoStack) {
  auto areas = parseSmaps("7f8ec341f000-7f8ec3420000 ---p 00000000 00:00 0\n"
                          "VmFlags: mr mw me nh\n"
                          "7f8ec3420000-7f8ec3600000 rw-p 00000000 00:00 0\n"
                          "VmFlags: rd wr mr mw me ac nh\n"
                          "7f8ec3600000-7f8ec3a00000 rw-p 00000000 00:00 0\n"
                          "VmFlags: rd wr mr mw me ac hg\n"
                          "7f8ec3a00000-7f8ec3c20000 rw-p 00000000 00:00 0\n"
                          "VmFlags: rd wr mr mw me ac nh\n"
                          "7f8ec3c20000-7f8ecd527000 rw-p 00000000 00:00 0\n"
                          "VmFlags: rd wr mr mw me ac\n",
                          "");
  ASSERT_EQ(areas.size(), 5u);
  for (size_t piece : {1, 2, 3})
    EXPECT_EQ(regionOfArea(areas, piece), RunRegion::threadStack) << piece;
  EXPECT_EQ(regionOfArea(areas, 4), RunRegion::mmap);
}

TEST(RunReport, AFileWithoutCodeInFrontIsNoLibrary) {
  auto areas = parseSmaps(
      "7f0000000000-7f0000010000 r-xp 00000000 fe:00 7  /lib/libx.so\n"
      "7f0000010000-7f0000020000 r--p 00010000 fe:00 7  /lib/libx.so\n"
      "7f0000020000-7f0000030000 rw-p 00020000 fe:00 7  /lib/libx.so\n"
      "7f0000030000-7f0000040000 rw-p 00000000 00:00 0\n"
      "7f1000000000-7f1000800000 rwxp 00010000 fe:00 8  /lib/sbcl.core\n"
      "7f1000800000-7f1040000000 rwxp 00000000 00:00 0\n",
      "");
  ASSERT_EQ(areas.size(), 6u);
  EXPECT_EQ(regionOfArea(areas, 2), RunRegion::library);
  EXPECT_EQ(regionOfArea(areas, 3), RunRegion::library);
  EXPECT_EQ(regionOfArea(areas, 4), RunRegion::mmap);
  EXPECT_EQ(regionOfArea(areas, 5), RunRegion::mmap);
}

// MPG_REMAP=all: the data of the first is in pieces, the second was linked with
// ld.mpg, so that all of its data has moved. The third is not a library's.
TEST(RunReport, MovedDataOfALibraryIsItsOwn) {
  auto areas = parseSmaps(
      "7f0000000000-7f0000010000 r-xp 00000000 fe:00 7  /lib/libx.so\n"
      "7f0000010000-7f0000020000 rw-p 00010000 fe:00 7  /lib/libx.so\n"
      "7f0000020000-7f0000200000 rw-p 00000000 00:00 0\n"
      "7f0000200000-7f0000400000 rw-p 00000000 00:11 8  /anon_hugepage "
      "(deleted)\n"
      "KernelPageSize:     2048 kB\n"
      "VmFlags: rd wr mr mw me de ht\n"
      "7f0000400000-7f0000410000 rw-p 00000000 00:00 0\n"
      "7f1000000000-7f1000010000 r-xp 00000000 fe:00 9  /lib/liby.so\n"
      "7f1000010000-7f1000200000 ---p 00010000 fe:00 9  /lib/liby.so\n"
      "7f1000200000-7f1000400000 rw-p 00000000 00:11 8  /anon_hugepage "
      "(deleted)\n"
      "KernelPageSize:     2048 kB\n"
      "VmFlags: rd wr mr mw me de ht\n"
      "7f2000200000-7f2000400000 rw-p 00000000 00:11 8  /anon_hugepage "
      "(deleted)\n"
      "KernelPageSize:     2048 kB\n"
      "VmFlags: rd wr mr mw me de ht\n",
      "");
  ASSERT_EQ(areas.size(), 9u);
  for (size_t piece : {1, 2, 3, 4, 7})
    EXPECT_EQ(regionOfArea(areas, piece), RunRegion::library) << piece;
  EXPECT_EQ(regionOfArea(areas, 8), RunRegion::mmap);
}

// libmpg's heap: reserved address space, memory from the pool in it,
// transparent and normal pages, and a mapping of another's that the kernel has
// made one with the heap's last.
static const char heapSmaps[] =
    "01000000-01010000 rw-p 00000000 00:00 0   [heap]\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                  64 kB\n"
    "VmFlags: rd wr mr mw me\n"
    "7e0000000000-7e0000200000 ---p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                   0 kB\n"
    "VmFlags: mr mw me nr\n"
    "7e0000200000-7e0000800000 rw-p 00000000 00:0f 9   /anon_hugepage\n"
    "KernelPageSize:     2048 kB\n"
    "Private_Hugetlb:    6144 kB\n"
    "VmFlags: rd wr mr mw me ht\n"
    "7e0000800000-7e0000c00000 rw-p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                4096 kB\n"
    "AnonHugePages:      2048 kB\n"
    "VmFlags: rd wr mr mw me ac hg\n"
    "7e0000c00000-7e0003e00000 ---p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n"
    "VmFlags: mr mw me nr\n"
    "7e0003e00000-7e0004200000 rw-p 00000000 00:00 0\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                4096 kB\n"
    "VmFlags: rd wr mr mw me ac\n";
static const HeapRange heap = {0x7e0000000000, 0x7e0004000000};

TEST(RunReport, AllMemoryInTheHeapsAddressesIsHeap) {
  std::vector<MappedArea> areas = parseSmaps(heapSmaps, "");
  auto regions = classifyAreas(areas, {}, heap);
  ASSERT_EQ(regions.size(), 2u);
  const RegionUse *use = findUse(regions, RunRegion::heap);
  EXPECT_EQ(use->bytes, (64u << 10) + (12u << 20)); // with the heap of brk
  EXPECT_EQ(use->hugeBytes, 8u << 20);
  EXPECT_EQ(use->pageBytes, 2u << 20);
  EXPECT_EQ(findUse(regions, RunRegion::mmap)->bytes, 2u << 20);
  // Without libmpg's word it is memory like any other.
  regions = classifyAreas(areas, {}, {});
  EXPECT_EQ(findUse(regions, RunRegion::heap)->bytes, 64u << 10);
  EXPECT_EQ(findUse(regions, RunRegion::mmap)->bytes, 14u << 20);
}

TEST(RunReport, BytesOfEachNodeAreThoseOfItsPages) {
  auto regions = classifyAreas(parseSmaps(smaps, numaMaps), segments, {});
  EXPECT_EQ(findUse(regions, RunRegion::data)->nodes,
            (std::vector<uint64_t>{192 << 12, 0, 64 << 12}));
  EXPECT_EQ(findUse(regions, RunRegion::bss)->nodes,
            (std::vector<uint64_t>{0, 2 << 20, 0, 2 << 20}));
  EXPECT_EQ(findUse(regions, RunRegion::stack)->nodes,
            (std::vector<uint64_t>{2 << 20}));
  EXPECT_TRUE(findUse(regions, RunRegion::heap)->nodes.empty());
  std::string text;
  raw_string_ostream out(text);
  RunReport report;
  report.program = "app";
  report.mode = "auto";
  report.measured = report.hasState = true;
  report.regions = regions;
  writeRunText(out, report);
  EXPECT_NE(text.find("node 1: 2 MiB, node 3: 2 MiB"), std::string::npos)
      << text;
  // A stack completely on the first node is reported as well, but not if there
  // is no other node.
  EXPECT_NE(text.find("of the pool, 6 MiB set aside  node 0: 2 MiB"),
            std::string::npos)
      << text;
  text.clear();
  report.regions = {report.regions.back()};
  writeRunText(out, report);
  EXPECT_EQ(text.find("node"), std::string::npos) << text;
}

TEST(RunReport, DamagedTextIsPassedOver) {
  for (const char *text :
       {"", "\n\n", "zzz", "00400000-", "00400000-00401000", "5-1 rw-p 0 0 0\n",
        "Rss: 4 kB\n", "00400000-00401000 rw-p\nRss: x kB\nVmFlags:\n"})
    for (const MappedArea &area : parseSmaps(text, "0 N0=\nN1=5\nq N9999999=1"))
      EXPECT_GE(area.end, area.start) << text;
}

static mpg_state goodState() {
  mpg_state state = {};
  state.magic = MPG_STATE_MAGIC;
  state.structBytes = sizeof(state);
  state.pid = 17;
  state.regionCount = 1;
  state.regions[0].kind = MPG_REGION_BSS;
  state.regions[0].bytes = 8 << 20;
  state.regions[0].hugeBytes = 2 << 20;
  memset(state.regions[0].reason, 'x', MPG_STATE_TEXT);
  return state;
}

static std::unique_ptr<mpg_state> check(const mpg_state &state) {
  return checkedState(
      StringRef(reinterpret_cast<const char *>(&state), sizeof(state)));
}

TEST(RunReport, StateIsBelievedOnlyWithinItsBounds) {
  mpg_state state = goodState();
  state.regionCount = state.messageCount = UINT32_MAX;
  std::unique_ptr<mpg_state> checked = check(state);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->regionCount, uint32_t(MPG_STATE_REGIONS));
  EXPECT_EQ(checked->messageCount, uint32_t(MPG_STATE_MESSAGES));
  EXPECT_EQ(strlen(checked->regions[0].reason), MPG_STATE_TEXT - 1u);
  state.pid = 0; // nobody has written it
  EXPECT_FALSE(check(state));
  state = goodState();
  state.magic ^= 1;
  EXPECT_FALSE(check(state));
  EXPECT_FALSE(checkedState("short"));
}

TEST(RunReport, ARegionOnOneNodeIsToldWhereThreadsRanOnOthers) {
  RunReport report;
  report.regions.resize(2);
  RegionUse &bss = report.regions[0], &stacks = report.regions[1];
  bss.region = RunRegion::bss;
  stacks.region = RunRegion::threadStack;
  bss.nodes = {2 << 20, 62 << 20, 0};
  bss.bytes = 64 << 20;
  stacks.nodes = {4096, 64 << 10, 8 << 10};
  EXPECT_EQ(findCrowdedNode(report, bss), 1u);
  std::string text;
  raw_string_ostream out(text);
  writeRunText(out, report);
  EXPECT_NE(text.find("nearly all of it is on node 1"), std::string::npos);
  stacks.nodes[2] = 4096; // what who starts a thread writes to its stack
  EXPECT_FALSE(findCrowdedNode(report, bss));
  stacks.nodes[2] = 1 << 20;
  bss.nodes = {20 << 20, 44 << 20, 0}; // placed by more than one thread
  EXPECT_FALSE(findCrowdedNode(report, bss));
  bss.nodes = {1 << 20, 0, 0}; // not worth a line
  bss.bytes = 1 << 20;
  EXPECT_FALSE(findCrowdedNode(report, bss));
  bss.nodes.clear(); // the kernel does not tell
  EXPECT_FALSE(findCrowdedNode(report, bss));
}

TEST(RunReport, OtherProcessesAreBelievedOnlyWithinTheirBounds) {
  auto table = std::make_unique<mpg_state_table>();
  table->taken = MPG_STATE_PROCESSES + 3;
  mpg_state_process &last = table->processes[MPG_STATE_PROCESSES - 1];
  last.pid = 7;
  last.mode = 99;
  last.bytes = 5 << 20;
  last.hugeBytes = last.poolBytes = UINT64_MAX;
  memset(last.command, 'x', sizeof last.command);
  memset(last.reason, '\x1b', sizeof last.reason);
  table->processes[2].pid = 8;
  table->processes[2].bytes = 6 << 20;
  RunReport report;
  addProcesses(report, *table);
  EXPECT_EQ(report.processesLost, 3u);
  ASSERT_EQ(report.processes.size(), 2u); // the others were never written
  EXPECT_EQ(report.processes[0].pid, 8u);
  const ProcessUse &use = report.processes[1];
  EXPECT_EQ(use.poolBytes, use.bytes);
  EXPECT_EQ(use.command.size(), size_t(MPG_STATE_COMMAND));
  EXPECT_EQ(use.reason.find('\x1b'), std::string::npos);
}

TEST(RunReport, WithoutMappingsTheLibraryIsBelieved) {
  RunReport report;
  addState(report, goodState());
  ASSERT_EQ(report.regions.size(), 1u);
  EXPECT_EQ(report.regions[0].hugeBytes, 2u << 20);
  // 6 MiB of 8 MiB are missing, more than the edges that are forgiven.
  ASSERT_EQ(findMissing(report).size(), 1u);
  report.regions[0].peakHugeBytes = report.regions[0].bytes - (4 << 20) + 1;
  EXPECT_TRUE(findMissing(report).empty());
}

TEST(RunReport, TheStateFileIsKnownByItsName) {
  EXPECT_TRUE(isStateName("/memfd:mpgrun-state (deleted)"));
  EXPECT_TRUE(isStateName("/tmp/mpgrun-state-aB12cd (deleted)"));
  EXPECT_FALSE(isStateName("/tmp/mpgrun-state-aB12cd"));
  EXPECT_FALSE(isStateName("/memfd:mpgrun-states (deleted)"));
  EXPECT_FALSE(isStateName("/tmp/mpgrun-output-aB12cd (deleted)"));
}

TEST(RunReport, WhereNothingIsKnownThatIsMissing) {
  RunReport report;
  report.hasState = true;
  ASSERT_EQ(findMissing(report).size(), 1u);
  report.measured = true;
  EXPECT_TRUE(findMissing(report).empty());
}

TEST(RunReport, WithMappingsOnlyItsReasonsAreTaken) {
  RunReport report;
  report.measured = true;
  report.regions = classifyAreas(parseSmaps(smaps, ""), segments, {});
  addState(report, goodState());
  const RegionUse *bss = findUse(report.regions, RunRegion::bss);
  EXPECT_EQ(bss->hugeBytes, 4u << 20);
  EXPECT_EQ(bss->reason[0], 'x');
}

TEST(RunReport, AHeapOfLibmpgsOnNormalPagesIsMissed) {
  mpg_state state = goodState();
  state.regions[0].kind = MPG_REGION_HEAP;
  RunReport theirs;
  addState(theirs, state); // the C library's malloc: not promised by anybody
  EXPECT_TRUE(findMissing(theirs).empty());
  state.heapStart = heap.start;
  state.heapEnd = heap.end;
  RunReport ours;
  addState(ours, state);
  auto missing = findMissing(ours);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].find("6 MiB of 8 MiB of heap are on normal pages: xx"),
            0u)
      << missing[0];
  setAllOnLargePages(ours.regions[0]);
  EXPECT_TRUE(findMissing(ours).empty());
}

TEST(RunReport, WhatWasFreedBeforeTheEndCounts) {
  mpg_state state = goodState();
  state.heapStart = heap.start;
  state.heapEnd = heap.end;
  state.heapPeakBytes = 300 << 20;
  state.heapPeakHugeBytes = 20 << 20;
  RunReport report;
  report.measured = true; // and no heap is left
  addState(report, state);
  ASSERT_EQ(report.regions.size(), 1u);
  EXPECT_EQ(report.regions[0].region, RunRegion::heap);
  auto missing = findMissing(report);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].find("280 MiB of 300 MiB of heap were on normal"), 0u)
      << missing[0];
  state.heapPeakHugeBytes = 300 << 20;
  RunReport large;
  large.measured = true;
  addState(large, state);
  EXPECT_TRUE(findMissing(large).empty());
}

static RegionUse useOfBytes(RunRegion region, uint64_t bytes, uint64_t huge) {
  RegionUse use;
  use.region = region;
  use.bytes = use.peakBytes = bytes;
  use.hugeBytes = use.peakHugeBytes = huge;
  return use;
}

TEST(RunReport, MappingsThatWentBackCountWhereThereWereMore) {
  RunReport report;
  report.measured = true;
  report.regions = {useOfBytes(RunRegion::bss, 8 << 20, 8 << 20),
                    useOfBytes(RunRegion::threadStack, 9 << 20, 0)};
  addPeakMappings(report, {useOfBytes(RunRegion::bss, 99 << 20, 0),
                           useOfBytes(RunRegion::threadStack, 8 << 20, 1),
                           useOfBytes(RunRegion::mmap, 80 << 20, 2 << 20)});
  addState(report, goodState());
  ASSERT_EQ(report.regions.size(), 3u);
  EXPECT_EQ(findUse(report.regions, RunRegion::bss)->peakBytes, 8u << 20);
  EXPECT_EQ(findUse(report.regions, RunRegion::threadStack)->peakBytes,
            9u << 20);
  const RegionUse *mmap = findUse(report.regions, RunRegion::mmap);
  EXPECT_EQ(mmap->bytes, 0u);
  EXPECT_EQ(mmap->peakBytes, 80u << 20);
  EXPECT_EQ(mmap->peakHugeBytes, 2u << 20);
}

TEST(RunReport, TheTablesOfLibmpgAreNobodys) {
  HeapRange withTables = heap;
  auto areas = parseSmaps(heapSmaps, "");
  uint64_t before =
      findUse(classifyAreas(areas, {}, withTables), RunRegion::mmap)->bytes;
  EXPECT_GT(before, 0u);
  withTables.tablesEnd = areas.back().end;
  auto regions = classifyAreas(areas, {}, withTables);
  EXPECT_EQ(findUse(regions, RunRegion::mmap), nullptr);
}

TEST(RunReport, StacksOfThreadsAreMissedWhereTheyWereToBeLarge) {
  mpg_state state = goodState();
  state.regions[0].kind = MPG_REGION_THREAD_STACK;
  RunReport report;
  addState(report, state);
  EXPECT_EQ(findMissing(report).size(), 1u);
  report.regions[0].reason.clear();
  EXPECT_TRUE(findMissing(report).empty());
}

TEST(RunReport, AnImpossibleHeapIsNone) {
  mpg_state state = goodState();
  state.heapStart = UINT64_MAX;
  HeapRange range = getHeap(state);
  EXPECT_EQ(range.start, range.end);
  auto regions = classifyAreas(parseSmaps(heapSmaps, ""), {}, range);
  EXPECT_EQ(findUse(regions, RunRegion::heap)->bytes, 64u << 10);
}

static std::string writeText(const RunReport &report) {
  std::string text;
  raw_string_ostream out(text);
  writeRunText(out, report);
  return text;
}

TEST(RunReport, ReasonsAreForWhatIsNotOnLargePages) {
  RunReport report;
  addState(report, goodState());
  std::string whole, part;
  raw_string_ostream wholeOut(whole), partOut(part);
  writeRunJson(partOut, report);
  EXPECT_NE(partOut.str().find("\"reason\": \"xx"), std::string::npos) << part;
  setAllOnLargePages(report.regions[0]);
  writeRunJson(wholeOut, report);
  EXPECT_NE(wholeOut.str().find("\"reason\": \"\""), std::string::npos)
      << whole;
}

TEST(RunReport, ModeIsTheOneThatWasUsed) {
  mpg_state state = goodState();
  for (const char *mode : {"auto", "hugetlb", "thp", "none"}) {
    RunReport report;
    report.mode = "asked";
    addState(report, state);
    EXPECT_EQ(report.mode, mode);
    ++state.mode;
  }
  RunReport report; // a mode of a later libmpg has no name here
  report.mode = "asked";
  addState(report, state);
  EXPECT_EQ(report.mode, "asked");
}

TEST(RunReport, PoolUseIsAPeakOnlyIfItWasCounted) {
  mpg_state state = goodState();
  RunReport report;
  report.peakHugetlbBytes = 4 << 20; // mapped at the end
  addState(report, state);
  EXPECT_NE(writeText(report).find("  from the pool at the end: 4 MiB\n"),
            std::string::npos);
  state.peakHugetlbBytes = 8 << 20;
  addState(report, state);
  EXPECT_NE(
      writeText(report).find("  most taken from the pool at once: 8 MiB\n"),
      std::string::npos);
  // Pages of the pool that others mapped are not in libmpg's count.
  report.peakHugetlbBytes = 16 << 20;
  addState(report, state);
  EXPECT_EQ(report.peakHugetlbBytes, 16u << 20);
}

/// A report about one access with \p tag on a machine of \p support.
static HintReport hintReport(unsigned tag, TagSupport support) {
  mpg_note_hints hints = emptyHints();
  hints.tagBytes[tag / 32] = 1u << tag % 32;
  hints.sectorsMask = uint8_t(1u << (tag & 3));
  hints.injectionMask = tag & 0x80 ? uint8_t(1u << (tag >> 4 & 7)) : 0;
  hints.taggedAccesses = 1;
  HintReport report;
  report.notes.hints = hints;
  report.support = std::move(support);
  return report;
}

TEST(HintReport, ActsAsFarAsWhatTheTagsNeed) {
  TagSupport support; // of a machine that lacks injection and knows no sectors
  support.prefetch = Ability::yes;
  support.sector = Ability::unknown;
  EXPECT_EQ(hintReport(0x40, support).acts(), Ability::yes);
  EXPECT_EQ(hintReport(0x41, support).acts(), Ability::unknown);
  EXPECT_EQ(hintReport(0x90, support).acts(), Ability::no);
  EXPECT_EQ(hintReport(0x91, support).acts(), Ability::no);
  support.injection = Ability::yes;
  EXPECT_EQ(hintReport(0x90, support).acts(), Ability::yes);
  EXPECT_EQ(hintReport(0x01, TagSupport()).acts(), Ability::no);
  EXPECT_EQ(HintReport().acts(), Ability::no);
}

/// An FX1000 with the vendor's system.
static NodeMachine fx1000() {
  NodeMachine machine;
  machine.architecture = "AArch64";
  machine.a64fx = A64fxKind::fx1000;
  machine.tagCommand = "/opt/FJSVxos/fhehpc/bin/fhetbo";
  return machine;
}

TEST(TagSupport, RegistersDecideWhereTagsAreOn) {
  RegisterReach open = {Reach::open, Reach::open, Reach::open};
  EXPECT_EQ(judgeTags(fx1000(), open).summary(),
            "yes: sector, prefetch, injection; no: barrier");
  EXPECT_TRUE(judgeTags(fx1000(), open).missing.empty());
  RegisterReach closed = {Reach::closed, Reach::closed, Reach::closed};
  TagSupport support = judgeTags(fx1000(), closed);
  EXPECT_EQ(support.summary(), "yes: prefetch; no: sector, injection, barrier");
  EXPECT_EQ(support.missing.size(), 2u);
  // L2 alone can be divided, too.
  closed.sectorL2 = Reach::open;
  EXPECT_EQ(judgeTags(fx1000(), closed).sector, Ability::yes);
}

TEST(TagSupport, TheVendorsFilesChangeTheAnswer) {
  RegisterReach closed = {Reach::closed, Reach::closed, Reach::open};
  NodeMachine machine = fx1000();
  machine.sectorDevice = "/dev/xos_sec_normal";
  machine.barrierDevice = "/dev/fujitsu_hwb";
  machine.prefetchAccess = 0;
  TagSupport support = judgeTags(machine, closed);
  EXPECT_EQ(support.summary(),
            "yes: prefetch, barrier; unknown: sector; no: injection");
  machine.prefetchAccess = 1;
  EXPECT_EQ(judgeTags(machine, closed).injection, Ability::yes);
  machine.tagCommand.clear(); // nobody is known to switch tags on
  EXPECT_EQ(judgeTags(machine, closed).prefetch, Ability::unknown);
  EXPECT_EQ(judgeTags(machine, closed).injection, Ability::unknown);
}

TEST(TagSupport, OtherProcessorsActOnNothing) {
  NodeMachine machine;
  machine.architecture = "x86-64";
  TagSupport support = judgeTags(machine, RegisterReach());
  EXPECT_EQ(support.summary(), "no: sector, prefetch, injection, barrier");
  EXPECT_EQ(support.missing,
            std::vector<std::string>{"not on this machine: x86-64"});
}

TEST(HpcTags, CoreMasksAreLists) {
  EXPECT_EQ(decodeCoreMask("0xffffffffffff000"), "12-59");
  EXPECT_EQ(decodeCoreMask("0x1"), "0");
  EXPECT_EQ(decodeCoreMask("0x8000000000000000000b more"), "0-1,3,79");
  EXPECT_EQ(decodeCoreMask("0x0"), "");
  EXPECT_EQ(decodeCoreMask("12"), "");
  EXPECT_EQ(decodeCoreMask("0x"), "");
}

TEST(HpcTags, MessagesBecomeWords) {
  EXPECT_EQ(describeTagMessage("[INFO] xos FHE 1113 - on. 0xff"),
            "the HPC tag override is on on cores 0-7");
  EXPECT_EQ(describeTagMessage("[INFO] xos FHE 1114 - off."),
            "the HPC tag override is off");
  EXPECT_EQ(describeTagMessage("something else"), "");
}
