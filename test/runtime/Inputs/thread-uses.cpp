// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses thread stacks in every way that programs do and prints what it saw.
// Independent of libmpg: all of this has to work the same on any pages. Each
// argument is one use; `hold` stops with four threads deep in their stacks and
// waits for the end of its input, so that a test can inspect its memory.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "deep-stack.h"
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <threads.h>
#include <unistd.h>
#include <vector>

static thread_local uint64_t local = 42;
static thread_local char bigLocal[100000] = {7};

/// The stack of this thread according to the C library.
static void readStack(uintptr_t &low, size_t &bytes, size_t &guardBytes) {
  pthread_attr_t attributes;
  void *start;
  check(!pthread_getattr_np(pthread_self(), &attributes), "getattr");
  check(!pthread_attr_getstack(&attributes, &start, &bytes), "getstack");
  check(!pthread_attr_getguardsize(&attributes, &guardBytes), "getguardsize");
  pthread_attr_destroy(&attributes);
  low = uintptr_t(start);
}

static size_t wantedGuard;

static bool isReadable(uintptr_t address) {
  int ends[2];
  check(!pipe(ends), "pipe");
  bool result = write(ends[1], reinterpret_cast<void *>(address), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return result;
}

/// All of the stack is there, and what the thread begins with is in order.
static void *useWholeStack(void *argument) {
  int error = errno;
  check(error == 0, "errno at the start of a thread");
  auto asked = size_t(argument);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  check(sigismember(&blocked, SIGUSR2) && !sigismember(&blocked, SIGTERM),
        "the signal mask of a thread");
  check(local == 42 && bigLocal[0] == 7, "thread-local variables");
  ++local;
  uintptr_t low, here = uintptr_t(__builtin_frame_address(0));
  size_t bytes, guardBytes;
  readStack(low, bytes, guardBytes);
  check(here > low && here < low + bytes, "a local outside of the stack");
  // Some large pages may be spare, and below them is the guard.
  check(bytes >= asked && bytes < asked + (7 << 20), "not the size asked for");
  check(guardBytes == 0 || !isReadable(low - 1), "no guard below the stack");
  // The C library and the thread-local variables are above the first frame.
  check(low + bytes - here < 256 << 10, "the top is not where frames begin");
  // The C library and the thread-local variables need a part of the stack.
  if (asked > 256 << 10)
    check(here - low >= asked - (256 << 10), "less is left than asked for");
  check(guardBytes == wantedGuard, "not the guard asked for");
  recurseTo(low + 8192, 3);
  return argument;
}

static void useSizes() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  std::vector<size_t> sizes = {size_t(PTHREAD_STACK_MIN) + 120000,
                               256 << 10,
                               1 << 20,
                               (2 << 20) - 4096,
                               2 << 20,
                               (2 << 20) + 4096,
                               8 << 20,
                               50 << 20};
  for (int round = 0; round < 3; ++round)
    for (size_t size : sizes) {
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      check(!pthread_attr_setstacksize(&attributes, size), "setstacksize");
      wantedGuard = round == 0 ? 4096 : round == 1 ? 3 << 16 : 0;
      if (round == 1)
        pthread_attr_setguardsize(&attributes, 3 << 16);
      if (round == 2)
        pthread_attr_setguardsize(&attributes, 0);
      pthread_t thread;
      check(!pthread_create(&thread, &attributes, useWholeStack, (void *)size),
            "pthread_create");
      size_t after;
      pthread_attr_getstacksize(&attributes, &after);
      check(after == size, "the program's attributes have changed");
      pthread_attr_destroy(&attributes);
      void *result;
      check(!pthread_join(thread, &result) && size_t(result) == size, "join");
    }
  wantedGuard = 4096;
  pthread_attr_t usual;
  size_t usualBytes;
  pthread_getattr_default_np(&usual);
  pthread_attr_getstacksize(&usual, &usualBytes);
  pthread_t thread;
  check(!pthread_create(&thread, nullptr, useWholeStack, (void *)usualBytes) &&
            !pthread_join(thread, nullptr),
        "a thread without attributes");
  pthread_attr_t tooSmall;
  pthread_attr_init(&tooSmall);
  check(pthread_attr_setstacksize(&tooSmall, 100) == EINVAL, "a tiny stack");
}

