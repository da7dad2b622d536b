// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signal at each instruction of malloc and free in turn, in a program each,
// with a handler that forks. Prints how many programs were right, or which was
// not. Only for x86-64, where a flag of the processor makes the signal.

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

enum { stepFlag = 0x100, noMoreSteps = 3, count = 64, binObjects = 8 };
static const size_t bytes = 2000; /* a thread's list has binObjects of them */
static volatile long step, wanted;

static void onStep(int unused, siginfo_t *info, void *context) {
  (void)unused, (void)info;
  if (++step != wanted)
    return;
  int saved = errno;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~stepFlag;
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0)
    abort();
  errno = saved;
}

static void setSteps(int areOn) {
  unsigned long flags;
  __asm__ volatile("pushfq; popq %0" : "=r"(flags)::"memory");
  flags = areOn ? flags | stepFlag : flags & ~stepFlag;
  __asm__ volatile("pushq %0; popfq" ::"r"(flags) : "cc", "memory");
}

/* Fills a list, empties it, and goes through all objects twice. */
static int useHeap(void) {
  struct sigaction action = {0};
  action.sa_sigaction = onStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);
  char *blocks[count];
  for (int i = 0; i < count; ++i)
    blocks[i] = malloc(bytes);
  for (int i = 0; i < binObjects; ++i)
    free(blocks[i]);
  setSteps(1);
  free(blocks[binObjects]);
  blocks[0] = malloc(bytes);
  blocks[1] = malloc(bytes);
  setSteps(0);
  for (int i = 2; i <= binObjects; ++i)
    blocks[i] = malloc(bytes);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < count; ++i)
      memset(blocks[i], i, bytes);
    for (int i = 0; i < count; ++i)
      if (blocks[i][0] != i || blocks[i][bytes - 1] != i)
        abort();
    for (int i = 0; i < count; ++i)
      free(blocks[i]);
    for (int i = 0; i < count; ++i)
      blocks[i] = malloc(bytes);
  }
  return step < wanted ? noMoreSteps : 0;
}

int main(int argc, char **argv) {
  if (argc > 1) {
    wanted = atol(argv[1]);
    return useHeap();
  }
  for (int n = 1;; ++n) {
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    pid_t child;
    int status;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL,
                    (char *[]){argv[0], text, NULL}, environ) != 0 ||
        waitpid(child, &status, 0) != child)
      return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == noMoreSteps) {
      printf("right: %d instructions\n", n - 1);
      return 0;
    }
    if (status != 0) {
      printf("wrong: instruction %d\n", n);
      return 1;
    }
  }
}
