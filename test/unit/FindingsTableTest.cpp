// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of findings as the tools see it: names, and the part of a remedy
// that a report prints, which a user pastes into a link command.
// test/tools/tables.py checks the rows themselves.

#include "Audit/Audit.h"
#include "Audit/Finding.h"
#include "llvm/ADT/SmallVector.h"
#include "gtest/gtest.h"
#include <map>

using namespace mpg;
using llvm::StringRef;

static llvm::SmallVector<StringRef, 16> splitAddress(StringRef text,
                                                     StringRef by) {
  llvm::SmallVector<StringRef, 16> parts;
  text.split(parts, by, -1, /*KeepEmpty=*/false);
  return parts;
}

TEST(FindingsTable, SetTakesEveryNumber) {
  FindingSet set;
  for (const FindingInfo &info : allFindings()) {
    EXPECT_FALSE(set.contains(info.id)) << idText(info.id);
    set.insert(info.id);
    EXPECT_TRUE(set.contains(info.id)) << idText(info.id);
    set.erase(info.id);
  }
}

TEST(FindingsTable, PrintedRemedyLeavesExplanationsOut) {
  FindingInfo info = getInfo(FindingId::mpg103);
  FixContext context;
  info.remedy = "Do this.\n  gcc:   -a\n\nBecause of that.\n\nAnd more.";
  EXPECT_EQ(shortRemedy(info, context), "Do this.\n  gcc:   -a");
  info.remedy = "In the script:\n\n  export A=1\n\nOtherwise not.";
  EXPECT_EQ(shortRemedy(info, context), "In the script:\n\n  export A=1");
  info.remedy = "Do this.";
  EXPECT_EQ(shortRemedy(info, context), "Do this.");
  info.remedy = "";
  EXPECT_EQ(shortRemedy(info, context), "");
}

/// The lines of MPG103 by label.
static std::map<std::string, std::string> linesFor(const FixContext &context) {
  std::map<std::string, std::string> lines;
  std::string remedy = shortRemedy(getInfo(FindingId::mpg103), context);
  for (StringRef line : splitAddress(remedy, "\n"))
    if (line.consume_front("  ")) {
      auto [label, flags] = line.split(':');
      lines[label.str()] = flags.ltrim().str();
    }
  return lines;
}

TEST(FindingsTable, PrintedRemedyIsForTheLargePageAskedFor) {
  FixContext context;
  auto lines = linesFor(context);
  EXPECT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines["any"], "-Wl,-z,max-page-size=2097152");
  EXPECT_EQ(lines["clang"], "--ld-path=<prefix>/bin/ld.mpg");
  context.hugeBytes = 32 << 20;
  lines = linesFor(context);
  EXPECT_EQ(lines.size(), 4u); // no script, no -Klargepage
  EXPECT_EQ(lines["any"], "-Wl,-z,max-page-size=33554432");
  EXPECT_EQ(lines["gcc"], "-B<prefix>/share/mpgtools/ld -Wl,--mpg-huge=32M");
  context.hugeBytes = 512 << 20;
  EXPECT_EQ(linesFor(context), (std::map<std::string, std::string>{
                                   {"any", "-Wl,-z,max-page-size=536870912"}}));
}

TEST(FindingsTable, PrintedRemedyIsForThisFile) {
  FixContext context;
  context.smallData = true;
  context.scriptsFit = false;
  auto lines = linesFor(context);
  EXPECT_EQ(lines.count("lld") + lines.count("bfd"), 0u);
  EXPECT_EQ(lines["flang"], "-fuse-ld=<prefix>/bin/ld.mpg -Wl,--mpg-min=0");
  EXPECT_EQ(lines["any"], "-Wl,-z,max-page-size=2097152");
  context.noData = true;
  lines = linesFor(context);
  EXPECT_EQ(lines.size(), 2u); // any and fcc
}

TEST(FindingsTable, PathsAreWordsForAShell) {
  InstalledParts parts;
  parts.linker = "/opt/m,pg/bin/ld.mpg";
  parts.gccFolder = "/opt/my tools/ld";
  parts.lldScript = "/opt/a,b/x.ld"; // -Wl would cut it in two
  FixContext context;
  context.parts = std::make_shared<InstalledParts>(parts);
  auto lines = linesFor(context);
  EXPECT_EQ(lines["flang"], "-fuse-ld=/opt/m,pg/bin/ld.mpg");
  EXPECT_EQ(lines["gcc"], "-B'/opt/my tools/ld'");
  EXPECT_TRUE(StringRef(lines["lld"])
                  .ends_with("<prefix>/share/mpgtools/mpg-2mb.lld.ld"));
}

TEST(FindingsTable, WordsOfACheckReplaceThoseOfTheTable) {
  Finding finding = {};
  finding.id = FindingId::mpg160;
  FixContext context;
  std::string lines = "\n  gcc:   -Wl,-z,noexecstack\n"
                      "  clang: -Wl,-z,noexecstack\n"
                      "  flang: -Wl,-z,noexecstack";
  EXPECT_TRUE(
      StringRef(fixText(finding, context)).ends_with("section:" + lines));
  finding.setFixWords("Do this:");
  EXPECT_EQ(fixText(finding, context), "Do this:" + lines);
  finding = {};
  finding.id = FindingId::mpg160;
  finding.setFix("");
  EXPECT_EQ(fixText(finding, context), "");
}

TEST(FindingsTable, NamesAreReadBackAsPrinted) {
  for (const FindingInfo &info : allFindings())
    EXPECT_EQ(parseGroup(groupName(info.group)), info.group);
  for (const char *wrong : {"", "heaps", "MPG103"})
    EXPECT_EQ(parseGroup(wrong), std::nullopt) << wrong;
  EXPECT_EQ(severityName(Severity::off), "off");
  EXPECT_EQ(severityName(Severity::error), "error");
  EXPECT_LT(Severity::warning, Severity::error);
}
