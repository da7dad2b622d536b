// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fingerprints of findings: the same after a rebuild and in the next release,
// different where a user would see two findings.

#include "Policy/Policy.h"
#include "PolicySamples.h"
#include "gtest/gtest.h"
#include <set>

using namespace mpg;
using namespace llvm;

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
  EXPECT_EQ(computeFingerprint(overlap, "app"),
            computeFingerprint(rebuilt, "app"));
  EXPECT_EQ(computeFingerprint(overlap, "app").size(), 16u);
  EXPECT_EQ(computeFingerprint(overlap, "./b/../app"),
            computeFingerprint(overlap, "app"));
}

// Written down: SARIF viewers and baselines keep it over releases.
TEST(Fingerprint, IsTheSameInTheNextRelease) {
  EXPECT_EQ(computeFingerprint(brkUse, ""), "fccbb8aad657caeb");
  EXPECT_EQ(computeFingerprint(overlap, "bin/app"), "98d93fd369d993d6");
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
    seen.insert(computeFingerprint(one, "app"));
  seen.insert(computeFingerprint(brkUse, "other"));
  seen.insert(computeFingerprint(brkUse, ""));
  EXPECT_EQ(seen.size(), different.size() + 2);
}

TEST(Fingerprint, KnowsALibraryByItsNameAlone) {
  Finding first = brkUse, second = brkUse;
  first.via = "libmpi.so.40 > libopen-pal.so.40";
  second.via = "libomp.so > libmpi.so.41 > libopen-pal.so.80";
  EXPECT_EQ(computeFingerprint(first, "app"),
            computeFingerprint(second, "app"));
}
