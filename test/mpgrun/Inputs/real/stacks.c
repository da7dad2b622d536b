/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Unusual uses of stacks: contexts on separate stacks, overflows caught on an
 * alternate stack, limits changed at run time, vfork, fork and exec, a large
 * library loaded late.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static ucontext_t outside, inside;
static char ownStack[64 << 10], alternate[64 << 10];
static sigjmp_buf back;
static int sum;

static void coroutine(int count) {
  for (int i = 0; i < count; i++) {
    char block[5000];
    memset(block, i, sizeof block);
    sum += block[77];
    swapcontext(&inside, &outside);
  }
}

static void useContexts(void) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = ownStack;
  inside.uc_stack.ss_size = sizeof ownStack;
  inside.uc_link = &outside;
  makecontext(&inside, (void (*)(void))coroutine, 1, 10);
  for (int i = 0; i < 10; i++)
    swapcontext(&outside, &inside);
  printf("contexts %d\n", sum);
}

static void jumpBack(int number) { siglongjmp(back, number); }

__attribute__((noinline)) static int overflow(int depth) {
  volatile char block[4096];
  block[5] = depth;
  return overflow(depth + 1) + block[5];
}

static void useOverflows(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action = {.sa_handler = jumpBack, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < 2; i++) {
    if (!sigsetjmp(back, 1))
      overflow(0);
    puts("overflow caught");
  }
}

static void useLimits(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  printf("limit %ld\n", (long)limit.rlim_cur);
  limit.rlim_cur /= 2;
  printf("lower %d\n", setrlimit(RLIMIT_STACK, &limit));
  limit.rlim_cur *= 2;
  printf("back %d\n", setrlimit(RLIMIT_STACK, &limit));
  char block[1 << 20];
  memset(block, 3, sizeof block);
  printf("block %d\n", block[12345]);
}

static void useChildren(void) {
  int all = 0;
  for (int i = 0; i < 50; i++) {
    int status;
    pid_t child = vfork();
    if (child == 0)
      _exit(i);
    waitpid(child, &status, 0);
    all += WEXITSTATUS(status);
  }
  printf("children %d\n", all);
  fflush(stdout);
  if (fork() == 0)
    execl("/bin/echo", "echo", "another program", NULL);
  wait(NULL);
}

int main(int argc, char **argv) {
  useContexts();
  useOverflows();
  useLimits();
  printf("library %d\n", dlopen("libstdc++.so.6", RTLD_NOW) != NULL);
  useChildren();
  return 5;
}
