// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accepted findings: how they are written, what they take out, and which are
// complained about.

#include "Policy/Policy.h"
#include "PolicySamples.h"
#include "gtest/gtest.h"

using namespace mpg;
using namespace llvm;

static std::string getReason(StringRef text) {
  Expected<Suppression> suppression = parseSuppression(text);
  return suppression ? "" : toString(suppression.takeError());
}

TEST(Suppression, IsReadFromTheCommandLine) {
  Expected<Suppression> full = parseSuppression(
      "mpg130; path=*/bin/x ;symbol=sbrk;reason=a=b, old;expires=2027-01-31");
  ASSERT_TRUE(bool(full));
  EXPECT_EQ(full->id, "MPG130");
  EXPECT_EQ(full->path, "*/bin/x");
  EXPECT_EQ(full->symbol, "sbrk");
  EXPECT_EQ(full->reason, "a=b, old");
  EXPECT_EQ(full->expires, "2027-01-31");
  EXPECT_EQ(getReason("MPG130;reason=old;"), "");
}

TEST(Suppression, WrongOnesSayWhy) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"MPG130", "the suppression of MPG130 gives no reason"},
      {"MPG130;reason=  ", "reason of a suppression is empty"},
      {"", "id of a suppression is empty"},
      {"MPG13O;reason=x", "no finding 'MPG13O'; did you mean 'MPG130'?"},
      {"MPG0130;reason=x", "did you mean 'MPG130'?"},
      {"LPG2003;reason=x", "there is no finding 'LPG2003'"},
      {"MPG130;raeson=x", "did you mean 'reason'?"},
      {"MPG130;colour=x", "it is one of id path symbol reason expires"},
      {"MPG130;reason=x;y", "'y' is no KEY=VALUE; a value ends at ';'"},
      {"MPG130;reason=x;reason=y", "reason of a suppression is given twice"},
      {"MPG130;id=MPG131;reason=y", "id of a suppression is given twice"},
      {"MPG130;reason=x;path=[a", "of path is wrong: '[' is not closed"},
      {"MPG130;reason=x;expires=2027-02-29", "is not a date"},
  };
  for (auto [text, expected] : cases)
    EXPECT_NE(getReason(text).find(expected.str()), std::string::npos)
        << text.str() << ": " << getReason(text);
}

TEST(Suppression, DatesExist) {
  for (StringRef date :
       {"2027-01-31", "2028-02-29", "2000-02-29", "9999-12-31"})
    EXPECT_TRUE(isDate(date)) << date.str();
  for (StringRef date :
       {"2027-1-31", "2027-13-01", "2027-00-10", "2027-04-31", "2027-02-29",
        "1900-02-29", "2027-01-00", "27-01-31", "2027/01/31", "2027-01-31x",
        "+027-01-31", "2027-01-31-1", "tomorrow", ""})
    EXPECT_FALSE(isDate(date)) << date.str();
}

static Suppression entry(StringRef id, StringRef path = "",
                         StringRef expires = "") {
  Suppression made;
  made.id = id.str();
  made.path = path.str();
  made.reason = "known";
  made.expires = expires.str();
  made.origin = "conf:1";
  return made;
}

static std::vector<FindingId>
left(Suppressor &suppressor, std::vector<Finding> findings, StringRef path) {
  size_t before = findings.size();
  unsigned removed = suppressor.apply(findings, path);
  EXPECT_EQ(removed, before - findings.size());
  std::vector<FindingId> ids;
  for (const Finding &finding : findings)
    ids.push_back(finding.id);
  return ids;
}

using Ids = std::vector<FindingId>;

TEST(Suppressor, TakesOutWhatAnEntryIsAbout) {
  Suppressor suppressor({entry("MPG130", "bin/app")}, "2026-11-22");
  Ids kept = {FindingId::mpg103};
  EXPECT_EQ(left(suppressor, {overlap, brkUse}, "bin/app"), kept);
  EXPECT_EQ(left(suppressor, {brkUse, overlap}, "./x/../bin/app"), kept);
  EXPECT_EQ(left(suppressor, {brkUse}, "/elsewhere/bin/app"), Ids());
  EXPECT_EQ(left(suppressor, {brkUse}, "bin/other").size(), 1u);
  EXPECT_EQ(left(suppressor, {}, "bin/app").size(), 0u);
  EXPECT_TRUE(suppressor.complaints(true).empty());
}

