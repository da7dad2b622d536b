// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpg's output on standard error and in the file of mpgrun.

#include "base/Messages.h"
#include "StderrLines.h"
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

using namespace mpg;

static void report(Messages &messages, mpg_code code, const char *text) {
  LineBuffer line;
  line.add(text);
  messages.report(code, line);
}

static std::string inBytes(uint64_t bytes) {
  LineBuffer line;
  line.addBytes(bytes);
  return line.text();
}

TEST(LineBufferTest, Numbers) {
  LineBuffer line;
  line.addNumber(0).add(" ").addNumber(UINT64_MAX).add(" ").addHex(0).add(" ");
  line.addHex(0xdeadbeef0);
  EXPECT_STREQ(line.text(), "0 18446744073709551615 0x0 0xdeadbeef0");
}

TEST(LineBufferTest, BytesInTheUnitThatReads) {
  EXPECT_EQ(inBytes(0), "0 bytes");
  EXPECT_EQ(inBytes(17), "17 bytes");
  EXPECT_EQ(inBytes(1023), "1023 bytes");
  EXPECT_EQ(inBytes(312 << 10), "312 KiB");
  EXPECT_EQ(inBytes(2 << 20), "2 MiB");
  EXPECT_EQ(inBytes((2 << 20) + (512 << 10)), "2.5 MiB");
  EXPECT_EQ(inBytes((2 << 20) + 1), "2 MiB");
  EXPECT_EQ(inBytes((3 << 20) - 1), "2.9 MiB");
  EXPECT_EQ(inBytes(uint64_t(3) << 40), "3 TiB");
  EXPECT_EQ(inBytes(UINT64_MAX), "15.9 EiB");
}

TEST(LineBufferTest, WhatDoesNotFitIsCutAndTheLineStillEnds) {
  StderrLines lines;
  LineBuffer line;
  line.add(std::string(9999, 'x').c_str()).add("more").addNumber(7);
  line.writeTo(2);
  line.writeTo(2);
  auto said = lines.drain();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].size(), 510u);
  EXPECT_EQ(said[1], said[0]);
}

TEST(LineBufferTest, ForeignTextCannotForgeALine) {
  LineBuffer line;
  line.add("a\nmpg: b\x1b[31m\xff", 13);
  EXPECT_STREQ(line.text(), "a?mpg: b?[31m");
}

TEST(MessagesTest, TheVendorsCodesHaveTheVendorsPrefixOnItsSystems) {
  StderrLines lines;
  Messages messages;
  messages.setStyle(/*quiet=*/false, /*vendorCodes=*/true);
  report(messages, MPG_LPG_OVERLAP, "one");
  report(messages, MPG_LPG_FALLBACK, "two");
  report(messages, MPG_MSG_SHORTAGE, "three");
  EXPECT_EQ(lines.drain(), (std::vector<std::string>{
                               "[WARN] xos LPG 2003 - one",
                               "[WARN] xos LPG 9999 - two", "mpg: three"}));
}

TEST(MessagesTest, ElsewhereTheyAreMessagesAsAllOthers) {
  StderrLines lines;
  Messages messages;
  report(messages, MPG_LPG_OVERLAP, "one");
  EXPECT_EQ(lines.drain(), std::vector<std::string>{"mpg: one"});
}

TEST(MessagesTest, QuietLeavesErrors) {
  StderrLines lines;
  Messages messages;
  messages.setStyle(/*quiet=*/true, /*vendorCodes=*/true);
  report(messages, MPG_LPG_FALLBACK, "normal pages");
  report(messages, MPG_MSG_SHORTAGE, "normal pages");
  report(messages, MPG_MSG_BAD_VALUE, "a wrong value");
  report(messages, MPG_MSG_HEAP, "malloc returns NULL");
  EXPECT_EQ(lines.drain(),
            (std::vector<std::string>{"mpg: a wrong value",
                                      "mpg: malloc returns NULL"}));
}

