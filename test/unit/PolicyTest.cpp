// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a project has decided about findings: patterns, fingerprints, accepted
// findings with their dates, the configuration file, baselines, and what --diff
// calls worse.

#include "Policy/Policy.h"
#include "Policy/Fingerprint.h"
#include "Policy/Glob.h"
#include "Policy/SuppressionReader.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <set>

using namespace mpg;
using namespace llvm;

namespace {
/// A folder that goes away with the test.
class Folder {
public:
  Folder() {
    SmallString<128> made;
    EXPECT_FALSE(sys::fs::createUniqueDirectory("policy", made));
    SmallString<128> real;
    EXPECT_FALSE(sys::fs::real_path(made, real));
    path = real.str().str();
  }
  ~Folder() { sys::fs::remove_directories(path); }
  std::string operator/(StringRef name) const {
    return path + "/" + name.str();
  }
  std::string write(StringRef name, StringRef text) const {
    std::string file = *this / name;
    sys::fs::create_directories(sys::path::parent_path(file));
    std::error_code error;
    raw_fd_ostream(file, error) << text;
    EXPECT_FALSE(error) << file;
    return file;
  }
  std::string path;
};
} // namespace

static Finding finding(FindingId id, StringRef title, StringRef symbol = "") {
  Finding made = {};
  made.id = id;
  made.severity = Severity::warning;
  made.title = title.str();
  made.where.symbol = symbol.str();
  return made;
}

static const Finding brkUse =
    finding(FindingId::mpg130, "the file takes memory by sbrk", "sbrk");
static const Finding overlap =
    finding(FindingId::mpg103, ".data at 0x404000 shares a 2 MiB page with "
                               ".eh_frame (segments 2 and 3)");

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static bool matches(StringRef pattern, StringRef text) {
  Expected<Glob> glob = Glob::parse(pattern);
  EXPECT_TRUE(bool(glob)) << pattern.str();
  return glob && glob->match(text);
}

TEST(Glob, MatchesAsAShell) {
  const struct {
    StringRef pattern, text;
    bool expected;
  } cases[] = {
      {"", "", true},
      {"", "a", false},
      {"app", "app", true},
      {"app", "apps", false},
      {"*", "", true},
      {"*", "a.so", true},
      {"*", "a/b", false},
      {"a*c", "abc", true},
      {"a*c", "a/c", false},
      {"a*b*c", "aXbXbc", true},
      {"**", "a/b/c", true},
      {"a/**", "a/b/c", true},
      {"a/**", "a", false},
      {"a/**", "ab/c", false},
      {"a/**/d", "a/d", true},
      {"a/**/d", "a/b/c/d", true},
      {"a/**/d", "a/bd", false},
      {"**/d", "d", true},
      {"**/d", "b/d", true},
      {"**/d", "bd", false},
      {"**/**/d", "d", true},
      {"a**d", "a/b/d", true},
      {"?", "a", true},
      {"?", "/", false},
      {"?", "", false},
      {"[a-c]x", "bx", true},
      {"[a-c]x", "dx", false},
      {"[!a-c]x", "dx", true},
      {"[^a-c]x", "ax", false},
      {"[!a]", "/", false},
      {"[]]", "]", true},
      {"[a-]", "-", true},
      {"lib.a(*.o)", "lib.a(x.o)", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"[[]", "[", true},
      {"caf\xc3\xa9", "caf\xc3\xa9", true},
      {"*\xe9", "latin\xe9", true},
  };
  for (const auto &[pattern, text, expected] : cases)
    EXPECT_EQ(matches(pattern, text), expected)
        << pattern.str() << " on " << text.str();
}

TEST(Glob, WrongPatternsAreRefused) {
  for (StringRef pattern : {"[", "[a", "[]", "[!]", "a\\", "[z-a]"}) {
    Expected<Glob> glob = Glob::parse(pattern);
    EXPECT_FALSE(bool(glob)) << pattern.str();
    consumeError(glob.takeError());
  }
}

TEST(Glob, ARelativePatternBeginsAtAnyPartOfThePath) {
  auto on = [](StringRef pattern, StringRef path) {
    return cantFail(Glob::parsePath(pattern)).match(path);
  };
  EXPECT_TRUE(on("app", "/home/me/app"));
  EXPECT_TRUE(on("bin/app", "/home/bin/app"));
  EXPECT_FALSE(on("bin/app", "/home/sbin/app"));
  EXPECT_FALSE(on("bin", "/home/bin/app"));
  EXPECT_TRUE(on("/home/**", "/home/bin/app"));
  EXPECT_FALSE(on("/bin/app", "/home/bin/app"));
  EXPECT_TRUE(cantFail(Glob::parsePath("bin/app")).isLiteral());
  EXPECT_FALSE(cantFail(Glob::parsePath("bin/*")).isLiteral());
}

