// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Baselines: what is written, what another checkout makes of it, and damaged
// ones.

#include "Policy/Policy.h"
#include "PolicySamples.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mpg;
using namespace llvm;

static std::string writeText(const std::string &path) {
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
  EXPECT_EQ(writeText(folder / "ci.json"),
            "{\"schema\":\"mpgbaseline-1\",\n\"findings\":[\n"
            "{\"path\":\"a\",\"id\":\"MPG130\",\"fingerprint\":\"" +
                computeFingerprint(brkUse, "") +
                "\",\"title\":\"the file takes memory by sbrk\"},\n"
                "{\"path\":\"bin/b\",\"id\":\"MPG103\",\"fingerprint\":\"" +
                computeFingerprint(overlap, "") +
                "\",\"title\":\".data at # shares a # page with .eh_frame "
                "(segments # and #)\"},\n"
                "{\"path\":\"bin/b\",\"id\":\"MPG130\",\"fingerprint\":\"" +
                computeFingerprint(brkUse, "") +
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
      there.write("ci/base.json", writeText(here / "ci/base.json"));
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
  EXPECT_NE(writeText(folder / "project/base.json").find("\"current/app\""),
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
  EXPECT_NE(writeText(folder / "project/plain.json").find("\"path\":\"app\""),
            std::string::npos);
}

TEST(Baseline, WrongFilesSayWhy) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"", "this is not JSON"},
      {"{", "this is not JSON"},
      {"[]", "this is not a baseline: its schema is not mpgbaseline-1"},
      {"{\"schema\":\"mpgaudit-1\"}", "this is not a baseline"},
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
  EXPECT_NE(writeText(target), "old");
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
