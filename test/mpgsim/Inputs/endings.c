/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that ends, or continues, in the way that its argument names.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static long table[4096];
static jmp_buf before;

static void onAlarm(int number) {
  for (int i = 0; i < 64; ++i)
    table[i]++;
  handled += number != 0;
}

static void onFault(int number) { longjmp(before, number); }

static void *work(void *pointer) {
  long *sums = pointer;
  for (int round = 0; round < 100; ++round)
    for (int i = 0; i < 4096; ++i)
      sums[round % 7] += table[i * 7 & 4095];
  return pointer;
}

static void crash(void) { *(volatile int *)8 = 1; }

static void jump(void) {
  signal(SIGSEGV, onFault);
  if (!setjmp(before))
    crash();
  puts("back");
}

static int forkOnce(void) {
  pid_t child = fork();
  long sum = 0;
  for (int i = 0; i < 4096; ++i)
    sum += table[i];
  if (!child)
    _exit(sum == 4095 * 2048 ? 4 : 1);
  int status;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  return 5;
}

static void threads(void) {
  pthread_t all[3];
  static long sums[3][8];
  for (int i = 0; i < 3; ++i)
    pthread_create(&all[i], NULL, work, sums[i]);
  for (int i = 0; i < 3; ++i)
    pthread_join(all[i], NULL);
  printf("sum %ld\n", sums[0][3] + sums[1][3] + sums[2][3]);
}

/* Signals between records, until ten have come. */
static void signals(void) {
  struct sigaction action = {.sa_handler = onAlarm};
  sigaction(SIGALRM, &action, NULL);
  errno = 42;
  ualarm(300, 300);
  long sum = 0;
  for (int round = 0; handled < 10; ++round)
    for (int i = 0; i < 4096; ++i)
      sum += table[(i * 13 + round) & 4095] & 1;
  ualarm(0, 0);
  printf("errno %d\n", errno);
}

/* Interrupts itself, as a user does, and continues until the signal arrives. */
static void forever(void) {
  signal(SIGINT, SIG_DFL); // which a shell in the background ignores
  raise(SIGINT);
  for (volatile long round = 0;; ++round)
    table[round & 4095] = round;
}

static void sparse(void) {
  size_t bytes = (size_t)1 << 40;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  for (size_t at = 0; at < 2000; ++at)
    memory[at * (bytes / 2000)] = 1;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 4096; ++i)
    table[i] = i;
  puts("begin");
  fflush(stdout);
  if (!strcmp(what, "crash"))
    crash();
  if (!strcmp(what, "kill"))
    raise(SIGKILL);
  if (!strcmp(what, "_exit"))
    _exit(7);
  if (!strcmp(what, "jump"))
    jump();
  if (!strcmp(what, "fork"))
    return forkOnce();
  if (!strcmp(what, "exec"))
    execl(argv[0], argv[0], "again", NULL);
  if (!strcmp(what, "threads"))
    threads();
  if (!strcmp(what, "forever"))
    forever();
  if (!strcmp(what, "sparse"))
    sparse();
  if (!strcmp(what, "signals"))
    signals();
  return 5;
}
