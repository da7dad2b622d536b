/* Makes children in every way that there is, and counts those that die or see
 * a wrong value. Knows nothing of libmpg: all of this has to work the same on
 * any pages.
 *
 *   fork-kinds THREADS TURNS KIND...
 *
 * Each thread goes through the kinds TURNS times. A child checks and writes to
 * every page of its thread's part of .data, .bss, heap and stack; the parent
 * writes to the same at once. Kinds: fork _Fork vfork spawn clone popen system
 * forkpty rawclone clone3 (both by syscall()) nested grow (the child takes
 * memory) wait (the children of a thread live until it has made all) and exec
 * (a child that becomes another program). Prints "forks N dead N wrong N
 * refused N"; refused: ENOMEM. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { maxThreads = 8, words = 2 << 17 /* 2 MiB */, stackWords = 64 << 10 };

static uint64_t data[maxThreads][words] = {{1}}, bss[maxThreads][words];
static int forks, dead, wrong, refused;
static int turns, kindCount;
static char **kinds;

struct Part {
  int number;
  uint64_t *data, *bss, *heap, *stack;
  pid_t waiting[4096];
  int waitingCount, *go;
};

static void writeAll(struct Part *part, uint64_t seed) {
  for (int i = 0; i < words; i += 512)
    part->data[i] = part->bss[i] = part->heap[i] = i + seed;
  for (int i = 0; i < stackWords; i += 512)
    part->stack[i] = i + seed;
}

static int isRight(const struct Part *part, uint64_t seed) {
  for (int i = 0; i < words; i += 512)
    if (part->data[i] != i + seed || part->bss[i] != i + seed ||
        part->heap[i] != i + seed)
      return 0;
  for (int i = 0; i < stackWords; i += 512)
    if (part->stack[i] != i + seed)
      return 0;
  return 1;
}

static int work(struct Part *part, uint64_t seed) {
  if (!isRight(part, seed))
    return 3;
  writeAll(part, seed + 1000);
  return isRight(part, seed + 1000) ? 0 : 3;
}

static void count(const char *kind, int status) {
  if (status)
    fprintf(stderr, "%s ended with status %#x\n", kind, status);
  int *what = WIFSIGNALED(status) ? &dead : WEXITSTATUS(status) ? &wrong : NULL;
  if (what)
    __atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

static void await(const char *kind, pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      abort();
  count(kind, status);
}

struct Job {
  struct Part *part;
  uint64_t seed;
};

static int inClone(void *argument) {
  struct Job *job = argument;
  return work(job->part, job->seed);
}

static pid_t makeClone(struct Part *part, uint64_t seed) {
  struct Job job = {part, seed};
  size_t bytes = 256 << 10;
  char *stack = malloc(bytes);
  memset(stack, 1, bytes);
  pid_t child = clone(inClone, stack + bytes, SIGCHLD, &job);
  int error = errno;
  free(stack);
  errno = error;
  return child;
}

/// As programs do that the C library has no function for.
static pid_t makeRaw(int isNew) {
  struct clone_args arguments = {.exit_signal = SIGCHLD};
  return isNew ? syscall(SYS_clone3, &arguments, sizeof arguments)
               : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t spawn(void) {
  char *arguments[] = {"true", NULL}, *environment[] = {NULL};
  pid_t child;
  int error =
      posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment);
  errno = error;
  return error ? -1 : child;
}

static __attribute__((noinline)) pid_t makeVfork(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", NULL);
    _exit(3);
  }
  return child;
}

static int nest(struct Part *part, uint64_t seed) {
  pid_t child = fork();
  if (child == 0)
    _exit(work(part, seed));
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) != child)
    return 3;
  if (WIFSIGNALED(status))
    raise(WTERMSIG(status));
  return work(part, seed) | WEXITSTATUS(status);
}

