// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses its process stack in every way that programs do and prints what it saw.
// Independent of libmpg: all of this has to work the same on any pages. Each
// argument is one use; `hold` stops and waits for the end of its input, so that
// a test can inspect its memory.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "deep-stack.h"
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <spawn.h>
#include <string>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static std::string readAll(const char *path) {
  std::string text;
  FILE *file = fopen(path, "r");
  check(file, path);
  for (int c; (c = getc(file)) != EOF;)
    text.push_back(char(c));
  fclose(file);
  return text;
}

/// The kernel reads both files out of the stack.
static void useArguments(int argc, char **argv) {
  std::string expected;
  for (int i = 0; i < argc; ++i)
    expected.append(argv[i]).push_back(0);
  check(readAll("/proc/self/cmdline") == expected, "/proc/self/cmdline");
  expected.clear();
  for (char **entry = environ; *entry; ++entry)
    expected.append(*entry).push_back(0);
  check(readAll("/proc/self/environ") == expected, "/proc/self/environ");
  auto *name = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
  check(name && access(name, X_OK) == 0, "AT_EXECFN");
  check(getauxval(AT_RANDOM), "AT_RANDOM");
}

static uint64_t limitBytes() {
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  return limit.rlim_cur;
}

/// All of the stack that the C library reports has to be usable.
static void useAttributes() {
  pthread_attr_t attributes;
  void *start;
  size_t bytes;
  check(!pthread_getattr_np(pthread_self(), &attributes), "getattr");
  check(!pthread_attr_getstack(&attributes, &start, &bytes), "getstack");
  pthread_attr_destroy(&attributes);
  auto low = uintptr_t(start), here = uintptr_t(&attributes);
  check(low < here && here < low + bytes, "a local outside of the stack");
  uint64_t limit = limitBytes();
  if (limit != RLIM_INFINITY)
    check(bytes + (2 << 20) > limit, "the stack is smaller than its limit");
  if (here - low < 100 << 20)
    recurse(here - low - 65536, 7);
}

static void useException() {
  std::string before = "thrown";
  try {
    struct Thrower {
      static void go(int depth) {
        char frame[8192];
        memset(frame, depth, sizeof frame);
        if (depth == 400)
          throw std::string("thrown");
        go(depth + 1);
        __asm__ volatile("" : : "r"(frame) : "memory");
      }
    };
    Thrower::go(0);
    check(false, "nothing was thrown");
  } catch (const std::string &text) {
    check(text == before, "the exception");
  }
}

static jmp_buf target;
static volatile int jumpAt = 60;
static void jumpFrom(int depth) {
  volatile char frame[65536];
  frame[0] = char(depth);
  if (depth == jumpAt)
    longjmp(target, 1);
  jumpFrom(depth + 1);
  frame[1] = frame[0];
}

static volatile sig_atomic_t signals;
static void onSignal(int) {
  recurse(1 << 20, 3);
  ++signals;
}

static void useJumpsAndSignals() {
  volatile int jumps = 0;
  if (!setjmp(target)) {
    ++jumps;
    jumpFrom(0);
  }
  check(jumps == 1, "longjmp");
  signal(SIGUSR1, onSignal);
  raise(SIGUSR1);
  check(signals == 1, "the signal handler");
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  check(!sigismember(&blocked, SIGUSR2) && !sigismember(&blocked, SIGTERM),
        "signals are blocked");
}

static int getStatus(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void useChildren() {
  volatile uint64_t mine = 1;
  pid_t child = fork();
  if (!child) {
    mine = 2;
    recurse(4 << 20, 5);
    _exit(mine == 2 ? 3 : 4);
  }
  recurse(4 << 20, 6);
  check(WEXITSTATUS(getStatus(child)) == 3 && mine == 1, "fork");
  child = vfork();
  if (!child) {
    execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
    _exit(1);
  }
  check(WEXITSTATUS(getStatus(child)) == 5, "vfork and exec");
  const char *command[] = {"sh", "-c", "exit 6", nullptr};
  check(!posix_spawn(&child, "/bin/sh", nullptr, nullptr,
                     const_cast<char **>(command), environ) &&
            WEXITSTATUS(getStatus(child)) == 6,
        "posix_spawn");
}

/// Running off the end of the stack raises SIGSEGV and nothing else; near the
/// limit the stack works.
static void useLimit() {
  uint64_t limit = limitBytes();
  if (limit == RLIM_INFINITY)
    limit = 300 << 20;
  recurse(limit - (512 << 10), 9);
  if (limitBytes() == RLIM_INFINITY)
    return;
  pid_t child = fork();
  if (!child) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    recurse(limit + (80 << 20), 10);
    _exit(0);
  }
  int status = getStatus(child);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
        "no SIGSEGV at the end of the stack");
}

static void useBigFrame() {
  size_t bytes = 5 << 20;
  auto *big = static_cast<volatile char *>(alloca(bytes));
  for (size_t i = 0; i < bytes; i += 512)
    big[i] = char(i >> 9);
  for (size_t i = 0; i < bytes; i += 512)
    check(big[i] == char(i >> 9), "the big frame");
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string use = argv[i];
    if (use == "all" || use == "arguments")
      useArguments(argc, argv);
    if (use == "all" || use == "attributes")
      useAttributes();
    if (use == "all" || use == "frames")
      useException(), useJumpsAndSignals(), useBigFrame();
    if (use == "all" || use == "children")
      useChildren();
    if (use == "all" || use == "limit")
      useLimit();
    if (use == "touch")
      recurse((limitBytes() == RLIM_INFINITY ? 32 << 20 : limitBytes()) -
                  (1 << 20),
              4);
    if (use == "crash")
      recurse(1 << 20, 11), abort();
    if (use == "hold") {
      printf("holding\n");
      fflush(stdout);
      while (getchar() != EOF)
        ;
    }
  }
  printf("result %llu\n", (unsigned long long)recurse(3 << 20, 1) % 1000003);
}
