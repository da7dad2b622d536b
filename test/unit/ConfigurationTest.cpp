// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The configuration file: what it may say, what is wrong with it, and which one
// counts.

#include "PolicySamples.h"
#include "gtest/gtest.h"

using namespace mpg;
using namespace llvm;

static const ConfigurationKey keys[] = {
    {"target"},
    {"checks", /*isSwitch=*/false, /*isList=*/true},
    {"jobs"},
    {"closure", /*isSwitch=*/true},
    {"env", /*isSwitch=*/false, /*isList=*/true},
    {"baseline", /*isSwitch=*/false, /*isList=*/false, /*isPath=*/true},
    {"page"}};

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
  std::string entries;
  for (const Configuration::Entry &entry : read->entries)
    entries +=
        std::to_string(entry.line) + " " + entry.key + "=" + entry.value + "\n";
  EXPECT_EQ(entries, "2 target=fugaku\n"
                     "3 checks=layout\n"
                     "3 checks=-MPG102\n"
                     "5 env=A=b c\n"
                     "6 env=B=\"x\"\n"
                     "7 closure=false\n"
                     "8 jobs=4\n"
                     "9 baseline=" +
                         (folder / "ci/base.json") + "\n");
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
      {"[a, b]: c\n", "1: a key is missing or is not text"},
      {"page: |\n  4K\n  64K\n",
       "1: the value of 'page' has more than one line"},
      {"# a\n!!!!\n", "2: this is not a list of KEY: VALUE"},
      {"%%%%\n", "1: this is not a list of KEY: VALUE"},
      {"- page\n", "1: this is not a list of KEY: VALUE"},
      {"page\n", "1: this is not a list of KEY: VALUE"},
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
       "3: '2027-02-30' of expires is not a date"},
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
      {folder.path, "not a regular file"},
      {"/dev/null", "not a regular file"},
      {folder.write("nul", StringRef("page: \0", 7)), "not UTF-8 text"},
      {folder.write("latin", "page: \xe9\n"), "not UTF-8 text"},
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