// What takes an hour in a matcher that tries one way after the other.
TEST(Glob, TakesTimeInProportionToTheLengths) {
  std::string stars, folders;
  for (unsigned i = 0; i < 200; ++i) {
    stars += "*a";
    folders += "**/";
  }
  EXPECT_FALSE(matches(stars + "b", std::string(2000, 'a')));
  EXPECT_TRUE(matches(folders + "b", "x/y/b"));
  std::string many;
  for (unsigned i = 0; i < 100000; ++i)
    many += "**/";
  EXPECT_TRUE(matches(many + "b", "x/b"));
}

//===----------------------------------------------------------------------===//
// Fingerprints
//===----------------------------------------------------------------------===//

TEST(Fingerprint, NumbersOfTitlesGoAndNamesStay) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"at 0x404000 shares a 2 MiB page", "at # shares a # page"},
      {"15.5 GiB of 1,466 programs", "# of # programs"},
      {"2 Bytes", "# Bytes"},
      {"libmpi.so.40 and array2, x86-64", "libmpi.so.40 and array2, x86-64"},
      {"PT_LOAD[12].p_filesz", "PT_LOAD[#].p_filesz"},
      {"CPUs 12-59", "CPUs #-#"},
      {"", ""},
  };
  for (auto [text, expected] : cases)
    EXPECT_EQ(withoutNumbers(text), expected.str());
}

TEST(Fingerprint, IsTheSameAfterARebuild) {
  Finding rebuilt = overlap;
  rebuilt.title = ".data at 0x606000 shares a 2 MiB page with .eh_frame "
                  "(segments 3 and 4)";
  rebuilt.severity = Severity::error;
  rebuilt.where.address = 0x606000;
  rebuilt.where.bytes = 12345;
  rebuilt.where.segments = {3, 4};
  rebuilt.where.line = 12;
  rebuilt.offset = 99;
  rebuilt.evidence = "other numbers";
  EXPECT_EQ(fingerprintOf(overlap, "app"), fingerprintOf(rebuilt, "app"));
  EXPECT_EQ(fingerprintOf(overlap, "app").size(), 16u);
  EXPECT_EQ(fingerprintOf(overlap, "./b/../app"),
            fingerprintOf(overlap, "app"));
}

// Written down: SARIF viewers and baselines keep it over releases.
TEST(Fingerprint, IsTheSameInTheNextRelease) {
  EXPECT_EQ(fingerprintOf(brkUse, ""), "fccbb8aad657caeb");
  EXPECT_EQ(fingerprintOf(overlap, "bin/app"), "98d93fd369d993d6");
}

TEST(Fingerprint, DistinguishesWhatAUserWould) {
  std::vector<Finding> different(9, brkUse);
  different[1].id = FindingId::mpg131;
  different[2].sub = "query";
  different[3].where.symbol = "brk";
  different[4].where.section = ".data";
  different[5].via = "libmpi.so.40";
  different[6].via = "libmpi.so.40 > libopen-pal.so.40";
  different[7].title = "the file takes memory by brk";
  different[8].field = "e_phoff";
  std::set<std::string> seen;
  for (const Finding &one : different)
    seen.insert(fingerprintOf(one, "app"));
  seen.insert(fingerprintOf(brkUse, "other"));
  seen.insert(fingerprintOf(brkUse, ""));
  EXPECT_EQ(seen.size(), different.size() + 2);
}

TEST(Fingerprint, KnowsALibraryByItsNameAlone) {
  Finding first = brkUse, second = brkUse;
  first.via = "libmpi.so.40 > libopen-pal.so.40";
  second.via = "libomp.so > libmpi.so.41 > libopen-pal.so.80";
  EXPECT_EQ(fingerprintOf(first, "app"), fingerprintOf(second, "app"));
}

//===----------------------------------------------------------------------===//
// Suppressions
//===----------------------------------------------------------------------===//

static std::string reasonOf(StringRef text) {
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
  EXPECT_EQ(reasonOf("MPG130;reason=old;"), "");
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
      {"MPG130;reason=x;expires=2027-02-29", "is no date"},
  };
  for (auto [text, expected] : cases)
    EXPECT_NE(reasonOf(text).find(expected.str()), std::string::npos)
        << text.str() << ": " << reasonOf(text);
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

