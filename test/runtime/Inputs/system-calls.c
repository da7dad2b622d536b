// syscall() with six arguments, an error, a question, and errno left alone:
// prints 1 for each that is as without libmpg.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  char *page = (char *)syscall(SYS_mmap, 0L, 8192L, (long)(PROT_READ | PROT_WRITE),
                               (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
  page[8191] = 1;
  int isBad = syscall(SYS_close, -1) == -1 && errno == EBADF;
  int isAsked = syscall(SYS_clone3, 0L, 0L) == -1 && errno != ENOMEM;
  errno = 5;
  int isSame = syscall(SYS_getpid) == getpid() && errno == 5;
  printf("%d %d %d %d\n", page[0] == 0, isBad, isAsked, isSame);
}
