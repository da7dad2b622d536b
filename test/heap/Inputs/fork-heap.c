/* Forks with 20 MiB of blocks of all sizes, and notices when parent or child
 * sees a wrong value, ends by a signal, hangs, or cannot go on with its heap.
 * Knows nothing of libmpg: all of this has to work the same with any malloc.
 *
 *   large      fails unless most of the blocks are on large pages
 *   once       parent and child write to all blocks at the same time
 *   many       seven times, one after the other, and the parent has as many
 *              mappings and as much memory of each kind afterwards
 *   together   eight children that write when all of them have been forked
 *   nested     a child that forks
 *   threads    while other threads allocate, free, and write to their blocks
 *   files      another thread has the lock of a file that the child writes to
 *   guarded    with blocks that may not be read or written to
 *   coroutine  on a stack that is a block
 *   untouched  a block that has not been written to: the first to do so is a
 *              child
 *   exec       vfork, posix_spawn, system, popen, and fork with exec
 *   pool       as a pool of worker processes does it: work comes and goes
 *              through pipes, workers end and are replaced
 *   bus        a SIGBUS of the program's own, with its handler, in the child
 *   fast       nothing but time: nanoseconds of a fork whose child ends at once
 *
 * With `wait` in front of these, prints "ready" and waits for the end of its
 * input; with `hold` after them the same.
 */

#define _GNU_SOURCE
#include "../../runtime/Inputs/fork-steps.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <ucontext.h>

extern char **environ;

enum { maxBlocks = 24000, threadCount = 3 };

struct block {
  uint64_t *words;
  size_t count;
};
static struct block *blocks;
static size_t blockCount;
static uint64_t seed = 1;
static volatile int stop;

static void *take(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory)
    wrong("no memory");
  return memory;
}

static void addBlocks(size_t count, size_t bytes) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t *words = take(bytes);
    blocks[blockCount++] = (struct block){words, bytes / sizeof *words};
  }
}

static void makeBlocks(void) {
  blocks = take(maxBlocks * sizeof *blocks);
  addBlocks(20000, 48);
  addBlocks(2000, 1000);
  addBlocks(64, 64 << 10);
  addBlocks(5, 1500 << 10);
  addBlocks(1, 5 << 20);
}

static void writeAll(uint64_t with) {
  for (size_t i = 0; i < blockCount; ++i)
    for (size_t j = 0; j < blocks[i].count; ++j)
      blocks[i].words[j] = (i * 1000003 + j) * 0x9e3779b97f4a7c15 + with;
}

static void checkAll(uint64_t with, const char *who) {
  uint64_t bad = 0;
  for (size_t i = 0; i < blockCount; ++i)
    for (size_t j = 0; j < blocks[i].count; ++j)
      bad |=
          blocks[i].words[j] ^ ((i * 1000003 + j) * 0x9e3779b97f4a7c15 + with);
  if (bad)
    wrong(who);
}

/* Frees some of the old blocks, makes others larger, takes new ones. */
static void useHeap(void) {
  static const size_t sizes[] = {24, 700, 20 << 10, 300 << 10, 3 << 20};
  for (size_t i = 0; i < blockCount; i += 3) {
    uint64_t first = *blocks[i].words;
    size_t bytes = blocks[i].count * sizeof first;
    if (i % 2) {
      free(blocks[i].words);
      blocks[i].words = take(bytes);
      *blocks[i].words = first;
    } else {
      blocks[i].words = realloc(blocks[i].words, bytes + bytes / 4);
      if (!blocks[i].words || *blocks[i].words != first)
        wrong("realloc after a fork");
    }
  }
  for (unsigned i = 0; i < 500; ++i) {
    size_t bytes = sizes[i % 5];
    char *memory = take(bytes);
    memset(memory, (int)i, bytes);
    free(memory);
  }
}

static void checkNow(const char *who) { checkAll(seed, who); }

static void childWrites(uint64_t mine) {
  checkAll(seed, "the child sees other values");
  writeAll(mine);
  checkAll(mine, "the child does not see what it wrote");
  useHeap();
  writeAll(mine);
  checkAll(mine, "the child's heap after use");
}

static void parentWrites(uint64_t mine) {
  writeAll(mine);
  seed = mine;
}

static void large(void) {
  if (statusKib("\nHugetlbPages:") < 20 << 10)
    wrong("the blocks are not on large pages");
}

static void manyLarge(void) {
  once(98);
  long before = statusKib("\nHugetlbPages:");
  many();
  if (statusKib("\nHugetlbPages:") < before)
    wrong("forks take large pages from the parent");
}