static std::atomic<int> finished;
static std::atomic<int> destroyed;

static void *shortLife(void *argument) {
  recurse(size_t(argument), 5);
  ++finished;
  return nullptr;
}

/// Lines of the memory map: grows if stacks leak.
static int mappingCount() {
  int lines = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  for (int c; (c = getc(file)) != EOF;)
    lines += c == '\n';
  fclose(file);
  return lines;
}

/// 1,000 threads in rounds of ten, every other one detached.
static void useRounds() {
  int atStart = 0;
  for (int round = 0; round < 100; ++round) {
    finished = 0;
    std::vector<pthread_t> threads(10);
    for (int i = 0; i < 10; ++i) {
      check(!pthread_create(&threads[i], nullptr, shortLife,
                            (void *)(size_t(i) << 19)),
            "pthread_create");
      if (i % 2)
        pthread_detach(threads[i]);
    }
    for (int i = 0; i < 10; i += 2)
      pthread_join(threads[i], nullptr);
    while (finished != 10)
      usleep(100);
    if (round == 10)
      atStart = mappingCount();
  }
  usleep(100000);
  check(mappingCount() <= atStart + 40, "the memory map has grown");
}

/// 300 at the same time: more than any small table has room for.
static void useMany() {
  finished = 0;
  std::vector<pthread_t> threads(300);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  for (pthread_t &thread : threads)
    check(!pthread_create(&thread, &attributes, shortLife, (void *)50000),
          "pthread_create");
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  check(finished == 300, "some threads did not finish");
}

struct Counted {
  ~Counted() { ++destroyed; }
};

static pthread_key_t key;
static sem_t ready;

__attribute__((noinline)) static void leaveDeep(int depth, bool byExit) {
  Counted counted;
  volatile char frame[4096];
  frame[0] = char(depth);
  if (depth < 300) {
    leaveDeep(depth + 1, byExit);
  } else if (byExit) {
    pthread_exit((void *)77);
  } else {
    sem_post(&ready);
    for (;;)
      sleep(1); // a cancellation point
  }
  frame[1] = frame[0];
}

static void *leave(void *byExit) {
  pthread_setspecific(key, (void *)1);
  leaveDeep(0, byExit != nullptr);
  return nullptr;
}

static void useExits() {
  sem_init(&ready, 0, 0);
  pthread_key_create(&key, [](void *) { ++destroyed; });
  for (int i = 0; i < 20; ++i) {
    destroyed = 0;
    pthread_t thread;
    void *result;
    pthread_create(&thread, nullptr, leave, (void *)1);
    pthread_join(thread, &result);
    check(result == (void *)77 && destroyed == 302, "pthread_exit");
    destroyed = 0;
    pthread_create(&thread, nullptr, leave, nullptr);
    sem_wait(&ready);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check(result == PTHREAD_CANCELED && destroyed == 302, "pthread_cancel");
    // Cancelled before its first step or soon after.
    pthread_create(&thread, nullptr, leave, nullptr);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check(result == PTHREAD_CANCELED, "an early pthread_cancel");
    while (sem_trywait(&ready) == 0)
      ;
  }
}

static void useLibraries() {
  bool caught = false;
  std::thread([&] {
    try {
      recurse(1 << 20, 9);
      throw std::runtime_error("x");
    } catch (const std::exception &) {
      caught = true;
    }
  }).join();
  check(caught, "an exception in a std::thread");
  thrd_t thread;
  int result = 0;
  check(thrd_create(
            &thread, [](void *) { return int(recurse(1 << 20, 2) % 100); },
            nullptr) == thrd_success &&
            thrd_join(thread, &result) == thrd_success,
        "thrd_create");
}

static void *ownLife(void *stack) {
  pthread_attr_t attributes;
  void *start;
  size_t bytes;
  check(!pthread_getattr_np(pthread_self(), &attributes) &&
            !pthread_attr_getstack(&attributes, &start, &bytes) &&
            start == stack,
        "a stack of its own is not where it is said to be");
  return shortLife((void *)(3 << 20));
}