//===----------------------------------------------------------------------===//
// The configuration file
//===----------------------------------------------------------------------===//

static const StringRef keys[] = {"target", "checks",   "jobs", "closure",
                                 "env",    "baseline", "page"};

TEST(Configuration, ReadsScalarsListsAndSuppressions) {
  Folder folder;
  std::string path = folder.write("c.yaml", "\xef\xbb\xbf# ours\r\n"
                                            "target: fugaku\r\n"
                                            "checks: [layout, -MPG102]\r\n"
                                            "env:\r\n"
                                            "  - 'A=b c'\r\n"
                                            "  - B=\"x\"\r\n"
                                            "closure: no\r\n"
                                            "jobs: 4\r\n"
                                            "baseline: ci/base.json\r\n"
                                            "suppress:\r\n"
                                            "  - id: MPG130\r\n"
                                            "    path: '**/app'\r\n"
                                            "    reason: >\r\n"
                                            "      two\r\n"
                                            "      lines\r\n"
                                            "  - {id: mpg103, reason: r, "
                                            "expires: 2030-01-01}\r\n");
  Expected<Configuration> read = readConfiguration(path, keys);
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(read->options, Pairs({{"target", "fugaku"},
                                  {"checks", "layout"},
                                  {"checks", "-MPG102"},
                                  {"env", "A=b c"},
                                  {"env", "B=\"x\""},
                                  {"closure", "false"},
                                  {"jobs", "4"},
                                  {"baseline", folder / "ci/base.json"}}));
  EXPECT_EQ(read->lines, std::vector<unsigned>({2, 3, 3, 5, 6, 7, 8, 9}));
  ASSERT_EQ(read->suppressions.size(), 2u);
  EXPECT_EQ(read->suppressions[0].path, "**/app");
  EXPECT_EQ(read->suppressions[0].reason, "two lines");
  EXPECT_EQ(read->suppressions[0].origin, path + ":11");
  EXPECT_EQ(read->suppressions[1].id, "MPG103");
  EXPECT_EQ(read->suppressions[1].expires, "2030-01-01");
  EXPECT_EQ(read->suppressions[1].origin, path + ":16");
}

TEST(Configuration, MayBeEmpty) {
  Folder folder;
  for (StringRef text : {"", "# nothing\n", "---\n", "suppress:\n",
                         "suppress: []\n", "---\njobs: 2\n...\n"}) {
    Expected<Configuration> read =
        readConfiguration(folder.write("c.yaml", text), keys);
    EXPECT_TRUE(bool(read)) << text.str() << toString(read.takeError());
  }
}

TEST(Configuration, WrongOnesNameLineAndReason) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"page: 4K\ntaget: thp\n",
       "2: unknown key 'taget'; did you mean 'target'"},
      {"xyzzy: 1\n", "1: unknown key 'xyzzy'; it is one of target"},
      {"page: 4K\npage: 64K\n", "2: 'page' is given twice, first in line 1"},
      {"page: [4K]\n", "1: 'page' takes one value, not a list"},
      {"page: {a: b}\n", "1: 'page' takes a value, not further keys"},
      {"page:\n", "1: 'page' has no value"},
      {"env: [a\npage: 4K\n",
       ": the list of 'env' has a KEY: VALUE in it; is a ]"},
      {"page: ''\n", "1: 'page' has no value"},
      {"env: [a, [b]]\n", "1: 'env' takes one value, not a list"},
      {"checks: &x a\npage: *x\n", "2: 'page' has an alias"},
      {"<<: {page: 4K}\n", "1: unknown key '<<'"},
      {"closure: perhaps\n", "1: 'perhaps' of 'closure' is neither true nor"},
      {"[a, b]: c\n", "1: a key is missing or is no text"},
      {"page: |\n  4K\n  64K\n",
       "1: the value of 'page' has more than one line"},
      {"# a\n!!!!\n", "2: this is no list of KEY: VALUE"},
      {"%%%%\n", "1: this is no list of KEY: VALUE"},
      {"- page\n", "1: this is no list of KEY: VALUE"},
      {"page\n", "1: this is no list of KEY: VALUE"},
      {"page: 4K\n---\npage: 4K\n", "more than one YAML document"},
      {"page: 4K\n  jobs: 3\n", ": this is not YAML: "},
      {"page: \"4K\n", "1: this is not YAML: "},
      {"page: \"\\q\"\n", "1: this is not YAML: "},
      {"{page: 4K\n", ": this is not YAML: "},
      {"page: @x\n", "1: this is not YAML: "},
      {"suppress: MPG130\n", "1: 'suppress' takes a list"},
      {"suppress:\n- MPG130\n", "2: a suppression is missing"},
      {"suppress:\n- id: MPG130\n  reson: x\n", "3: unknown key 'reson' of a "
                                                "suppression; did you mean "
                                                "'reason'?"},
      {"suppress:\n- id: MPG130\n  path: *.so\n", "3: 'path' has an alias"},
      {"suppress:\n- id: MPG130\n  path: **/x\n", "3: "},
      {"suppress:\n- id: MPG130\n  path: a\n", "2: the suppression of MPG130 "
                                               "gives no reason"},
      {"suppress:\n- id: MPG133\n", "2: there is no finding 'MPG133'; did you "
                                    "mean 'MPG103'?"},
      {"suppress:\n- id: MPG130\n  id: MPG130\n", "3: 'id' is given twice"},
      {"suppress:\n- id: MPG130\n  expires: 2027-02-30\n",
       "3: '2027-02-30' of expires is no date"},
  };
  Folder folder;
  for (auto [text, expected] : cases) {
    std::string path = folder.write("c.yaml", text);
    Expected<Configuration> read = readConfiguration(path, keys);
    ASSERT_FALSE(bool(read)) << text.str();
    std::string reason = toString(read.takeError());
    EXPECT_EQ(reason.substr(0, path.size() + 1), path + ":");
    EXPECT_NE(reason.find(expected.str()), std::string::npos)
        << text.str() << reason;
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  }
}

