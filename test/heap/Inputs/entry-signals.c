// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few thousand signals while the program is in malloc, realloc or free, with
// handlers that call only async-signal-safe functions. With `threads` in two
// threads; without it the handlers also fork, because the C library takes no
// lock in a program with one thread. Prints `right` or what is wrong.

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { wanted = 3000 };
static volatile sig_atomic_t signals, forks, failures;
static int forking;

static void onSignal(int unused) {
  (void)unused;
  int saved = errno;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int file = open("/dev/null", O_WRONLY);
  if (write(file, &now, sizeof now) != sizeof now)
    failures = failures + 1;
  close(file);
  sigset_t set;
  sigemptyset(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (forking && signals % 50 == 0) {
    pid_t child = fork();
    if (child == 0)
      _exit(7);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child ||
        WEXITSTATUS(status) != 7)
      failures = failures + 1;
    forks = forks + 1;
  }
  signals = signals + 1;
  errno = saved;
}

static void *churn(void *unused) {
  static const size_t bytes[] = {16, 100, 3000, 20000, 100000, 1 << 20};
  unsigned char *blocks[200] = {0};
  for (unsigned n = 0; signals < wanted; ++n) {
    unsigned at = n * 7 % 200, size = n % 11 ? n % 4 : n % 6;
    if (blocks[at] && blocks[at][0] != at) {
      puts("wrong: contents");
      exit(1);
    }
    if (n % 3) {
      free(blocks[at]);
      blocks[at] = malloc(bytes[size]);
    } else {
      blocks[at] = realloc(blocks[at], bytes[size]);
    }
    blocks[at][0] = (unsigned char)at;
  }
  for (int i = 0; i < 200; ++i)
    free(blocks[i]);
  return unused;
}

int main(int argc, char **argv) {
  int threaded = argc > 1 && !strcmp(argv[1], "threads");
  forking = !threaded;
  struct sigaction action = {0};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 150}, {0, 150}};
  setitimer(ITIMER_REAL, &often, NULL);
  pthread_t thread;
  if (threaded)
    pthread_create(&thread, NULL, churn, NULL);
  churn(NULL);
  if (threaded)
    pthread_join(thread, NULL);
  often = (struct itimerval){{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  printf("%s: %d failures%s\n", failures ? "wrong" : "right", (int)failures,
         forks ? ", with forks" : "");
  return failures != 0;
}
