// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of results: complete or unchanged. Targets that are not plain files
// keep their kind.

#include "Support/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

class OutputFile : public testing::Test {
protected:
  OutputFile() {
    SmallString<128> made;
    EXPECT_FALSE(sys::fs::createUniqueDirectory("output%%file", made));
    folder = made.str().str() + "/";
  }
  ~OutputFile() override { sys::fs::remove_directories(folder); }

  std::error_code fill(const std::string &name, StringRef text) {
    return writeOutputFile(folder + name,
                           [&](raw_ostream &out) { out << text; });
  }
  std::string read(const std::string &name) {
    auto file = MemoryBuffer::getFileAsStream(folder + name);
    return file ? (*file)->getBuffer().str() : "cannot be read";
  }
  mode_t readMode(const std::string &name) {
    struct stat status = {};
    lstat((folder + name).c_str(), &status);
    return status.st_mode;
  }
  unsigned count() {
    unsigned entries = 0;
    std::error_code code;
    for (sys::fs::directory_iterator at(folder, code), end; at != end && !code;
         at.increment(code))
      ++entries;
    return entries;
  }
  std::string folder;
};

} // namespace

TEST_F(OutputFile, ReplacesAFileAndKeepsItsMode) {
  EXPECT_FALSE(checkOutputFile(folder + "a"));
  EXPECT_EQ(count(), 0u);
  mode_t mask = umask(027);
  EXPECT_FALSE(fill("a", "one"));
  EXPECT_EQ(umask(mask), mode_t(027));
  EXPECT_EQ(readMode("a") & 07777, 0640u);
  ASSERT_EQ(chmod((folder + "a").c_str(), 0604), 0);
  EXPECT_FALSE(checkOutputFile(folder + "a"));
  EXPECT_EQ(read("a"), "one");
  EXPECT_FALSE(fill("a", "two"));
  EXPECT_EQ(read("a"), "two");
  EXPECT_EQ(readMode("a") & 07777, 0604u);
  EXPECT_EQ(count(), 1u);
}

/// Programs give a name to mpgrun and read from the file that they have open.
TEST_F(OutputFile, IsReadByWhoHasItOpen) {
  EXPECT_FALSE(fill("a", "one, which is longer"));
  int fd = open((folder + "a").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(fill("a", "two"));
  char text[32];
  EXPECT_EQ(StringRef(text, size_t(::read(fd, text, sizeof text))), "two");
  close(fd);
}

TEST_F(OutputFile, FollowsLinks) {
  EXPECT_FALSE(fill("file", "old"));
  ASSERT_EQ(symlink("file", (folder + "link").c_str()), 0);
  EXPECT_FALSE(fill("link", "new"));
  EXPECT_EQ(read("file"), "new");
  EXPECT_TRUE(S_ISLNK(readMode("link")));
  ASSERT_EQ(symlink("later", (folder + "ahead").c_str()), 0);
  EXPECT_FALSE(checkOutputFile(folder + "ahead"));
  EXPECT_FALSE(fill("ahead", "made"));
  EXPECT_EQ(read("later"), "made");
}

TEST_F(OutputFile, WritesIntoPipes) {
  ASSERT_EQ(mkfifo((folder + "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(checkOutputFile(folder + "pipe"));
  std::string got(8, '\0');
  std::thread reader([&] {
    int fd = open((folder + "pipe").c_str(), O_RDONLY);
    got.resize(size_t(::read(fd, got.data(), got.size())));
    close(fd);
  });
  EXPECT_FALSE(fill("pipe", "text"));
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(S_ISFIFO(readMode("pipe")));
}

TEST_F(OutputFile, TellsThatADeviceIsFull) {
  ASSERT_EQ(symlink("/dev/full", (folder + "full").c_str()), 0);
  EXPECT_FALSE(checkOutputFile(folder + "full"));
  EXPECT_EQ(fill("full", "text"), std::errc::no_space_on_device);
  EXPECT_TRUE(S_ISLNK(readMode("full")));
}

TEST_F(OutputFile, IsRefusedBeforeTheWork) {
  EXPECT_EQ(checkOutputFile(folder + "none/a"),
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(checkOutputFile(folder), std::errc::is_a_directory);
  EXPECT_TRUE(bool(checkOutputFile("/proc/self/none")));
}

TEST_F(OutputFile, KeepsWhatWasThereWithoutSpace) {
  EXPECT_FALSE(fill("old", "before"));
  rlimit limit, none;
  getrlimit(RLIMIT_FSIZE, &limit);
  none = {4, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  EXPECT_EQ(fill("old", "longer text"), std::errc::file_too_large);
  EXPECT_EQ(fill("new", "longer text"), std::errc::file_too_large);
  EXPECT_FALSE(fill("short", "text"));
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(read("old"), "before");
  EXPECT_EQ(read("short"), "text");
  EXPECT_EQ(count(), 2u);
}