TEST(Configuration, WhatIsNoSuchFileIsRefused) {
  Folder folder;
  const std::pair<std::string, StringRef> cases[] = {
      {folder / "missing", "No such file"},
      {folder.path, "no regular file"},
      {"/dev/null", "no regular file"},
      {folder.write("nul", StringRef("page: \0", 7)), "no text in UTF-8"},
      {folder.write("latin", "page: \xe9\n"), "no text in UTF-8"},
      {folder.write("long", "page: 4K\n# " + std::string(4095, '#') + "\n"),
       "long:2: the line has 4097 characters; at most 4096 are read"},
      {folder.write("large", std::string(300 << 10, '#')),
       "the file has 300 KiB; at most 256 KiB are read"},
  };
  for (const auto &[path, expected] : cases) {
    Expected<Configuration> read = readConfiguration(path, keys);
    ASSERT_FALSE(bool(read)) << path;
    std::string reason = toString(read.takeError());
    EXPECT_NE(reason.find(expected.str()), std::string::npos) << reason;
  }
}

// A reader that calls itself for each bracket does not return from these.
TEST(Configuration, DeepNestingIsRefused) {
  Folder folder;
  for (StringRef part : {"[", "{", "- ", "? ", "{a: ", "[a, "})
    for (StringRef start : {"", "page: ", "suppress: [", "suppress:\n- id: "}) {
      std::string text = start.str();
      for (unsigned i = 1; text.size() < 200000; ++i)
        text += part.str() + (i % 500 ? "" : "\n"); // no line is too long
      Expected<Configuration> read =
          readConfiguration(folder.write("deep", text), keys);
      ASSERT_FALSE(bool(read)) << start.str() << part.str();
      EXPECT_EQ(toString(read.takeError()).find("at most"), std::string::npos);
    }
}

TEST(Configuration, TheNearestFileUpwardsCounts) {
  Folder folder;
  std::string outer = folder.write(".mpgaudit.yaml", "");
  std::string inner = folder.write("a/b/.mpgaudit.yaml", "");
  folder.write("a/b/c/app", "");
  sys::fs::create_directories(folder / "a/.mpgaudit.yaml"); // no file
  EXPECT_EQ(findConfiguration(folder / "a/b/c"), inner);
  EXPECT_EQ(findConfiguration(folder / "a/b/"), inner);
  EXPECT_EQ(findConfiguration(folder / "a/b/../x/missing"), outer);
}

//===----------------------------------------------------------------------===//
// Baselines
//===----------------------------------------------------------------------===//

