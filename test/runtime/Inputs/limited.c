/* Runs a program with less than it could have:
 *
 *   limited [no-mremap] [no-memfd] [no-madvise] [no-thp] [thp-advised]
 *           [no-pread] [no-ptrace] [no-perf] [no-readlink] [no-userfaultfd]
 *           [no-io_uring] [no-fadvise] [no-policy] [no-threads] [no-futex]
 *           [no-exec-gain] [no-limits] [no-gettid] [memory MIB] -- PROGRAM...
 *
 * System calls are forbidden by a filter that answers EPERM, like a
 * container's; threads by EAGAIN, as at a limit of processes, and futex by
 * EAGAIN, which asks for another try. Without pread the library cannot see
 * which pages are in use. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The call \p number fails with \p error if its first argument has one of
/// \p flags; 0: always.
static void fail(long number, int error, unsigned flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, flags ? 1 : 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("limited: seccomp");
    exit(125);
  }
}

static void forbid(long number) { fail(number, EPERM, 0); }

static void limitMemory(const char *mib) {
  rlim_t bytes = strtoul(mib, NULL, 10) << 20;
  struct rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit)) {
    perror("limited: setrlimit");
    exit(125);
  }
}

int main(int argc, char **argv) {
  const char *memory = NULL;
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--"); ++i) {
    if (!strcmp(argv[i], "no-mremap"))
      forbid(SYS_mremap);
    else if (!strcmp(argv[i], "no-memfd"))
      forbid(SYS_memfd_create);
    else if (!strcmp(argv[i], "no-madvise"))
      forbid(SYS_madvise);
    else if (!strcmp(argv[i], "no-fadvise"))
      forbid(SYS_fadvise64);
    else if (!strcmp(argv[i], "no-pread"))
      forbid(SYS_pread64);
    else if (!strcmp(argv[i], "no-ptrace")) {
      forbid(SYS_ptrace);
      // LeakSanitizer looks by ptrace, and makes the status another one
      // without.
      setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    } else if (!strcmp(argv[i], "no-perf"))
      forbid(SYS_perf_event_open);
    else if (!strcmp(argv[i], "no-limits")) // also what they are
      forbid(SYS_prlimit64);
    else if (!strcmp(argv[i], "no-gettid"))
      forbid(SYS_gettid);
    else if (!strcmp(argv[i], "no-userfaultfd"))
      forbid(SYS_userfaultfd);
    else if (!strcmp(argv[i], "no-io_uring"))
      forbid(SYS_io_uring_setup);
    else if (!strcmp(argv[i], "no-policy")) { // Docker, without CAP_SYS_NICE
      forbid(SYS_mbind);
      forbid(SYS_set_mempolicy);
      forbid(SYS_get_mempolicy);
      forbid(SYS_move_pages);
    } else if (!strcmp(argv[i], "no-threads")) {
      fail(SYS_clone3, ENOSYS, 0); // its flags are in memory
      fail(SYS_clone, EAGAIN, CLONE_THREAD);
    } else if (!strcmp(argv[i], "no-futex")) {
      fail(SYS_futex, EAGAIN, 0);
    } else if (!strcmp(argv[i], "no-readlink")) {
#ifdef SYS_readlink
      forbid(SYS_readlink);
#endif
      forbid(SYS_readlinkat);
    } else if (!strcmp(argv[i], "no-thp"))
      prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    else if (!strcmp(argv[i], "thp-advised")) // Linux 6.18; older ones refuse
      prctl(PR_SET_THP_DISABLE, 1, 2, 0, 0);
    else if (!strcmp(argv[i], "no-exec-gain")) // PR_SET_MDWE, Linux 6.3
      prctl(65, 1, 0, 0, 0);
    else if (!strcmp(argv[i], "memory") && i + 1 < argc)
      memory = argv[++i];
    else
      return fprintf(stderr, "limited: %s?\n", argv[i]), 125;
  }
  if (memory)
    limitMemory(memory);
  if (i + 1 < argc)
    execvp(argv[i + 1], argv + i + 1);
  perror("limited: cannot run it");
  return 127;
}
