// Changes RLIMIT_STACK while it runs, from 8 or 32 MiB: raise, lower, back, child. Goes
// as deep as the new limit allows, or finds the end where that is; "told": where
// pthread_getattr_np has said it is, as Rust's runtime does.
#define _GNU_SOURCE
#include <pthread.h>
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

static void setLimit(rlim_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit))
    abort();
  limit.rlim_cur = bytes;
  if (setrlimit(RLIMIT_STACK, &limit))
    abort();
}

static char *toldStart;

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

int main(int argc, char **argv) {
  (void)argc;
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
    // The first part, up to 2.2 MiB, and whole large pages below it.
    deep = 7 * mib;
  } else if (!strcmp(how, "told")) {
    toldBytes();
    watchEnd();
    return goPageByPage(0);
  } else if (!strcmp(how, "back")) {
    setLimit(1 * mib);
    setLimit(8 * mib);
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