/// Memory of the program's, the last time in a frame of main's stack.
static void useOwnStack() {
  constexpr size_t bytes = 4 << 20;
  alignas(4096) char frame[bytes];
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (void *stack : {mapped, mapped, (void *)frame}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, bytes);
    pthread_t thread;
    check(!pthread_create(&thread, &attributes, ownLife, stack) &&
              !pthread_join(thread, nullptr),
          "a thread with a stack of its own");
  }
  munmap(mapped, bytes);
}

/// A thread forks, deep in its stack; the child continues there.
__attribute__((noinline)) static int forkAt(uintptr_t low) {
  volatile uint64_t frame[256];
  for (size_t i = 0; i < 256; i += 64)
    frame[i] = low + i;
  int result = 0;
  if (uintptr_t(frame) > low) {
    result = forkAt(low);
  } else {
    pid_t child = fork();
    if (!child)
      return int(recurse(1 << 20, 4) % 50);
    int status;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 51,
          "a child of a thread");
  }
  for (size_t i = 0; i < 256; i += 64)
    check(frame[i] == low + i, "a frame in the child of a thread");
  return result;
}

static void useForks() {
  pid_t parent = getpid();
  std::thread([parent] {
    forkAt(uintptr_t(__builtin_frame_address(0)) - (3 << 20));
    if (getpid() != parent)
      _exit(51);
  }).join();
}

static std::atomic<bool> asks;

/// A thread reads the attributes of another one.
static void useOthersAttributes() {
  for (size_t bytes : {size_t(256) << 10, size_t(8) << 20, size_t(20) << 20}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_t thread;
    asks = false;
    static std::atomic<uintptr_t> frame;
    frame = 0;
    pthread_create(
        &thread, &attributes,
        [](void *) -> void * {
          frame = uintptr_t(__builtin_frame_address(0));
          while (!asks)
            usleep(1000);
          return nullptr;
        },
        nullptr);
    while (!frame)
      usleep(1000);
    void *low;
    size_t size;
    check(!pthread_getattr_np(thread, &attributes) &&
              !pthread_attr_getstack(&attributes, &low, &size),
          "the attributes of another thread");
    uintptr_t top = uintptr_t(low) + size;
    check(size >= bytes && frame < top && top - frame < 256 << 10,
          "another thread's stack is not where it is said to be");
    asks = true;
    pthread_join(thread, nullptr);
  }
}

/// Running off the end of a thread's stack raises SIGSEGV and nothing else.
static void useGuard() {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    std::thread([] { recurse(size_t(1) << 30, 1); }).join();
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
        "no SIGSEGV at the end of a thread's stack");
}

static pthread_barrier_t deep;
static size_t holdBytes;

static void *hold(void *) {
  recurse(holdBytes, 8);
  pthread_barrier_wait(&deep);
  pause();
  return nullptr;
}

/// Four threads of \p stackBytes; 0: without attributes.
static void useHold(size_t bytes, size_t stackBytes) {
  holdBytes = bytes;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stackBytes)
    pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_barrier_init(&deep, nullptr, 5);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    check(!pthread_create(&thread, stackBytes ? &attributes : nullptr, hold,
                          nullptr),
          "pthread_create");
  }
  pthread_barrier_wait(&deep);
  printf("holding\n");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  _exit(0);
}

#ifdef EARLY_THREAD
/// Before all constructors, and so before libmpg even where it comes first.
static void *waitForEver(void *) {
  pause();
  return nullptr;
}
static void startEarly() {
  pthread_t thread;
  pthread_create(&thread, nullptr, waitForEver, nullptr);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const early)() = startEarly;
#endif

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string use = argv[i];
    bool all = use == "all";
    if (all || use == "sizes")
      useSizes();
    if (all || use == "others")
      useOthersAttributes();
    if (all || use == "rounds")
      useRounds();
    if (all || use == "many")
      useMany();
    if (all || use == "exits")
      useExits();
    if (all || use == "libraries")
      useLibraries();
    if (use == "forks")
      useForks();
    if (use == "own-stack")
      useOwnStack();
    if (all || use == "guard")
      useGuard();
    if (use == "hold")
      useHold(6 << 20, 0);
    if (use == "hold-20")
      useHold(6 << 20, 20 << 20);
    if (use == "hold-3")
      useHold(1 << 20, 3 << 20);
  }
  printf("all good\n");
}
