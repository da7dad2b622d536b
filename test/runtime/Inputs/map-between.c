// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// map-between PROGRAM...: runs it, and after its first mremap of a page of 2
// MiB to a fixed place maps memory where that page was, as another thread may
// at that moment. Prints whether the program unmaps it. A system call of ours
// runs in the place of one of the program's: it has the instruction. For
// x86-64.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { pageBytes = 2 << 20 };

static pid_t child;

/// Runs the program to the next start or end of a system call; 0: it has ended.
static int next(struct user_regs_struct *registers) {
  int status, signal = 0;
  for (;;) {
    ptrace(PTRACE_SYSCALL, child, NULL, (long)signal);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
      return 0;
    signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80))
      return ptrace(PTRACE_GETREGS, child, NULL, registers) == 0;
    if (signal == SIGTRAP) // exec
      signal = 0;
  }
}

/// pre: at the end of a system call.
static long mapAt(unsigned long place) {
  struct user_regs_struct saved, registers;
  ptrace(PTRACE_GETREGS, child, NULL, &saved);
  registers = saved;
  registers.rip -= 2; // the instruction
  registers.rax = SYS_mmap;
  registers.rdi = place;
  registers.rsi = pageBytes;
  registers.rdx = PROT_READ | PROT_WRITE;
  registers.r10 = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  registers.r8 = -1;
  registers.r9 = 0;
  ptrace(PTRACE_SETREGS, child, NULL, &registers);
  next(&registers);
  next(&registers);
  ptrace(PTRACE_SETREGS, child, NULL, &saved);
  return (long)registers.rax;
}

int main(int count, char **words) {
  struct user_regs_struct now;
  unsigned long place = 0;
  int lost = 0, status;
  if (count < 2)
    return 2;
  child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    execvp(words[1], words + 1);
    _exit(127);
  }
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, NULL,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int isStart = 1; next(&now); isStart = !isStart) {
    unsigned long from = now.rdi, end = from + now.rsi;
    if (isStart && place && now.orig_rax == SYS_munmap)
      lost |= from < place + pageBytes && place < end;
    if (isStart || place || now.orig_rax != SYS_mremap || now.r10 != 3 ||
        now.rsi != pageBytes || now.rax != now.r8)
      continue;
    place = from;
    if (mapAt(place) != (long)place)
      return printf("the place is not free\n"), 1;
  }
  printf("%s\n", !place ? "no page was moved" : lost ? "lost" : "kept");
  return 0;
}
