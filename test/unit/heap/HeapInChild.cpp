// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process for each test of the heap; see HeapUnderTest.h. It prints the
// test's failed expectations and reports them by the exit code.

#include "HeapUnderTest.h"
#include "base/Syscall.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

/// No call fails here on purpose; see HeapFaults.cpp.
long mpg::injectedFault(long, long, long, long, long) { return 0; }

/// Of the test so far; a child begins with those of its parent.
static int failures() {
  return testing::UnitTest::GetInstance()
      ->current_test_info()
      ->result()
      ->total_part_count();
}

void inChild(const mpg::Config &config, const std::function<void()> &body) {
  std::fflush(nullptr);
  int before = failures();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(300); // not for ever
    heapConfig = config;
    if (startHeapUnderTest())
      body();
    else
      ADD_FAILURE() << "the heap did not start";
    std::fflush(nullptr);
    _exit(failures() > before ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "in a process of its own, see above";
}

char *getBlock(size_t bytes) {
  auto *block = static_cast<char *>(__wrap_malloc(bytes));
  EXPECT_NE(block, nullptr) << bytes;
  EXPECT_GE(__wrap_malloc_usable_size(block), bytes);
  EXPECT_EQ(uintptr_t(block) % 16, 0u);
  return block;
}
