// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters of this process, its threads and children: page faults can be caused
// and must be counted; each counter has a value or a reason, with and without
// hardware counters and without permission.

#include "Measure/Counters.h"
#include <cerrno>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mpg;

static constexpr size_t pages = 200;

/// Faults once for each page.
static void touchPages() {
  size_t bytes = pages * size_t(sysconf(_SC_PAGESIZE));
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < bytes; i += bytes / pages)
    static_cast<volatile char *>(memory)[i] = 1;
  munmap(memory, bytes);
}

/// By name, with or without ":u".
static CounterValue valueOf(const Counters &counters, const std::string &name) {
  for (const CounterValue &value : counters.read())
    if (value.name == name || value.name == name + ":u")
      return value;
  ADD_FAILURE() << "no counter " << name;
  return {};
}

/// Whether this kernel lets us count at all.
static bool canCount() {
  return valueOf(Counters(), "page-faults").value.has_value();
}

/// The exit status of \p body in a child.
template <typename Body> static int statusOf(Body body) {
  pid_t child = fork();
  if (child == 0)
    _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Counters, EachHasAValueOrAReason) {
  std::vector<CounterValue> values = Counters().read();
  ASSERT_GE(values.size(), 10u);
  EXPECT_EQ(values[0].name.substr(0, 6), "cycles");
  for (const CounterValue &value : values)
    EXPECT_NE(value.value.has_value(), !value.missing.empty()) << value.name;
}

TEST(Counters, WithoutHardwareCountersTheOthersStillCount) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  Counters counters;
  CounterValue cycles = valueOf(counters, "cycles");
  if (cycles.value)
    EXPECT_GT(*cycles.value, 0u);
  else
    EXPECT_TRUE(cycles.missing.find("not visible") != std::string::npos ||
                cycles.missing.find("shared") != std::string::npos)
        << cycles.missing;
}

TEST(Counters, PageFaultsOfThisProcess) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  Counters counters;
  touchPages();
  uint64_t faults = valueOf(counters, "page-faults").value.value_or(0);
  EXPECT_GE(faults, pages);
  EXPECT_LT(faults, 5 * pages);
  EXPECT_GE(valueOf(counters, "minor-faults").value.value_or(0), pages);
}

TEST(Counters, ThreadsAndChildrenCount) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  Counters counters;
  std::thread(touchPages).join();
  EXPECT_GE(valueOf(counters, "page-faults").value.value_or(0), pages);
  statusOf([] {
    touchPages();
    return 0;
  });
  EXPECT_GE(valueOf(counters, "page-faults").value.value_or(0), 2 * pages);
}

/// The kernel's own reset forgets those that have ended.
TEST(Counters, ResetForgetsEndedThreadsToo) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  Counters counters;
  touchPages();
  std::thread(touchPages).join();
  counters.reset();
  EXPECT_LT(valueOf(counters, "page-faults").value.value_or(pages), pages / 2);
  touchPages();
  EXPECT_GE(valueOf(counters, "page-faults").value.value_or(0), pages);
}

TEST(Counters, OfAnotherProcessFromItsExecOn) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  pid_t child = fork();
  if (child == 0) {
    touchPages(); // before it is executed: not counted
    char byte;
    if (read(gate[0], &byte, 1) == 1)
      execl("/bin/true", "true", static_cast<char *>(nullptr));
    _exit(1);
  }
  Counters counters(child, /*onExec=*/true);
  EXPECT_EQ(valueOf(counters, "page-faults").value.value_or(1), 0u);
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(valueOf(counters, "page-faults").value.value_or(0), 10u);
  close(gate[0]);
  close(gate[1]);
}

TEST(Counters, OfAProcessThatIsGone) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  waitpid(child, nullptr, 0);
  for (const CounterValue &value : Counters(child).read()) {
    EXPECT_FALSE(value.value) << value.name;
    EXPECT_FALSE(value.missing.empty()) << value.name;
  }
}

/// What an ordinary user sees where the kernel lets him count his own code
/// only: values that say so, and no zero that is none.
TEST(Counters, WithoutPrivileges) {
  if (geteuid() != 0 || !canCount())
    GTEST_SKIP() << "needs root, to become somebody else";
  int status = statusOf([] {
    constexpr uid_t nobody = 65534;
    if (setuid(nobody) != 0)
      return 1;
    Counters counters;
    touchPages();
    CounterValue faults = valueOf(counters, "page-faults");
    if (faults.value && *faults.value < pages)
      return 2;
    bool isUserOnly = faults.name == "page-faults:u";
    CounterValue switches = valueOf(counters, "context-switches");
    if (isUserOnly && switches.value)
      return 3;
    if (!switches.value &&
        switches.missing.find("perf_event_paranoid is ") == std::string::npos &&
        switches.missing.find("may not open") == std::string::npos)
      return 4;
    return 0;
  });
  EXPECT_EQ(status, 0);
}
