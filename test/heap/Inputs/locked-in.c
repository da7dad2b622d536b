/* Locks itself in and then lives on malloc:
 *
 *   locked-in prctl|syscall
 *
 * From then on it is killed by any system call but those that the C library's
 * malloc and threads make, write and getpid. */

#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_rseq
#define SYS_rseq 334
#endif

static const unsigned allowed[] = {
    SYS_brk,          SYS_mmap,           SYS_munmap,          SYS_mremap,
    SYS_mprotect,     SYS_madvise,        SYS_futex,           SYS_write,
    SYS_exit,         SYS_exit_group,     SYS_getpid,          SYS_clone,
    SYS_clone3,       SYS_rt_sigprocmask, SYS_set_robust_list, SYS_rseq,
    SYS_rt_sigaction, SYS_rt_sigreturn,   SYS_sched_yield};
enum { calls = sizeof allowed / sizeof *allowed };

static int lockIn(const char *how) {
  struct sock_filter code[calls + 3] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < calls; ++i)
    code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                               allowed[i], calls - i, 0);
  code[calls + 1] =
      (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[calls + 2] =
      (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {calls + 3, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return -1;
  return strcmp(how, "syscall") == 0
             ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
             : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void say(const char *text) { write(1, text, strlen(text)); }

static char *filled(size_t bytes) {
  char *block = malloc(bytes);
  if (!block)
    _exit(1);
  return memset(block, 1, bytes);
}

static void *work(void *unused) {
  for (int i = 0; i < 20000; ++i)
    filled(200);
  return unused;
}

int main(int argc, char **argv) {
  filled(100);
  if (argc != 2 || lockIn(argv[1]))
    return 125;
  work(NULL);
  for (int i = 0; i < 100; ++i)
    filled(100000);
  say("blocks\n");
  free(filled(130 << 20)); // with pages of its own
  char *block = NULL;
  for (size_t mib = 1; mib < 40; mib += 3)
    block = realloc(block, mib << 20);
  free(block);
  say("large\n");
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, work, NULL))
      return 1;
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  say("threads\n");
  return 0;
}
