// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --diff prints and what it calls worse.

#include "PolicySamples.h"
#include "gtest/gtest.h"

using namespace mpg;
using namespace llvm;

static FileReport report(std::vector<Finding> findings) {
  FileReport made = {};
  made.path = "app";
  made.kind = ElfKind::exec;
  made.machine = "aarch64";
  made.target = Target::fugaku;
  made.hugeBytes = uint64_t(2) << 20;
  made.findings = std::move(findings);
  made.facts.layout.emplace();
  made.facts.dynamic.emplace();
  return made;
}

static Region bss(uint64_t mib, uint64_t eligibleMib) {
  Region made = {};
  made.name = "bss";
  made.bytes = mib << 20;
  made.eligibleBytes = eligibleMib << 20;
  made.eligible = mib == eligibleMib;
  return made;
}

static std::string makeDiff(const FileReport &before, const FileReport &after,
                            bool expectedWorse) {
  std::string text;
  raw_string_ostream out(text);
  EXPECT_EQ(writeDiff(out, before, after), expectedWorse);
  return out.str();
}

TEST(Diff, AddressesAloneAreNoChange) {
  Finding moved = overlap;
  moved.title =
      ".data at 0x606000 shares a 2 MiB page with .eh_frame (segments "
      "3 and 4)";
  EXPECT_EQ(makeDiff(report({overlap}), report({moved}), false),
            "app -> app: nothing changed\n");
}

TEST(Diff, NewWarningsAndHigherSeveritiesAreWorse) {
  EXPECT_EQ(makeDiff(report({}), report({brkUse}), true),
            "app -> app: worse\n"
            "  new       warning: MPG130: the file takes memory by sbrk\n");
  EXPECT_EQ(makeDiff(report({brkUse}), report({}), false),
            "app -> app: no worse\n"
            "  gone      warning: MPG130: the file takes memory by sbrk\n");
  Finding note = brkUse;
  note.severity = Severity::note;
  EXPECT_EQ(makeDiff(report({}), report({note}), false),
            "app -> app: no worse\n"
            "  new       note: MPG130: the file takes memory by sbrk\n");
  EXPECT_EQ(makeDiff(report({note}), report({brkUse}), true),
            "app -> app: worse\n"
            "  changed   note -> warning: MPG130: the file takes memory by "
            "sbrk\n");
  EXPECT_NE(
      makeDiff(report({brkUse, brkUse}), report({brkUse}), false).find("gone"),
      std::string::npos);
}

TEST(Diff, BytesThatLoseLargePagesAreWorse) {
  const struct {
    Region before, after;
    bool worse;
    StringRef line;
  } cases[] = {
      {bss(8, 8), bss(16, 16), false, "all of 8 MiB -> all of 16 MiB"},
      {bss(8, 8), bss(8, 6), true, "all of 8 MiB -> 6 MiB of 8 MiB"},
      {bss(8, 6), bss(8, 0), true, "6 MiB of 8 MiB -> nothing of 8 MiB"},
      {bss(80, 78), bss(40, 38), false, "78 MiB of 80 MiB -> 38 MiB of 40 MiB"},
      {bss(8, 6), bss(8, 8), false, "6 MiB of 8 MiB -> all of 8 MiB"},
      {bss(8, 8), bss(0, 0), false, "all of 8 MiB -> empty"},
  };
  for (const auto &one : cases) {
    FileReport before = report({}), after = report({});
    before.regions = {one.before};
    after.regions = {one.after};
    std::string text = makeDiff(before, after, one.worse);
    EXPECT_NE(text.find("  bss       on large pages can be: " + one.line.str()),
              std::string::npos)
        << text;
  }
  FileReport before = report({}), after = report({});
  before.regions = {bss(8, 6)};
  after.regions = {bss(8, 6)};
  after.regions[0].bytes += 4096;
  before.regions[0].name = after.regions[0].name = "data";
  EXPECT_EQ(makeDiff(before, after, false), "app -> app: nothing changed\n");
}

TEST(Diff, KindSegmentsAndLibrariesAreCompared) {
  FileReport before = report({}), after = report({});
  after.kind = ElfKind::pie;
  Segment load = {};
  load.flags = 6; // PF_R | PF_W
  after.facts.layout->loads = {load};
  after.facts.layout->maxPageBytes = 65536;
  before.facts.dynamic->needed = {"libx.so", "libc.so.6"};
  after.facts.dynamic->needed = {"libmpg.so.1", "libc.so.6"};
  EXPECT_EQ(makeDiff(before, after, false),
            "app -> app: no worse\n"
            "  kind      exec -> pie\n"
            "  segments  0 -> 1 (RW), aligned to 64 KiB\n"
            "  needs     +libmpg.so.1 -libx.so\n");
  before.facts.dynamic->needed = {"libc.so.6", "libmpg.so.1"};
  after.kind = ElfKind::exec;
  after.facts.layout->loads.clear();
  EXPECT_EQ(makeDiff(before, after, false),
            "app -> app: no worse\n"
            "  needs     in another order: libmpg.so.1 libc.so.6\n");
}