/* Takes and frees blocks and passes some to others, and counts in one. */
static void *useAll(void *argument) {
  static void *passed[64];
  unsigned number = (unsigned)(uintptr_t)argument * 7919;
  volatile uint64_t *counters = calloc(4096, sizeof *counters);
  uint64_t rounds = 0;
  for (; counters && !stop; ++rounds) {
    number = number * 1103515245 + 12345;
    size_t bytes = 16 + (number >> 8) % (rounds % 8 ? 2000 : 200000);
    char *memory = take(bytes);
    memory[0] = memory[bytes - 1] = 1;
    free(__atomic_exchange_n(&passed[number >> 26], memory, __ATOMIC_ACQ_REL));
    for (int i = 0; i < 4096; ++i)
      ++counters[i];
  }
  for (int i = 0; counters && i < 4096; ++i)
    if (counters[i] != rounds)
      wrong("a thread's writes are lost");
  free((void *)counters);
  return NULL;
}

static void threads(void) {
  pthread_t thread[threadCount];
  for (uintptr_t i = 0; i < threadCount; ++i)
    if (pthread_create(&thread[i], NULL, useAll, (void *)i))
      wrong("pthread_create");
  for (int i = 0; i < 4; ++i)
    once(400 + i);
  stop = 1;
  for (int i = 0; i < threadCount; ++i)
    pthread_join(thread[i], NULL);
  stop = 0;
}

struct lockedFile {
  FILE *file;
  pthread_barrier_t held, done;
};

static void *holdLock(void *argument) {
  struct lockedFile *locked = argument;
  flockfile(locked->file);
  pthread_barrier_wait(&locked->held);
  pthread_barrier_wait(&locked->done);
  funlockfile(locked->file);
  return NULL;
}

static void files(void) {
  pthread_t thread;
  struct lockedFile locked = {.file = fopen("/dev/null", "w")};
  pthread_barrier_init(&locked.held, NULL, 2);
  pthread_barrier_init(&locked.done, NULL, 2);
  if (!locked.file || pthread_create(&thread, NULL, holdLock, &locked))
    wrong("no file or no thread");
  pthread_barrier_wait(&locked.held);
  pid_t child = forkOrFail();
  if (child == 0) {
    alarm(10);
    fprintf(locked.file, "the C library has set the lock free\n");
    fclose(locked.file);
    childWrites(4000);
    exit(0);
  }
  parentWrites(450);
  expectEnd(child, "the child that uses a file");
  checkAll(seed, "the parent of a child that uses a file");
  pthread_barrier_wait(&locked.done);
  pthread_join(thread, NULL);
  fclose(locked.file);
}

static void guarded(void) {
  enum { bytes = 12 << 20, guard = 4 << 20 };
  char *memory = aligned_alloc(guard, bytes);
  if (!memory)
    wrong("no memory");
  memset(memory, 5, bytes);
  if (mprotect(memory, guard, PROT_NONE) ||
      mprotect(memory + 2 * guard, guard, PROT_READ))
    wrong("mprotect");
  once(460);
  pid_t child = forkOrFail();
  if (child == 0) {
    for (int i = guard; i < bytes; ++i)
      if (memory[i] != 5)
        wrong("what may only be read in the child");
    memset(memory + guard, 6, guard);
    _exit(0);
  }
  expectEnd(child, "the child with guarded blocks");
  if (mprotect(memory, bytes, PROT_READ | PROT_WRITE))
    wrong("mprotect");
  for (int i = 0; i < bytes; ++i)
    if (memory[i] != 5)
      wrong("what was guarded");
  free(memory);
}

static ucontext_t mainContext, coroutineContext;

static void forkOnBlock(void) {
  volatile uint64_t above[512];
  for (int i = 0; i < 512; ++i)
    above[i] = i;
  once(470);
  once(471);
  for (int i = 0; i < 512; ++i)
    if (above[i] != (uint64_t)i)
      wrong("the stack of a coroutine");
}

static void coroutine(void) {
  enum { stackBytes = 256 << 10 };
  char *stack = take(stackBytes);
  getcontext(&coroutineContext);
  coroutineContext.uc_stack.ss_sp = stack;
  coroutineContext.uc_stack.ss_size = stackBytes;
  coroutineContext.uc_link = &mainContext;
  makecontext(&coroutineContext, forkOnBlock, 0);
  swapcontext(&mainContext, &coroutineContext);
  free(stack);
}

static void untouched(void) {
  enum { words = 1 << 21 };
  uint64_t *block = calloc(words, sizeof *block);
  pid_t child = forkOrFail();
  if (child == 0) {
    for (int i = 0; i < words; ++i)
      if (block[i]++)
        wrong("an untouched block is not zero in the child");
    childWrites(5000);
    _exit(0);
  }
  expectEnd(child, "the child");
  for (int i = 0; i < words; ++i)
    if (block[i])
      wrong("an untouched block is not zero in the parent");
  free(block);
}