TEST(MessagesTest, ACodeIsPrintedOnceAWrongValueEachTime) {
  StderrLines lines;
  Messages messages;
  report(messages, MPG_MSG_SHORTAGE, "one");
  report(messages, MPG_MSG_SHORTAGE, "other");
  report(messages, MPG_MSG_BAD_VALUE, "a");
  report(messages, MPG_MSG_BAD_VALUE, "b");
  report(messages, MPG_MSG_BAD_VALUE, "a");
  EXPECT_EQ(lines.drain(),
            (std::vector<std::string>{"mpg: one", "mpg: a", "mpg: b"}));
}

// Twenty misspelt variables must not keep a shortage from being told.
TEST(MessagesTest, ManyMessagesHideNoOther) {
  StderrLines lines;
  Messages messages;
  for (int i = 0; i < 20; ++i)
    report(messages, MPG_MSG_BAD_VALUE, std::to_string(i).c_str());
  const mpg_code codes[] = {
      MPG_LPG_PIE,      MPG_LPG_OVERLAP,   MPG_LPG_USER_STACK,
      MPG_LPG_THREADS,  MPG_LPG_STACK_TOP, MPG_LPG_STACK_BOTTOM,
      MPG_LPG_FALLBACK, MPG_MSG_SHORTAGE,  MPG_MSG_CONFLICT,
      MPG_MSG_VENDOR,   MPG_MSG_KERNEL,    MPG_MSG_FIRST_TOUCH};
  for (int round = 0; round < 2; ++round)
    for (mpg_code code : codes)
      report(messages, code, "x");
  EXPECT_EQ(lines.drain().size(), 20 + std::size(codes));
}

TEST(MessagesTest, FromManyThreadsALineIsOneLineOnce) {
  StderrLines lines;
  Messages messages;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 500; ++j)
        report(messages, MPG_MSG_SHORTAGE, "short");
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(lines.drain(), std::vector<std::string>{"mpg: short"});
}

// The file of mpgrun

namespace {

class StateFile {
public:
  explicit StateFile(const char *name = MPG_STATE_NAME, uint32_t pid = 0)
      : StateFile(memfd_create(name, 0), pid) {}
  /// Takes \p fd.
  StateFile(int fd, uint32_t pid) : fd(fd) {
    mpg_state empty = {};
    empty.magic = MPG_STATE_MAGIC;
    empty.structBytes = sizeof(empty);
    empty.pid = pid;
    write(&empty, sizeof(empty));
  }
  ~StateFile() { close(fd); }

  void write(const void *bytes, size_t count) {
    if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, count, 0) != ssize_t(count))
      abort();
  }
  mpg_state read() const {
    mpg_state state = {};
    if (pread(fd, &state, sizeof(state), 0) != sizeof(state))
      abort();
    return state;
  }
  std::string bytes() const {
    std::string text(size_t(lseek(fd, 0, SEEK_END)), '\0');
    return pread(fd, text.data(), text.size(), 0) == ssize_t(text.size()) ? text
                                                                          : "";
  }

  const int fd;
};

} // namespace

