/* Uses mpg_replicate and its relatives on whatever nodes there are. Prints
 * `right`, or what is wrong, with status 1.
 *
 *   replicate-uses            everything below
 *   replicate-uses shortage   under a limit that leaves no room for a copy
 *   replicate-uses calls      mpg_local_copy where each system call kills */

#define _GNU_SOURCE
#include "touch.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { maxNodes = 64, large = 2 << 20 };

static void check(int isRight, const char *what) {
  if (isRight)
    return;
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

/* On pages of the base size, which no node takes for its copy. */
static unsigned char *table(size_t bytes) {
  unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "no memory");
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < bytes; ++i)
    memory[i] = (unsigned char)(i * 7 + i / 4099);
  return memory;
}

static int isMapped(const void *memory, size_t bytes) {
  return mpg_where(memory, bytes, NULL, 0) != (size_t)-1 || errno != EFAULT;
}

static void copies(size_t bytes) {
  unsigned char *memory = table(bytes);
  errno = 77;
  struct mpg_replica *replica = mpg_replicate(memory, bytes);
  check(replica && errno == 77, "mpg_replicate");
  unsigned char *copy = mpg_local_copy(replica);
  check(copy != memory && (uintptr_t)copy % large == 0, "no copy of its own");
  check(memcmp(copy, memory, bytes) == 0, "the contents");
  int known = 0;
  for (int node = 0; node < maxNodes; ++node)
    known += mpg_node_copy(replica, node) == copy;
  check(known > 0, "no node has the local copy");
  check(!mpg_node_copy(replica, -1) && !mpg_node_copy(replica, 1023) &&
            !mpg_node_copy(replica, 1024),
        "the copy of no node");
  memory[bytes / 2] ^= 1;
  check(memcmp(copy, memory, bytes) != 0, "it is no copy");
  mpg_replica_free(replica);
  check(!isMapped(copy, bytes), "mpg_replica_free left the copy");
  check(isMapped(memory, bytes), "mpg_replica_free took the original");
  munmap(memory, bytes);
}

/* Memory on one node, and on large pages, is used there directly. */
static void homes(void) {
  size_t bytes = 3 * large + 5;
  unsigned char *memory = mpg_alloc_onnode(bytes, 0);
  check(memory != NULL, "mpg_alloc_onnode");
  memset(memory, 3, bytes);
  struct mpg_replica *replica = mpg_replicate(memory, bytes);
  check(replica != NULL, "mpg_replicate");
  puts(mpg_node_copy(replica, 0) == memory ? "node 0 has the original"
                                           : "node 0 has a copy");
  mpg_replica_free(replica);
  check(isMapped(memory, bytes) && memory[bytes - 1] == 3,
        "mpg_replica_free took the original");
  mpg_free_pages(memory, bytes);
}

static void buffers(size_t bytes) {
  struct mpg_replica *replica = mpg_replicate(NULL, bytes);
  check(replica != NULL, "mpg_replicate(NULL)");
  unsigned char *buffer = mpg_local_copy(replica);
  check(buffer && (uintptr_t)buffer % large == 0, "no buffer");
  for (size_t i = 0; i < bytes; ++i)
    check(buffer[i] == 0, "a buffer is not zero");
  memset(buffer, 1, bytes);
  mpg_replica_free(replica);
  check(!isMapped(buffer, bytes), "mpg_replica_free left the buffer");
}

static void refuses(void) {
  static char some[100];
  errno = 0;
  check(!mpg_replicate(some, 0) && errno == EINVAL, "no bytes");
  check(!mpg_replicate(NULL, 0) && errno == EINVAL, "no bytes of no buffer");
  errno = 0;
  check(!mpg_replicate(some, SIZE_MAX) && errno == ENOMEM, "all bytes");
  errno = 0;
  check(!mpg_replicate(NULL, (size_t)1 << 50) && errno == ENOMEM,
        "far too large buffers");
  mpg_replica_free(NULL);
}

/* Each thread of a team by itself, if there are threads. */
static void inTeams(void) {
  size_t bytes = large + 12345;
  unsigned char *memory = table(bytes);
  struct mpg_replica *shared = mpg_replicate(memory, bytes);
  int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  {
    struct mpg_replica *own = mpg_replicate(memory, bytes);
    wrong += memcmp(mpg_local_copy(shared), memory, bytes) != 0;
    wrong += !own || memcmp(mpg_local_copy(own), memory, bytes) != 0;
    mpg_replica_free(own);
  }
  check(wrong == 0, "inside of a parallel region");
  mpg_replica_free(shared);
  munmap(memory, bytes);
}

static int shortage(void) {
  size_t bytes = 64 << 20;
  unsigned char *memory = table(bytes);
#pragma omp parallel
  (void)memory; /* the team's stacks, while there is room */
  struct rlimit limit = {0, 0};
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  check(file && fscanf(file, "%ld", &pages) == 1, "/proc/self/statm");
  fclose(file);
  limit.rlim_cur = limit.rlim_max =
      (rlim_t)pages * (rlim_t)getpagesize() + (32 << 20);
  check(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
  for (int round = 0; round < 2; ++round) {
    struct mpg_replica *replica = mpg_replicate(memory, bytes);
    check(replica && mpg_local_copy(replica) == memory, "not the original");
    check(mpg_node_copy(replica, 0) == memory, "not the original on node 0");
    mpg_replica_free(replica);
  }
  check(isMapped(memory, bytes), "mpg_replica_free took the original");
  errno = 0;
  check(!mpg_replicate(NULL, bytes) && errno == ENOMEM, "buffers");
  return 0;
}

/* The process may write and end, nothing else. */
static int calls(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  struct mpg_replica *replica = mpg_replicate(NULL, 5000);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
  int isThere = 1;
  for (int i = 0; i < 100000; ++i)
    isThere &= mpg_local_copy(replica) != NULL;
  if (isThere && write(1, "right\n", 6) == 6)
    _exit(0);
  _exit(1);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "calls") == 0)
    return calls();
  if (argc > 1) {
    shortage();
  } else {
    const size_t sizes[] = {1,     4097,      large - 1,
                            large, large + 1, 5 * large + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
      copies(sizes[i]);
      buffers(sizes[i]);
    }
    homes();
    refuses();
    inTeams();
  }
  puts("right");
  return 0;
}