TEST(Suppressor, ASymbolNarrowsAnEntry) {
  Suppression narrow = entry("MPG130");
  narrow.symbol = "s*";
  Suppressor suppressor({narrow}, "2026-11-22");
  Finding brk = finding(FindingId::mpg130, "brk", "brk");
  EXPECT_EQ(left(suppressor, {brkUse, brk}, "app").size(), 1u);
}

TEST(Suppressor, TheLastDayCountsAndTheNextDoesNot) {
  for (StringRef today : {"2026-11-22", "2026-11-23"}) {
    bool isOver = today == "2026-11-23";
    Suppressor suppressor({entry("MPG130", "", "2026-11-22")}, today.str());
    EXPECT_EQ(left(suppressor, {brkUse}, "app").size(), isOver ? 1u : 0u);
    std::vector<std::string> lines = suppressor.complaints();
    ASSERT_EQ(lines.size(), isOver ? 1u : 0u);
    for (const std::string &line : lines)
      EXPECT_EQ(line,
                "conf:1: the suppression of MPG130 expired on 2026-11-22 and "
                "does not count; remove it, or give a new date");
  }
}

TEST(Suppressor, UnusedIsSaidOnlyWhereThisRunCanKnow) {
  FindingSet without130;
  without130.insert(FindingId::mpg103);
  Suppression typed = entry("MPG130");
  typed.forThisRun = true;
  const struct {
    const char *what;
    Suppression entry;
    StringRef audited; ///< "" for no file
    const FindingSet *looked;
    bool whole, said;
  } cases[] = {
      {"its file", entry("MPG130", "bin/app"), "bin/app", nullptr, false, true},
      {"no file", entry("MPG130", "bin/app"), "", nullptr, true, false},
      {"another", entry("MPG130", "bin/app"), "app", nullptr, true, false},
      {"check off", entry("MPG130", "app"), "app", &without130, true, false},
      {"glob, part", entry("MPG130", "a*"), "app", nullptr, false, false},
      {"glob, whole", entry("MPG130", "a*"), "app", nullptr, true, true},
      {"any, part", entry("MPG130"), "app", nullptr, false, false},
      {"any, whole", entry("MPG130"), "app", nullptr, true, true},
      {"typed", typed, "app", nullptr, false, true},
  };
  for (const auto &one : cases) {
    Suppressor suppressor({one.entry}, "2026-11-22");
    std::vector<Finding> findings = {overlap};
    if (!one.audited.empty())
      suppressor.apply(findings, one.audited, one.looked);
    EXPECT_EQ(suppressor.complaints(one.whole).size(), one.said) << one.what;
  }
}

TEST(Suppressor, OfTwoEntriesForOneFindingNoneIsUnused) {
  Suppressor suppressor({entry("MPG130"), entry("MPG130", "app")}, "");
  EXPECT_EQ(left(suppressor, {brkUse}, "app").size(), 0u);
  EXPECT_TRUE(suppressor.complaints(true).empty());
}

TEST(Suppressor, WhatMakesAFileUnusableStays) {
  Finding damage = finding(FindingId::mpg902, "cut off");
  Suppressor suppressor({entry("MPG902")}, "2026-11-22");
  EXPECT_EQ(left(suppressor, {damage}, "app").size(), 0u); // a warning
  damage.severity = Severity::error;
  EXPECT_EQ(left(suppressor, {damage}, "app").size(), 1u);
  Baseline baseline;
  baseline.add(damage, "app");
  EXPECT_FALSE(baseline.contains(damage, "app"));
}

TEST(Suppressor, LooksWhereTheTargetDoes) {
  AuditSettings settings;
  settings.checks = defaultChecks();
  EXPECT_FALSE(lookedFor(settings, Target::fugaku).contains(FindingId::mpg104))
      << "without libraries nothing is sure";
  settings.libraries = std::make_shared<LibraryStore>();
  EXPECT_TRUE(lookedFor(settings, Target::fugaku).contains(FindingId::mpg104));
  EXPECT_FALSE(lookedFor(settings, Target::thp).contains(FindingId::mpg104));
  settings.named.insert(FindingId::mpg104);
  EXPECT_TRUE(lookedFor(settings, Target::thp).contains(FindingId::mpg104));
}
