// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages for a program that damages its heap, and how it ends: each kind
// of damage, each bit of MALLOC_CHECK_, many threads at once, and a handler of
// SIGABRT that does typical things.

#include "heap/HeapReport.h"
#include "StderrLines.h"
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/wait.h>
#include <thread>

using namespace mpg;

static constexpr unsigned prints = 1, ends = 2, brief = 4;
static constexpr uintptr_t start = 0x7f0012345670;

static HeapDamage makeDamage(HeapError error) {
  HeapDamage damage;
  damage.error = error;
  damage.pointer = start;
  damage.block = {start, start + 64};
  return damage;
}

/// The one line that \p damage gives.
static std::string formatLine(const HeapDamage &damage, unsigned check) {
  StderrLines lines;
  reportHeapDamage(damage, check);
  auto said = lines.drain();
  return said.size() == 1 ? said[0] : std::to_string(said.size()) + " lines";
}

TEST(HeapReportTest, EachKindNamesBothAddressesAndTheFix) {
  EXPECT_EQ(formatLine(makeDamage(HeapError::freedBefore), prints),
            "mpg: heap: free(0x7f0012345670): block was freed before (64 bytes "
            "at 0x7f0012345670); fix: free each block once");
  HeapDamage inside = makeDamage(HeapError::insideBlock);
  inside.pointer += 17;
  inside.function = "realloc";
  EXPECT_EQ(formatLine(inside, prints),
            "mpg: heap: realloc(0x7f0012345681): points into a block, not at "
            "its start (64 bytes at 0x7f0012345670); fix: give the address "
            "that malloc returned");
  HeapDamage foreign = makeDamage(HeapError::notOurs);
  foreign.block = {};
  EXPECT_EQ(formatLine(foreign, prints),
            "mpg: heap: free(0x7f0012345670): not from this heap; fix: give "
            "only what malloc and its relatives returned");
  HeapDamage after = makeDamage(HeapError::writtenAfterFree);
  after.function = "malloc";
  EXPECT_EQ(formatLine(after, prints | brief),
            "mpg: heap: malloc(0x7f0012345670): block was written to after it "
            "was freed (64 bytes at 0x7f0012345670)");
  after.pointer = 0;
  after.block = {0, 64};
  EXPECT_EQ(formatLine(after, prints | brief),
            "mpg: heap: malloc(): block was written to after it was freed (64 "
            "bytes)");
  HeapDamage past = makeDamage(HeapError::writtenAround);
  past.wrongByte = start + 64;
  EXPECT_EQ(formatLine(past, prints | brief),
            "mpg: heap: free(0x7f0012345670): written past its end (64 bytes "
            "at 0x7f0012345670, first wrong byte at 0x7f00123456b0)");
  EXPECT_NE(
      formatLine(past, prints).find("; fix: write only to allocated bytes"),
      std::string::npos);
  past.wrongByte = start - 8;
  EXPECT_EQ(formatLine(past, prints | brief),
            "mpg: heap: free(0x7f0012345670): written before its start (64 "
            "bytes at 0x7f0012345670, first wrong byte at 0x7f0012345668)");
}

/// "; called from 0x... (/file+0x...)" for \p caller.
static std::string describePlace(uintptr_t caller) {
  HeapDamage damage = makeDamage(HeapError::freedBefore);
  damage.caller = caller;
  std::string line = formatLine(damage, prints);
  size_t from = line.find("; called"), to = line.find("; fix");
  return from < to ? line.substr(from, to - from) : line;
}

static std::string hex(uintptr_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%zx", size_t(value));
  return text;
}

// addr2line and nm count from the loader's base of each file.
TEST(HeapReportTest, TheCallerIsAFileAndTheAddressInIt) {
  struct Found {
    unsigned files = 0;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *context) {
        char self[4096] = {};
        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
          return 1;
        std::string path = *info->dlpi_name ? info->dlpi_name : self;
        char *real = path[0] == '/' ? realpath(path.c_str(), nullptr) : nullptr;
        for (unsigned i = 0; real && i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
          uintptr_t address = info->dlpi_addr + segment.p_vaddr + 0x12;
          EXPECT_EQ(describePlace(address),
                    "; called from " + hex(address) + " (" + real + "+" +
                        hex(segment.p_vaddr + 0x12) + ")");
          ++static_cast<Found *>(context)->files;
        }
        free(real);
        return 0;
      },
      &found);
  EXPECT_GE(found.files, 3u); // the program, C++ library, C library
}