static std::string textOf(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

TEST(Baseline, IsSortedWithOneLineForEachFinding) {
  Folder folder;
  Baseline baseline;
  baseline.add(brkUse, folder / "bin/b");
  baseline.add(overlap, folder / "bin/b");
  baseline.add(brkUse, folder / "bin/b");
  baseline.add(brkUse, folder / "./a");
  ASSERT_FALSE(bool(baseline.write(folder / "ci.json")));
  EXPECT_EQ(textOf(folder / "ci.json"),
            "{\"schema\":\"mpgbaseline-1\",\n\"findings\":[\n"
            "{\"path\":\"a\",\"id\":\"MPG130\",\"fingerprint\":\"" +
                fingerprintOf(brkUse, "") +
                "\",\"title\":\"the file takes memory by sbrk\"},\n"
                "{\"path\":\"bin/b\",\"id\":\"MPG103\",\"fingerprint\":\"" +
                fingerprintOf(overlap, "") +
                "\",\"title\":\".data at # shares a # page with .eh_frame "
                "(segments # and #)\"},\n"
                "{\"path\":\"bin/b\",\"id\":\"MPG130\",\"fingerprint\":\"" +
                fingerprintOf(brkUse, "") +
                "\",\"title\":\"the file takes memory by sbrk\"}\n]}\n");
}

TEST(Baseline, IsGoodForAnotherCheckout) {
  Folder here, there;
  Baseline baseline;
  baseline.add(brkUse, here / "build/app");
  baseline.add(brkUse, here / "latin\xe9");
  sys::fs::create_directories(here / "ci");
  sys::fs::create_directories(there / "build");
  ASSERT_FALSE(bool(baseline.write(here / "ci/base.json")));
  std::string moved =
      there.write("ci/base.json", textOf(here / "ci/base.json"));
  Expected<Baseline> read = Baseline::read(moved);
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  EXPECT_TRUE(read->contains(brkUse, there / "build/app"));
  EXPECT_TRUE(read->contains(brkUse, there / "./build/x/../app"));
  EXPECT_TRUE(read->contains(brkUse, there / "latin\xe9"));
  EXPECT_FALSE(read->contains(brkUse, there / "latin\xe8"));
  EXPECT_FALSE(read->contains(overlap, there / "build/app"));
  EXPECT_FALSE(read->contains(brkUse, there / "build/other"));
  EXPECT_FALSE(read->contains(brkUse, here / "build/app"));
  std::vector<Finding> findings = {overlap, brkUse};
  EXPECT_EQ(read->apply(findings, there / "build/app"), 1u);
  EXPECT_EQ(findings.size(), 1u);
}

TEST(Baseline, KnowsAFileBehindALink) {
  Folder folder;
  folder.write("project/today/app", "");
  // A folder that is a link to another build tomorrow keeps its name, and the
  // project may be reached by a link.
  ASSERT_FALSE(sys::fs::create_link("today", folder / "project/current"));
  ASSERT_FALSE(sys::fs::create_link("project", folder / "link"));
  Baseline baseline;
  baseline.add(brkUse, folder / "project/current/app");
  ASSERT_FALSE(bool(baseline.write(folder / "project/base.json")));
  EXPECT_NE(textOf(folder / "project/base.json").find("\"current/app\""),
            std::string::npos);
  Expected<Baseline> read = Baseline::read(folder / "project/base.json");
  ASSERT_TRUE(bool(read));
  EXPECT_TRUE(read->contains(brkUse, folder / "project/current/app"));
  EXPECT_FALSE(read->contains(brkUse, folder / "project/other/app"));
  Expected<Baseline> byLink = Baseline::read(folder / "link/base.json");
  ASSERT_TRUE(bool(byLink));
  EXPECT_TRUE(byLink->contains(brkUse, folder / "link/current/app"));
  Baseline plain;
  plain.add(brkUse, folder / "project/app");
  ASSERT_FALSE(bool(plain.write(folder / "link/plain.json")));
  EXPECT_NE(textOf(folder / "project/plain.json").find("\"path\":\"app\""),
            std::string::npos);
}

TEST(Baseline, WrongFilesSayWhy) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"", "this is not JSON"},
      {"{", "this is not JSON"},
      {"[]", "this is no baseline: its schema is not mpgbaseline-1"},
      {"{\"schema\":\"mpgaudit-1\"}", "this is no baseline"},
      {"{\"schema\":\"mpgbaseline-2\",\"findings\":[]}",
       "has the schema mpgbaseline-2, and this mpgaudit knows mpgbaseline-1; "
       "write it again with --write-baseline"},
      {"{\"schema\":\"mpgbaseline-1\"}", "no list \"findings\""},
      {"{\"schema\":\"mpgbaseline-1\",\"findings\":[{\"path\":\"a\"}]}",
       "finding 1 of the baseline lacks"},
      {"{\"schema\":\"mpgbaseline-1\",\"findings\":[{\"path\":\"a\",\"id\":"
       "\"MPG130\",\"fingerprint\":\"0123456789abcdeg\"}]}",
       "finding 1 of the baseline lacks"},
  };
  Folder folder;
  for (auto [text, expected] : cases) {
    Expected<Baseline> read = Baseline::read(folder.write("b.json", text));
    ASSERT_FALSE(bool(read)) << text.str();
    std::string reason = toString(read.takeError());
    EXPECT_NE(reason.find(expected.str()), std::string::npos) << reason;
  }
  for (StringRef part : {"[", "{\"a\":"}) {
    std::string deep;
    while (deep.size() < 4000000)
      deep += part;
    Expected<Baseline> read = Baseline::read(folder.write("deep", deep));
    ASSERT_FALSE(bool(read));
    consumeError(read.takeError());
  }
}