TEST(StateTest, ReaderSeesWhatWasSaid) {
  StderrLines lines;
  StateFile file;
  Messages messages;
  messages.start(/*speaks=*/false, file.fd);
  messages.setMode(2);
  messages.region(MPG_REGION_BSS, {0x400000, 0x800000}, 2 << 20, 2 << 20,
                  "half");
  messages.region(MPG_REGION_DATA, {0x200000, 0x400000}, 0, 2 << 20, "none");
  messages.region(MPG_REGION_BSS, {0x400000, 0xa00000}, 6 << 20, 2 << 20, "");
  report(messages, MPG_MSG_SHORTAGE, "pool");
  report(messages, MPG_MSG_SHORTAGE, "pool again");
  EXPECT_TRUE(lines.drain().empty()); // another rank speaks

  mpg_state state = file.read();
  EXPECT_EQ(state.magic, MPG_STATE_MAGIC);
  EXPECT_EQ(state.structBytes, sizeof(mpg_state));
  EXPECT_EQ(state.pid, uint32_t(getpid()));
  EXPECT_EQ(state.mode, 2u);
  EXPECT_EQ(state.fallback, 1u);
  ASSERT_EQ(state.regionCount, 2u);
  EXPECT_EQ(state.regions[0].kind, uint32_t(MPG_REGION_BSS));
  EXPECT_EQ(state.regions[0].bytes, 6u << 20);
  EXPECT_EQ(state.regions[0].hugeBytes, 6u << 20);
  EXPECT_STREQ(state.regions[0].reason, "");
  EXPECT_STREQ(state.regions[1].reason, "none");
  ASSERT_EQ(state.messageCount, 1u);
  EXPECT_EQ(state.messages[0].count, 2u);
  EXPECT_STREQ(state.messages[0].text, "pool");
}

// The heap may exist before the file is known: malloc comes first.
TEST(StateTest, ReaderSeesTheHeap) {
  StateFile file;
  Messages messages;
  Range reserved{0x700000000000, 0x710000000000};
  auto region = [&](uint64_t bytes, uint64_t hugeBytes, const char *reason) {
    messages.region(MPG_REGION_HEAP,
                    {reserved.start, reserved.start + uintptr_t(bytes)},
                    hugeBytes, 2 << 20, reason);
  };
  messages.setHeap(reserved, reserved.end + 4096);
  region(4 << 20, 4 << 20, "");
  messages.start(/*speaks=*/false, file.fd);
  mpg_state state = file.read();
  EXPECT_EQ(state.heapStart, reserved.start);
  EXPECT_EQ(state.heapEnd, reserved.end);
  EXPECT_EQ(state.heapTablesEnd, reserved.end + 4096);
  ASSERT_EQ(state.regionCount, 1u);
  EXPECT_EQ(state.regions[0].bytes, 4u << 20);
  region(8 << 20, 4 << 20, "the pool is empty");
  region(16 << 20, 4 << 20, nullptr); // still the same reason
  state = file.read();
  ASSERT_EQ(state.regionCount, 1u);
  EXPECT_EQ(state.regions[0].bytes, 16u << 20);
  EXPECT_EQ(state.regions[0].hugeBytes, 4u << 20);
  EXPECT_STREQ(state.regions[0].reason, "the pool is empty");
  region(4 << 20, 4 << 20, "");
  EXPECT_STREQ(file.read().regions[0].reason, "");
}

// Only this field shows memory that a program returned before it ended.
TEST(StateTest, ThePeakIsWhatThePoolGaveAtMost) {
  constexpr size_t bytes = 8 << 20;
  constexpr int twoMib = 21 << 26; // MAP_HUGE_2MB
  StateFile file;
  Messages messages;
  messages.start(/*speaks=*/false, file.fd);
  messages.region(MPG_REGION_BSS, {0x400000, 0x800000}, 0, 2 << 20, "none");
  EXPECT_EQ(file.read().peakHugetlbBytes, 0u);
  void *memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | twoMib, -1, 0);
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "no pool of large pages";
  memset(memory, 1, bytes);
  messages.region(MPG_REGION_BSS, {0x400000, 0x800000}, bytes, 2 << 20, "");
  EXPECT_EQ(file.read().peakHugetlbBytes, bytes);
  munmap(memory, bytes);
  messages.region(MPG_REGION_BSS, {0x400000, 0x800000}, 0, 2 << 20, "gone");
  EXPECT_EQ(file.read().peakHugetlbBytes, bytes);
}

