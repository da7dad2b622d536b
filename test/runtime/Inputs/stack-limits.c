// Changes RLIMIT_STACK while it runs, from 8 MiB: raise, lower, back, again,
// child, any; from no limit: less. Goes as deep as the new limit allows, or
// finds the end where that is; "told", "lower told": where pthread_getattr_np
// has said it is, as Rust's runtime does.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { mib = 1 << 20 };

__attribute__((noinline)) static int goDown(long bytes) {
  volatile char frame[32 << 10];
  memset((void *)frame, 1, sizeof frame);
  return bytes <= 0 ? 0 : goDown(bytes - (long)sizeof frame) + frame[77];
}

__attribute__((noinline)) static int goPageByPage(int depth) {
  volatile char frame[1 << 10];
  frame[7] = depth;
  return goPageByPage(depth + 1) + frame[7];
}

/// Reaches far below what is in use, as a large local array does.
__attribute__((noinline)) static int goFar(void) {
  volatile char frame[7 * mib];
  frame[0] = 1;
  return frame[0] + goDown(0);
}

static void setLimit(rlim_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit))
    abort();
  limit.rlim_cur = bytes;
  if (setrlimit(RLIMIT_STACK, &limit))
    abort();
}

static char *toldStart;
static sigjmp_buf back;
static int returns;

static size_t toldBytes(void) {
  pthread_attr_t attributes;
  void *start;
  size_t bytes;
  if (pthread_getattr_np(pthread_self(), &attributes) ||
      pthread_attr_getstack(&attributes, &start, &bytes))
    abort();
  toldStart = start;
  return bytes;
}

static void foundEnd(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  if (returns)
    siglongjmp(back, 1);
  static const char text[] = "the end was found\n";
  char *at = info->si_addr;
  _exit((toldStart && (at >= toldStart || at < toldStart - 4096)) ||
        write(1, text, sizeof text - 1) < 0);
}

static void watchEnd(void) {
  stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
  struct sigaction action = {.sa_sigaction = foundEnd,
                             .sa_flags = SA_ONSTACK | SA_SIGINFO};
  sigaltstack(&stack, 0);
  sigaction(SIGSEGV, &action, 0);
}

/// Lowers, meets the end in two ways, and raises in a child and here.
static void goThereAndBack(void) {
  watchEnd();
  returns = 1;
  setLimit(3 * mib);
  if (!sigsetjmp(back, 1) && goFar())
    exit(puts("no end far below"));
  if (!sigsetjmp(back, 1) && goDown(6 * mib) < 1000)
    exit(puts("no end below"));
  returns = 0;
  int child = fork(), status = 1;
  setLimit(64 * mib);
  goDown(60 * mib);
  if (child == 0)
    _exit(0);
  if (waitpid(child, &status, 0) != child || status)
    exit(puts("not in the child"));
  setLimit(3 * mib);
  setLimit(64 * mib);
}

int main(int argc, char **argv) {
  const char *how = argv[1];
  long deep = 6 * mib;
  if (!strcmp(how, "raise")) {
    setLimit(64 * mib);
    deep = 60 * mib;
    if (toldBytes() < 60 * mib)
      return puts("pthread_getattr_np tells less");
  } else if (!strcmp(how, "lower")) {
    watchEnd();
    setLimit(3 * mib);
    if (argc > 2) {
      toldBytes();
      return goPageByPage(0);
    }
  } else if (!strcmp(how, "less")) {
    watchEnd();
    setLimit(64 * mib - 4096);
    deep = 70 * mib;
  } else if (!strcmp(how, "told")) {
    toldBytes();
    watchEnd();
    return goPageByPage(0);
  } else if (!strcmp(how, "any")) {
    for (int page = 1; page <= 1024; ++page) {
      setLimit(page * 4096);
      if (toldBytes() < 4096 || (char *)&page < toldStart)
        return puts("pthread_getattr_np tells another stack");
    }
    setLimit(8 * mib);
  } else if (!strcmp(how, "back")) {
    setLimit(1 * mib);
    setLimit(8 * mib);
  } else if (!strcmp(how, "again")) {
    goThereAndBack();
    deep = 60 * mib;
  } else if (!strcmp(how, "child")) {
    if (vfork() == 0) {
      setLimit(1 * mib);
      _exit(0);
    }
    wait(0);
  }
  goDown(deep);
  return puts("as deep as allowed") < 0;
}