TEST(Baseline, IsWrittenWholeOrNotAtAll) {
  Folder folder;
  Baseline baseline;
  baseline.add(brkUse, folder / "a");
  std::string target = folder.write("target", "old");
  ASSERT_FALSE(sys::fs::create_link("target", folder / "link"));
  ASSERT_FALSE(bool(baseline.write(folder / "link")));
  EXPECT_TRUE(sys::fs::is_symlink_file(folder / "link"));
  EXPECT_NE(textOf(target), "old");
  for (const std::string &path :
       {folder / "missing/b.json", folder.path, std::string("/dev/null")}) {
    Error error = baseline.write(path);
    ASSERT_TRUE(bool(error)) << path;
    EXPECT_NE(toString(std::move(error)).find("is not written"),
              std::string::npos);
  }
  std::error_code code;
  unsigned files = 0;
  for (sys::fs::directory_iterator at(folder.path, code), end; at != end;
       at.increment(code))
    ++files;
  EXPECT_EQ(files, 2u) << "a temporary file stayed";
}

//===----------------------------------------------------------------------===//
// --diff
//===----------------------------------------------------------------------===//

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

static std::string diffOf(const FileReport &before, const FileReport &after,
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
  EXPECT_EQ(diffOf(report({overlap}), report({moved}), false),
            "app -> app: nothing changed\n");
}

TEST(Diff, NewWarningsAndHigherSeveritiesAreWorse) {
  EXPECT_EQ(diffOf(report({}), report({brkUse}), true),
            "app -> app: worse\n"
            "  new       warning: MPG130: the file takes memory by sbrk\n");
  EXPECT_EQ(diffOf(report({brkUse}), report({}), false),
            "app -> app: no worse\n"
            "  gone      warning: MPG130: the file takes memory by sbrk\n");
  Finding note = brkUse;
  note.severity = Severity::note;
  EXPECT_EQ(diffOf(report({}), report({note}), false),
            "app -> app: no worse\n"
            "  new       note: MPG130: the file takes memory by sbrk\n");
  EXPECT_EQ(diffOf(report({note}), report({brkUse}), true),
            "app -> app: worse\n"
            "  changed   note -> warning: MPG130: the file takes memory by "
            "sbrk\n");
  EXPECT_NE(
      diffOf(report({brkUse, brkUse}), report({brkUse}), false).find("gone"),
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
    std::string text = diffOf(before, after, one.worse);
    EXPECT_NE(text.find("  bss       on large pages can be: " + one.line.str()),
              std::string::npos)
        << text;
  }
  FileReport before = report({}), after = report({});
  before.regions = {bss(8, 6)};
  after.regions = {bss(8, 6)};
  after.regions[0].bytes += 4096;
  before.regions[0].name = after.regions[0].name = "data";
  EXPECT_EQ(diffOf(before, after, false), "app -> app: nothing changed\n");
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
  EXPECT_EQ(diffOf(before, after, false),
            "app -> app: no worse\n"
            "  kind      exec -> pie\n"
            "  segments  0 -> 1 (RW), aligned to 64 KiB\n"
            "  needs     +libmpg.so.1 -libx.so\n");
  before.facts.dynamic->needed = {"libc.so.6", "libmpg.so.1"};
  after.kind = ElfKind::exec;
  after.facts.layout->loads.clear();
  EXPECT_EQ(diffOf(before, after, false),
            "app -> app: no worse\n"
            "  needs     in another order: libmpg.so.1 libc.so.6\n");
}