TEST(StateTest, WhatDoesNotFitIsCounted) {
  StderrLines lines;
  StateFile file;
  Messages messages;
  messages.start(true, file.fd);
  std::string text(999, 'y');
  for (uintptr_t i = 0; i < 100; ++i) {
    messages.region(MPG_REGION_LIBRARY, {i << 20, (i + 1) << 20}, 0, 2 << 20,
                    text.c_str());
    report(messages, MPG_MSG_BAD_VALUE, (std::to_string(i) + text).c_str());
  }
  mpg_state state = file.read();
  EXPECT_EQ(state.regionCount, unsigned(MPG_STATE_REGIONS));
  EXPECT_EQ(state.regionsLost, 100u - MPG_STATE_REGIONS);
  EXPECT_EQ(state.messageCount, unsigned(MPG_STATE_MESSAGES));
  EXPECT_EQ(state.messagesLost, 100u - MPG_STATE_MESSAGES);
  EXPECT_EQ(strlen(state.regions[63].reason), size_t(MPG_STATE_TEXT) - 1);
  EXPECT_EQ(strlen(state.messages[15].text), size_t(MPG_STATE_TEXT) - 1);
}

static bool isLeftAlone(const StateFile &file) {
  std::string before = file.bytes();
  Messages messages;
  messages.start(true, file.fd);
  messages.setMode(1);
  return file.bytes() == before;
}

TEST(StateTest, AFileThatIsNotMpgrunsIsLeftAlone) {
  EXPECT_FALSE(isLeftAlone(StateFile()));
  EXPECT_TRUE(isLeftAlone(StateFile("something else")));
  EXPECT_TRUE(isLeftAlone(StateFile(MPG_STATE_NAME "2")));
  EXPECT_TRUE(isLeftAlone(StateFile(MPG_STATE_NAME, /*pid=*/1)));
  StateFile file;
  file.write("text of the program", 19);
  EXPECT_TRUE(isLeftAlone(file));
  file.write("", 0);
  EXPECT_TRUE(isLeftAlone(file));
  mpg_state newer = {};
  newer.magic = MPG_STATE_MAGIC;
  newer.structBytes = sizeof(newer) + 8;
  file.write(&newer, sizeof(newer));
  EXPECT_TRUE(isLeftAlone(file));
}

// Where there are no memory files, mpgrun creates such a file.
TEST(StateTest, ATemporaryFileIsMpgrunsByItsNameAndInNoFolder) {
  char ours[] = "/tmp/" MPG_STATE_NAME "-XXXXXX";
  int fd = mkstemp(ours);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(isLeftAlone(StateFile(dup(fd), 0)));
  unlink(ours);
  EXPECT_FALSE(isLeftAlone(StateFile(fd, 0)));

  char theirs[] = "/tmp/state-XXXXXX";
  fd = mkstemp(theirs);
  ASSERT_GE(fd, 0);
  unlink(theirs);
  EXPECT_TRUE(isLeftAlone(StateFile(fd, 0)));
}

TEST(StateTest, ANumberWithoutAFileIsNothing) {
  StderrLines lines;
  Messages messages;
  messages.start(true, 65535);
  report(messages, MPG_MSG_KERNEL, "still said");
  EXPECT_EQ(lines.drain(), std::vector<std::string>{"mpg: still said"});
}

TEST(StateTest, AChildDoesNotWriteIntoItsParentsFile) {
  StateFile file;
  Messages messages;
  messages.start(true, file.fd);
  pid_t child = fork();
  if (child == 0) {
    messages.setMode(3);
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(file.read().mode, 0u);
}

// A child forked while another thread holds the lock must not wait for that
// thread, which the child does not have.
TEST(StateTest, AChildOfAProgramThatIsSpeakingDoesNotHang) {
  StateFile file;
  Messages messages;
  messages.start(false, file.fd);
  bool stop = false;
  std::thread speaker([&] {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
      messages.setMode(1);
  });
  for (int i = 0; i < 200; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      messages.setMode(3);
      _exit(0);
    }
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << "the child hung in round " << i;
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  speaker.join();
}
