// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns of suppressions: what they match, which are refused, and how long
// matching may take.

#include "Policy/Policy.h"
#include "gtest/gtest.h"

using namespace mpg;
using namespace llvm;

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

// Takes an hour in a matcher that backtracks.
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
