// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters of this process, its threads and children: page faults can be caused
// and must be counted; each counter has a value or a reason, with and without
// hardware counters and without permission.

#include "Measure/Counters.h"
#include "Measure/AddressSampler.h"
#include <cerrno>
#include <cstdio>
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
static CounterValue getValue(const Counters &counters,
                             const std::string &name) {
  for (const CounterValue &value : counters.read())
    if (value.name == name || value.name == name + ":u")
      return value;
  ADD_FAILURE() << "no counter " << name;
  return {};
}

/// Whether this kernel lets us count at all.
static bool canCount() {
  return getValue(Counters(), "page-faults").value.has_value();
}

/// The exit status of \p body in a child.
template <typename Body> static int getStatus(Body body) {
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
  CounterValue cycles = getValue(counters, "cycles");
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
  uint64_t faults = getValue(counters, "page-faults").value.value_or(0);
  EXPECT_GE(faults, pages);
  EXPECT_LT(faults, 5 * pages);
  EXPECT_GE(getValue(counters, "minor-faults").value.value_or(0), pages);
}

TEST(Counters, ThreadsAndChildrenCount) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  Counters counters;
  std::thread(touchPages).join();
  EXPECT_GE(getValue(counters, "page-faults").value.value_or(0), pages);
  getStatus([] {
    touchPages();
    return 0;
  });
  EXPECT_GE(getValue(counters, "page-faults").value.value_or(0), 2 * pages);
}

/// The kernel's own reset forgets those that have ended.
TEST(Counters, ResetForgetsEndedThreadsToo) {
  if (!canCount())
    GTEST_SKIP() << "this process may not open counters";
  Counters counters;
  touchPages();
  std::thread(touchPages).join();
  counters.reset();
  EXPECT_LT(getValue(counters, "page-faults").value.value_or(pages), pages / 2);
  touchPages();
  EXPECT_GE(getValue(counters, "page-faults").value.value_or(0), pages);
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
  EXPECT_EQ(getValue(counters, "page-faults").value.value_or(1), 0u);
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(getValue(counters, "page-faults").value.value_or(0), 10u);
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

/// The counters of an ordinary user whose kernel only lets him count his own
/// code: the values are marked as such, and none is a false zero.
TEST(Counters, WithoutPrivileges) {
  if (geteuid() != 0 || !canCount())
    GTEST_SKIP() << "needs root, to become somebody else";
  int status = getStatus([] {
    constexpr uid_t nobody = 65534;
    if (setuid(nobody) != 0)
      return 1;
    Counters counters;
    touchPages();
    CounterValue faults = getValue(counters, "page-faults");
    if (faults.value && *faults.value < pages)
      return 2;
    bool isUserOnly = faults.name == "page-faults:u";
    CounterValue switches = getValue(counters, "context-switches");
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

// Recorded samples

/// Addresses, and "!" behind those that missed the TLB.
static std::string decoded(std::vector<uint8_t> trace) {
  std::string text;
  bool isWhole = decodeSpe(trace, [&](const SpeAccess &access) {
    char word[32];
    snprintf(word, sizeof word, "%llx%s ", (unsigned long long)access.address,
             access.isTlbMiss() ? "!" : "");
    text += word;
  });
  return text + (isWhole ? "" : "broken");
}

// Of an Ampere Altra, as perf report -D prints it (a load that missed the
// caches and not the TLB; AmpereComputing's kernel, issue 123).
static const std::vector<uint8_t> altra = {
    0x49, 0x00, 0x52, 0x1e, 0x03, 0x99, 0x51, 0x01, 0x98, 0xf5, 0x01,
    0xb2, 0x50, 0x9e, 0xd7, 0xf1, 0x3e, 0x40, 0xff, 0x00, 0x9a, 0x01,
    0x00, 0xb3, 0x50, 0x9e, 0xd7, 0x71, 0x3f, 0x40, 0x00, 0x80, 0x43,
    0x0c, 0x00, 0x00, 0x71, 0xb3, 0x9a, 0xe9, 0xbd, 0x3e, 0x07, 0x00,
    0x00, 0xb0, 0x88, 0xb6, 0xcb, 0x8f, 0x22, 0xd4, 0xff, 0xc0};

// Of the first processor with SPE (the message of the commit that brought SPE
// into perf, 2018).
static const std::vector<uint8_t> first = {
    0x49, 0x00, 0xb2, 0xc0, 0x3b, 0x29, 0x0f, 0x00, 0x00, 0xff, 0xff, 0xb3,
    0xc0, 0xeb, 0x24, 0xfb, 0x00, 0x00, 0x00, 0x80, 0x9a, 0x00, 0x00, 0x42,
    0x16, 0xb0, 0x00, 0xc4, 0x15, 0x08, 0x00, 0x00, 0xff, 0xff, 0x98, 0x00,
    0x00, 0x71, 0x36, 0x6c, 0x21, 0x2c, 0x09, 0x00, 0x00, 0x00};

TEST(AddressSampler, RecordsOfSpe) {
  EXPECT_EQ(decoded(altra), "ff403ef1d79e50 ");
  EXPECT_EQ(decoded(first), "ff00000f293bc0 ");
  std::vector<uint8_t> both = first;
  both.insert(both.end(), altra.begin(), altra.end());
  EXPECT_EQ(decoded(both), "ff00000f293bc0 ff403ef1d79e50 ");
}

TEST(AddressSampler, RefillsOfTheTlbInSpe) {
  std::vector<uint8_t> missed = first;
  missed[24] |= 1 << 5; // its events; made, not recorded
  EXPECT_EQ(decoded(missed), "ff00000f293bc0! ");
}

TEST(AddressSampler, DamagedSpeIsNoAccess) {
  for (size_t bytes = 0; bytes < altra.size(); ++bytes)
    EXPECT_TRUE(decoded({altra.begin(), altra.begin() + long(bytes)}) == "" ||
                bytes >= 45)
        << bytes;
  EXPECT_EQ(decoded({0xff, 0x49, 0x00}), "broken");
  EXPECT_EQ(decoded({0, 0, 0, 0x20}), "broken");
}

TEST(AddressSampler, DataSourcesOfPebsAndIbs) {
  // As perf mem prints them: L1 hit, TLB L1 or L2 hit; the same with the bit of
  // a miss of the second TLB.
  EXPECT_FALSE(isTlbMiss(0x68100142));
  EXPECT_TRUE(isTlbMiss(0x68100142 ^ (0x02ULL | 0x04ULL) << 26));
  EXPECT_FALSE(isTlbMiss(0));
}
