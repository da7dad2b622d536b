// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Registers.h.

#include "Node/Registers.h"

#if defined(__aarch64__)
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace mpg;

constexpr int closedStatus = 1;

static void endClosed(int) { _exit(closedStatus); }

/// Runs \p readRegister in a child. The handler keeps the kernel's log free of
/// a program that "crashed".
static Reach tryRegister(void (*readRegister)()) {
  pid_t child = fork();
  if (child < 0)
    return Reach::notTried;
  if (child == 0) {
    struct sigaction action = {};
    action.sa_handler = endClosed;
    sigaction(SIGILL, &action, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    readRegister();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return Reach::notTried;
  return WEXITSTATUS(status) == 0 ? Reach::open : Reach::closed;
}

// HW:sector-registers, HW:prefetch-registers. Read, never written.
static void readSectorL1() {
  unsigned long value;
  asm volatile("mrs %0, S3_3_C11_C8_2" : "=r"(value));
}
static void readSectorL2() {
  unsigned long value;
  asm volatile("mrs %0, S3_3_C15_C8_2" : "=r"(value));
}
static void readPrefetch() {
  unsigned long value;
  asm volatile("mrs %0, S3_3_C11_C4_0" : "=r"(value));
}

RegisterReach mpg::probeRegisters() {
  return {tryRegister(readSectorL1), tryRegister(readSectorL2),
          tryRegister(readPrefetch)};
}

#else

mpg::RegisterReach mpg::probeRegisters() { return {}; }

#endif