TEST(HeapReportTest, ACallerThatIsInNoFileIsAnAddressAlone) {
  auto onStack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  EXPECT_EQ(describePlace(onStack), "; called from " + hex(onStack));
  EXPECT_EQ(describePlace(1), "; called from 0x1");
  HeapDamage damage = makeDamage(HeapError::notOurs);
  damage.caller = onStack;
  EXPECT_EQ(formatLine(damage, prints | brief).find("called"),
            std::string::npos);
}

TEST(HeapReportTest, WithoutTheAbortBitTheProgramGoesOn) {
  StderrLines lines;
  errno = 77;
  for (unsigned check : {prints, prints | brief, prints})
    reportHeapDamage(makeDamage(HeapError::freedBefore), check);
  EXPECT_EQ(lines.drain().size(), 3u); // each time, not once
  EXPECT_EQ(errno, 77);
  reportHeapDamage(makeDamage(HeapError::freedBefore), 0);
  reportHeapDamage(makeDamage(HeapError::freedBefore), brief);
  EXPECT_EQ(lines.drain().size(), 3u);
}

TEST(HeapReportDeathTest, TheAbortBitEndsTheProgram) {
  HeapDamage damage = makeDamage(HeapError::freedBefore);
  EXPECT_EXIT(reportHeapDamage(damage, prints | ends),
              testing::KilledBySignal(SIGABRT),
              "^mpg: heap: free.*; fix: free each block once\n$");
  EXPECT_EXIT(reportHeapDamage(damage, prints | ends | brief),
              testing::KilledBySignal(SIGABRT), "^mpg: heap: [^;]*\n$");
  EXPECT_EXIT(reportHeapDamage(damage, ends), testing::KilledBySignal(SIGABRT),
              "^$");
}

/// In a child: \p count threads that all come at once.
static void damageFromThreads(unsigned count, unsigned check) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&] {
      for (++ready; ready < count;) {
      }
      reportHeapDamage(makeDamage(HeapError::freedBefore), check);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(HeapReportDeathTest, OfManyThreadsTheFirstEndsTheProgram) {
  EXPECT_EXIT(damageFromThreads(8, prints | ends),
              testing::KilledBySignal(SIGABRT),
              "^mpg: heap: free[^\n]*once\n$");
}

TEST(HeapReportTest, OfManyThreadsEachIsHeard) {
  StderrLines lines;
  damageFromThreads(8, prints);
  auto said = lines.drain();
  ASSERT_EQ(said.size(), 8u);
  for (const std::string &line : said)
    EXPECT_EQ(line, said[0]);
}

static void handlerThatAllocates(int) {
  free(malloc(100));
  reportHeapDamage(makeDamage(HeapError::insideBlock), prints);
  _exit(9);
}

static sigjmp_buf wayOut;
static void handlerThatLeaves(int) { siglongjmp(wayOut, 1); }

static void leaveAndReportAgain() {
  signal(SIGABRT, handlerThatLeaves);
  if (sigsetjmp(wayOut, 1) == 0)
    reportHeapDamage(makeDamage(HeapError::freedBefore), prints | ends);
  // No thread is inside any more, and none waits.
  reportHeapDamage(makeDamage(HeapError::notOurs), prints);
  std::thread([] {
    reportHeapDamage(makeDamage(HeapError::insideBlock), prints);
  }).join();
  _exit(8);
}

TEST(HeapReportDeathTest, AHandlerMayDoWhatItLikes) {
  signal(SIGABRT, handlerThatAllocates);
  EXPECT_EXIT(
      reportHeapDamage(makeDamage(HeapError::freedBefore), prints | ends),
      testing::ExitedWithCode(9), "freed before.*\n.*points into");
  signal(SIGABRT, SIG_DFL);
  EXPECT_EXIT(leaveAndReportAgain(), testing::ExitedWithCode(8),
              "freed before.*\n.*not from this heap.*\n.*points into");
}

// The thread that was reporting is not in the child.
TEST(HeapReportTest, AChildDoesNotWaitForAThreadOfItsParent) {
  std::atomic<bool> stop{false};
  StderrLines lines;
  std::thread busy([&] {
    while (!stop)
      reportHeapDamage(makeDamage(HeapError::freedBefore), prints | brief);
  });
  for (int i = 0; i < 50; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(3); // less than what a waiting thread would wait
      reportHeapDamage(makeDamage(HeapError::freedBefore), prints | brief);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}
