// Changes RLIMIT_STACK while it runs, from 8 MiB: raise, lower, back, child. Goes
// as deep as the new limit allows, or finds the end where that is.
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

static void setLimit(rlim_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit))
    abort();
  limit.rlim_cur = bytes;
  if (setrlimit(RLIMIT_STACK, &limit))
    abort();
}

static size_t toldBytes(void) {
  pthread_attr_t attributes;
  void *start;
  size_t bytes;
  if (pthread_getattr_np(pthread_self(), &attributes) ||
      pthread_attr_getstack(&attributes, &start, &bytes))
    abort();
  return bytes;
}

static void foundEnd(int number) {
  (void)number;
  static const char text[] = "the end was found\n";
  _exit(write(1, text, sizeof text - 1) < 0);
}

static void watchEnd(void) {
  stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
  struct sigaction action = {.sa_handler = foundEnd, .sa_flags = SA_ONSTACK};
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