static int grow(struct Part *part, uint64_t seed) {
  size_t bytes = 5 << 20;
  char *more = malloc(bytes);
  if (!more)
    return 3;
  memset(more, 1, bytes);
  int result = work(part, seed);
  free(more);
  return result;
}

static int inChild(const char *kind, struct Part *part, uint64_t seed) {
  if (!strcmp(kind, "exec"))
    execl("/bin/true", "true", NULL);
  if (!strcmp(kind, "nested"))
    return nest(part, seed);
  if (!strcmp(kind, "grow"))
    return grow(part, seed);
  if (!strcmp(kind, "wait")) {
    while (!__atomic_load_n(part->go, __ATOMIC_RELAXED))
      usleep(1000);
  }
  return work(part, seed);
}

static void runCommand(const char *kind) {
  int status = -1;
  char line[8] = "";
  FILE *pipe = NULL;
  if (!strcmp(kind, "system")) {
    status = system("exit 0");
  } else if ((pipe = popen("echo right", "r"))) {
    if (!fgets(line, sizeof line, pipe) || strcmp(line, "right\n"))
      __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    status = pclose(pipe);
  }
  if (status < 0)
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
  else
    count(kind, status);
}

static void makeChild(const char *kind, struct Part *part, uint64_t seed) {
  __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
  writeAll(part, seed);
  if (!strcmp(kind, "system") || !strcmp(kind, "popen"))
    return runCommand(kind);
  pid_t child;
  int terminal = -1;
  if (!strcmp(kind, "clone"))
    child = makeClone(part, seed);
  else if (!strcmp(kind, "clone3") || !strcmp(kind, "rawclone"))
    child = makeRaw(!strcmp(kind, "clone3"));
  else if (!strcmp(kind, "spawn"))
    child = spawn();
  else if (!strcmp(kind, "vfork"))
    child = makeVfork();
  else if (!strcmp(kind, "forkpty"))
    child = forkpty(&terminal, NULL, NULL, NULL);
  else
    child = strcmp(kind, "_Fork") ? fork() : _Fork();
  if (child == 0)
    _exit(inChild(kind, part, seed));
  if (child < 0) {
    if (errno != ENOMEM)
      abort();
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
    return;
  }
  writeAll(part, seed + 1);
  if (!strcmp(kind, "wait") && part->waitingCount < 4096)
    part->waiting[part->waitingCount++] = child;
  else
    await(kind, child);
  if (terminal >= 0)
    close(terminal);
  if (!isRight(part, seed + 1))
    __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void *thread(void *argument) {
  uint64_t stack[stackWords];
  struct Part *part = argument;
  part->stack = stack;
  part->data = data[part->number];
  part->bss = bss[part->number];
  part->heap = malloc(words * sizeof(uint64_t));
  part->go = mmap(NULL, sizeof *part->go, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!part->heap || part->go == MAP_FAILED)
    abort();
  for (int turn = 0; turn < turns; ++turn)
    for (int i = 0; i < kindCount; ++i)
      makeChild(kinds[i], part, turn * 16 + i);
  __atomic_store_n(part->go, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < part->waitingCount; ++i)
    await("wait", part->waiting[i]);
  free(part->heap);
  return NULL;
}

int main(int count, char **values) {
  static struct Part parts[maxThreads];
  pthread_t others[maxThreads];
  int threads = count > 3 ? atoi(values[1]) : 0;
  if (threads < 1 || threads > maxThreads)
    return 2;
  turns = atoi(values[2]);
  kinds = values + 3;
  kindCount = count - 3;
  for (int i = 0; i < threads; ++i) {
    parts[i].number = i;
    if (i && pthread_create(&others[i], NULL, thread, &parts[i]))
      abort();
  }
  thread(&parts[0]);
  for (int i = 1; i < threads; ++i)
    pthread_join(others[i], NULL);
  printf("forks %d dead %d wrong %d refused %d\n", forks, dead, wrong, refused);
  return dead || wrong;
}
