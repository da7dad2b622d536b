// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of findings as the tools see it: look-up, names, and the part of a
// remedy that a report prints, which a user pastes into a link command. The
// words of the table are checked against the documentation elsewhere.

#include "Audit/Audit.h"
#include "Audit/Finding.h"
#include "Elf/Image.h"
#include "llvm/ADT/SmallVector.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace mpg;
using llvm::StringRef;

static llvm::SmallVector<StringRef, 16> partsOf(StringRef text, StringRef by) {
  llvm::SmallVector<StringRef, 16> parts;
  text.split(parts, by, -1, /*KeepEmpty=*/false);
  return parts;
}

TEST(FindingsTable, RowsAscendAndAreFoundByNumber) {
  unsigned previous = 0;
  for (const FindingInfo &info : allFindings()) {
    unsigned number = unsigned(info.id);
    EXPECT_GT(number, previous);
    previous = number;
    ASSERT_NE(findInfo(number), nullptr);
    EXPECT_EQ(findInfo(number)->id, info.id);
    EXPECT_EQ(infoOf(info.id).summary, info.summary);
    EXPECT_EQ(idText(info.id), "MPG" + std::to_string(number));
  }
  EXPECT_EQ(findInfo(0), nullptr);
  EXPECT_EQ(findInfo(101), nullptr);
  EXPECT_EQ(findInfo(previous + 1), nullptr);
}

TEST(FindingsTable, DefectsAndMalformedRowsAreTheSameNumbers) {
  const DefectKind kinds[] = {
      DefectKind::ident,          DefectKind::header,
      DefectKind::programHeaders, DefectKind::segmentRange,
      DefectKind::segmentSize,    DefectKind::segmentAddress,
      DefectKind::segmentOrder,   DefectKind::segmentAlign,
      DefectKind::interpreter,    DefectKind::dynamicSection,
      DefectKind::dynamicPointer, DefectKind::stringOffset,
      DefectKind::sectionHeaders, DefectKind::sectionRange,
      DefectKind::symbolTable,    DefectKind::note,
      DefectKind::archive,        DefectKind::readFailed};
  unsigned rows = 0;
  for (const FindingInfo &info : allFindings())
    rows += info.group == FindingGroup::malformed;
  EXPECT_EQ(rows, std::size(kinds));
  for (DefectKind kind : kinds) {
    const FindingInfo *info = findInfo(unsigned(kind));
    ASSERT_NE(info, nullptr) << unsigned(kind);
    EXPECT_EQ(info->group, FindingGroup::malformed) << unsigned(kind);
  }
}

TEST(FindingsTable, ChecksByDefaultAreThoseThatSomeTargetWants) {
  FindingSet checks = defaultChecks();
  EXPECT_TRUE(checks.contains(FindingId::mpg103));
  EXPECT_TRUE(checks.contains(FindingId::mpg104)); // off for two targets only
  for (const FindingInfo &info : allFindings())
    EXPECT_EQ(checks.contains(info.id), info.id != FindingId::mpg142)
        << idText(info.id);
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
  FindingInfo info = infoOf(FindingId::mpg103);
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
  std::string remedy = shortRemedy(infoOf(FindingId::mpg103), context);
  for (StringRef line : partsOf(remedy, "\n"))
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
      StringRef(fixText(finding, context)).ends_with("linker:" + lines));
  finding.setFixWords("Do this:");
  EXPECT_EQ(fixText(finding, context), "Do this:" + lines);
  finding = {};
  finding.id = FindingId::mpg160;
  finding.setFix("");
  EXPECT_EQ(fixText(finding, context), "");
}

TEST(FindingsTable, SizesAreWrittenAsOptionsTakeThem) {
  EXPECT_EQ(pageOption(uint64_t(2) << 20), "2M");
  EXPECT_EQ(pageOption(uint64_t(512) << 20), "512M");
  EXPECT_EQ(pageOption(uint64_t(16) << 30), "16G");
}

TEST(FindingsTable, CompilerLinesHoldNothingButFlags) {
  unsigned seen = 0;
  for (const FindingInfo &info : allFindings())
    for (StringRef line : partsOf(info.remedy, "\n")) {
      StringRef flags = line.ltrim();
      if (line == flags ||
          !(flags.consume_front("gcc:") || flags.consume_front("clang:") ||
            flags.consume_front("flang:") || flags.consume_front("fcc:") ||
            flags.consume_front("lld:") || flags.consume_front("bfd:") ||
            flags.consume_front("any:")))
        continue;
      ++seen;
      for (StringRef word : partsOf(flags, " "))
        EXPECT_TRUE(word.starts_with("-")) << idText(info.id) << word.str();
    }
  EXPECT_GT(seen, 20u);
}

TEST(FindingsTable, NamesAreReadBackAsPrinted) {
  for (unsigned i = 0; i < targetCount; ++i)
    EXPECT_EQ(parseTarget(targetName(Target(i))), Target(i));
  for (const FindingInfo &info : allFindings())
    EXPECT_EQ(parseGroup(groupName(info.group)), info.group);
  for (const char *wrong : {"", "Fugaku", "mpg ", "auto"})
    EXPECT_EQ(parseTarget(wrong), std::nullopt) << wrong;
  for (const char *wrong : {"", "heaps", "MPG103"})
    EXPECT_EQ(parseGroup(wrong), std::nullopt) << wrong;
  EXPECT_EQ(severityName(Severity::off), "off");
  EXPECT_EQ(severityName(Severity::error), "error");
  EXPECT_LT(Severity::warning, Severity::error);
}

TEST(FindingsTable, VendorCodesNameFindingsThatNameThem) {
  std::set<std::string> codes;
  for (const VendorCode &code : allVendorCodes()) {
    EXPECT_TRUE(codes.insert(code.code.str()).second) << code.code.str();
    for (StringRef id : partsOf(code.related, ", ")) {
      unsigned number = 0;
      ASSERT_TRUE(id.consume_front("MPG")) << id.str();
      ASSERT_FALSE(id.getAsInteger(10, number)) << id.str();
      EXPECT_NE(findInfo(number), nullptr) << number;
    }
  }
  for (const FindingInfo &info : allFindings()) {
    if (info.vendor.empty())
      continue;
    bool named = false;
    for (const VendorCode &code : allVendorCodes())
      named |=
          code.code == info.vendor && code.related.contains(idText(info.id));
    EXPECT_TRUE(named) << idText(info.id);
  }
}