static void execs(void) {
  char *arguments[] = {"true", NULL};
  pid_t child = vfork();
  if (child == 0) {
    execvp("true", arguments);
    _exit(1);
  }
  expectEnd(child, "vfork");
  if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ))
    wrong("posix_spawn");
  expectEnd(child, "posix_spawn");
  if (system("exit 3") != 3 << 8)
    wrong("system");
  FILE *output = popen("echo spoken", "r");
  char text[16] = "";
  if (!output || !fgets(text, sizeof text, output) || pclose(output) ||
      strcmp(text, "spoken\n") != 0)
    wrong("popen");
  child = forkOrFail();
  if (child == 0) {
    execvp("true", arguments);
    _exit(1);
  }
  expectEnd(child, "fork and exec");
  checkAll(seed, "after exec");
}

/* Answers each number with the sum of the block of that number. */
static void work(int in, int out, int tasks) {
  unsigned number;
  while (tasks-- && read(in, &number, sizeof number) == sizeof number) {
    struct block block = blocks[number % blockCount];
    uint64_t sum = 0, *copy = take(block.count * sizeof *copy);
    memcpy(copy, block.words, block.count * sizeof *copy);
    for (size_t i = 0; i < block.count; ++i)
      sum += copy[i], block.words[i] = number;
    free(copy);
    if (write(out, &sum, sizeof sum) != sizeof sum)
      wrong("write");
  }
}

static void pool(void) {
  enum { workers = 3, tasks = 12, rounds = 4 };
  pid_t child[workers];
  int in[2], out[2];
  for (unsigned round = 0; round < rounds; ++round) {
    uint64_t want = 0, sum, got = 0;
    if (pipe(in) || pipe(out))
      wrong("pipe");
    for (int i = 0; i < workers; ++i)
      if (!(child[i] = forkOrFail())) {
        work(in[0], out[1], tasks / workers);
        exit(0);
      }
    for (unsigned i = 0; i < tasks; ++i) {
      /* No block twice: a worker writes to what it has summed up. */
      unsigned number = (round * tasks + i) * 977 % (unsigned)blockCount;
      for (size_t j = 0; j < blocks[number].count; ++j)
        want += blocks[number].words[j];
      if (write(in[1], &number, sizeof number) != sizeof number)
        wrong("write");
    }
    for (int i = 0; i < tasks; ++i)
      if (read(out[0], &sum, sizeof sum) == sizeof sum)
        got += sum;
    for (int i = 0; i < workers; ++i)
      expectEnd(child[i], "a worker");
    if (got != want)
      wrong("what the workers answer");
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    parentWrites(600 + round);
  }
}

static sigjmp_buf back;
static void onBus(int number) { siglongjmp(back, number); }

static void bus(void) {
  struct sigaction action = {.sa_handler = onBus}, now;
  sigaction(SIGBUS, &action, NULL);
  int file = memfd_create("short", 0);
  volatile char *beyond =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  pid_t child = forkOrFail();
  if (!sigsetjmp(back, 1)) {
    *beyond = 1;
    wrong("no SIGBUS");
  }
  if (sigaction(SIGBUS, NULL, &now) || now.sa_handler != onBus)
    wrong("the handler of SIGBUS is another one");
  if (child == 0)
    _exit(0);
  expectEnd(child, "the child that handles SIGBUS");
  signal(SIGBUS, SIG_DFL);
  munmap((void *)beyond, 4096);
  close(file);
}

static void fast(void) {
  enum { rounds = 301 };
  static uint64_t forks[rounds];
  for (int i = 0; i < rounds; ++i) {
    uint64_t start = nanoseconds();
    pid_t child = fork();
    if (child == 0)
      _exit(0);
    expectEnd(child, "the child");
    forks[i] = nanoseconds() - start;
  }
  printTimes("fork and exit", forks, rounds);
}

static void use(const char *what, void (*how)(void), const char *asked) {
  if (strcmp(what, asked) == 0)
    how();
}

int main(int argc, char **argv) {
  alarm(3 * secondsBeforeHang);
  makeBlocks();
  writeAll(seed);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "once") == 0)
      once(10);
    use("wait", hold, argv[i]);
    use("hold", hold, argv[i]);
    use("large", large, argv[i]);
    use("many", manyLarge, argv[i]);
    use("together", together, argv[i]);
    use("nested", nested, argv[i]);
    use("threads", threads, argv[i]);
    use("files", files, argv[i]);
    use("guarded", guarded, argv[i]);
    use("coroutine", coroutine, argv[i]);
    use("untouched", untouched, argv[i]);
    use("exec", execs, argv[i]);
    use("pool", pool, argv[i]);
    use("bus", bus, argv[i]);
    use("fast", fast, argv[i]);
  }
  puts("right");
  return 0;
}
