// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocates, resizes and frees at random, with every function of the malloc
// family and in several threads, and compares with a simple model: no two
// blocks overlap, none loses its contents, calloc returns zeros, alignment and
// usable size are as requested, errno is unchanged. Threads free each other's
// blocks, end and restart; forked children check the blocks of all threads and
// continue with them. Works with any allocator.
//
//   random-heap NAME=VALUE...
//     seed=1 count=20000 threads=4 forks=2
//     most=300 live=600   MiB of one block, of all blocks
//     null=1              NULL with ENOMEM is right
//     perturb=N           MALLOC_PERTURB_ is N: new memory has its complement
//
// One thread does the same each time, several do not. Status 0 and the line
// `right: ...`, or 1 and `wrong: ...`.

#include "random-model.h"
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { heldBlocks = 3000, sharedBlocks = 64, maxThreads = 32, lives = 4 };

typedef struct {
  const char *name;
  long value;
} Option;
enum { seed, count, threads, forks, max, live, null, perturb };
static Option options[] = {{"seed", 1},  {"count", 20000}, {"threads", 4},
                           {"forks", 2}, {"most", 300},    {"live", 600},
                           {"null", 0},  {"perturb", 0}};

/// A thread of the program, several of the system one after the other.
typedef struct {
  uint64_t random;
  Block *held[heldBlocks];
  size_t blocks;
  long left;         ///< operations in this life
  long phaseLeft;    ///< until the next fashion
  size_t phaseBytes; ///< most blocks are about as large; 0: of all sizes
  unsigned growth;   ///< of 8 operations so many allocate
  long forksLeft;
} Worker;

static Worker *workers;
static Block *shared[sharedBlocks]; // with the lock of the model
static unsigned long forkCount, nullCount;

static uint64_t draw(Worker *worker, uint64_t below) {
  uint64_t word = worker->random += 0x9e3779b97f4a7c15u;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  return (word ^ word >> 31) % below;
}

/// One of `bits + 1` orders of magnitude, small ones more often.
static size_t drawMagnitude(Worker *worker, unsigned bits) {
  uint64_t a = draw(worker, bits + 1), b = draw(worker, bits + 1);
  return (size_t)1 << (a < b ? a : b);
}

static size_t drawBytes(Worker *worker) {
  size_t limit = (size_t)options[max].value << 20, bytes;
  if (worker->phaseBytes && draw(worker, 4))
    bytes = worker->phaseBytes + draw(worker, worker->phaseBytes / 8 + 1);
  else if (!draw(worker, 8)) // about the borders of size classes and pages
    bytes = drawMagnitude(worker, 25) + draw(worker, 65) - 32;
  else {
    // Few of more than 1 MiB: they take most of the time.
    bytes = drawMagnitude(worker, draw(worker, 8) ? 20 : 29);
    bytes = bytes / 2 + draw(worker, bytes);
  }
  if ((ptrdiff_t)bytes < 0)
    bytes = 0;
  return bytes < limit ? bytes : limit;
}

/// How a block was allocated, for messages about it.
typedef struct {
  const char *function;
  size_t bytes, alignment;
  void *block;
  int zeroed, perturbed;
} Request;

static int asPosix(void **block, size_t alignment, size_t bytes) {
  if (alignment < sizeof(void *))
    alignment = sizeof(void *);
  return posix_memalign(block, alignment, bytes);
}

static Request allocate(Worker *worker, size_t bytes) {
  size_t some = draw(worker, 2) ? 16 : drawMagnitude(worker, 22);
  size_t parts = bytes % 3 ? 1 : 3, page = (size_t)sysconf(_SC_PAGESIZE);
  Request asked = {"malloc", bytes, 16, NULL, 0, 0};
  errno = 0;
  switch (draw(worker, 14)) {
  case 0:
    asked = (Request){"calloc", bytes, 16, calloc(parts, bytes / parts), 1, 0};
    break;
  case 1:
    asked = (Request){"calloc", bytes, 16, calloc(bytes, 1), 1, 0};
    break;
  case 2:
    asked.function = "realloc(NULL)";
    asked.block = realloc(NULL, bytes);
    break;
  case 3:
    asked.function = "reallocarray(NULL)";
    asked.block = reallocarray(NULL, parts, bytes / parts);
    break;
  case 4:
    asked = (Request){"memalign", bytes, some, memalign(some, bytes), 0, 0};
    break;
  case 5:
    asked = (Request){
        "aligned_alloc", bytes, some, aligned_alloc(some, bytes), 0, 0};
    break;
  case 6:
    asked = (Request){"posix_memalign", bytes, some, NULL, 0, 0};
    errno = asPosix(&asked.block, some, bytes);
    break;
  case 7:
    if (draw(worker, 8))
      asked.block = malloc(bytes);
    else
      asked = (Request){"valloc", bytes, page, valloc(bytes), 0, 0};
    break;
  case 8:
    if (draw(worker, 8))
      asked.block = malloc(bytes);
    else
      asked = (Request){"pvalloc", (bytes + page - 1) / page * page,
                        page,      pvalloc(bytes),
                        0,         0};
    break;
  default:
    asked.block = malloc(bytes);
    asked.perturbed = options[perturb].value != 0;
  }
  return asked;
}

static void checkNull(const char *function, size_t bytes) {
  if (!options[null].value)
    wrong("null: %s of %zu bytes", function, bytes);
  if (errno != ENOMEM)
    wrong("errno: %s of %zu bytes gave NULL and errno %d", function, bytes,
          errno);
  __atomic_add_fetch(&nullCount, 1, __ATOMIC_RELAXED);
}

static void checkAlignment(const Request *asked) {
  // Whatever the caller wants, a block is good for any type.
  size_t alignment = asked->alignment < 16 ? 16 : asked->alignment;
  if ((uintptr_t)asked->block % alignment)
    wrong("alignment: %s gave %zu bytes at %p, not at a multiple of %zu",
          asked->function, asked->bytes, asked->block, alignment);
}

/// Before the pattern goes there.
static void checkNew(const Request *asked) {
  checkAlignment(asked);
  if (!asked->zeroed && !asked->perturbed)
    return;
  uint8_t byte = asked->zeroed ? 0 : (uint8_t)~options[perturb].value;
  const uint8_t *bytes = asked->block;
  if (asked->bytes &&
      (bytes[0] != byte || memcmp(bytes, bytes + 1, asked->bytes - 1)))
    wrong("new memory: %s gave %zu bytes at %p that are not all %#x",
          asked->function, asked->bytes, asked->block, byte);
}

static void hold(Worker *worker, Block *block) {
  worker->held[worker->blocks++] = block;
}

static void allocateOne(Worker *worker) {
  size_t bytes = drawBytes(worker);
  Request asked = allocate(worker, bytes);
  if (!asked.block) {
    checkNull(asked.function, bytes);
    return;
  }
  checkNew(&asked);
  hold(worker, addBlock(asked.block, asked.bytes, draw(worker, 2) != 0,
                        asked.function));
}

static Block *popHeld(Worker *worker) {
  size_t at = draw(worker, worker->blocks);
  Block *block = worker->held[at];
  worker->held[at] = worker->held[--worker->blocks];
  return block;
}

static void freeBlock(Worker *worker, Block *block) {
  checkBlock(block, "at free");
  removeBlock(block);
  void *start = (void *)block->start;
  errno = 4711;
  if (draw(worker, 16)) {
    free(start);
    if (errno != 4711)
      wrong("errno: free of %zu bytes at %#zx set it to %d", block->bytes,
            block->start, errno);
  } else if (realloc(start, 0)) {
    wrong("realloc of %#zx to 0 bytes gave a block", block->start);
  }
  dropBlock(block);
}

static void resizeOne(Worker *worker) {
  Block *block = popHeld(worker);
  // Often not far: those are the ones that stay in place.
  size_t bytes = draw(worker, 3) ? block->bytes + draw(worker, 200) - 100
                                 : drawBytes(worker);
  if (bytes == 0 || (ptrdiff_t)bytes < 0)
    bytes = 1;
  checkBlock(block, "before realloc");
  removeBlock(block);
  Block before = *block;
  errno = 0;
  int array = draw(worker, 2) != 0;
  void *start = array ? reallocarray((void *)before.start, bytes, 1)
                      : realloc((void *)before.start, bytes);
  if (!start) {
    checkNull("realloc", bytes);
    checkBlock(&before, "after a realloc that failed");
    start = (void *)before.start;
    bytes = before.bytes;
  }
  dropBlock(block);
  Request asked = {array ? "reallocarray" : "realloc", bytes, 16, start, 0, 0};
  // A block that stays where it is may be aligned as it was or not at all.
  checkAlignment(&asked);
  checkPattern(&before, start, before.bytes < bytes ? before.bytes : bytes,
               "after realloc");
  hold(worker, addBlock(start, bytes, draw(worker, 2) != 0, asked.function));
}

/// Puts one block where all threads see it, and frees what was there.
static void shareOne(Worker *worker) {
  size_t at = draw(worker, sharedBlocks);
  Block *block = popHeld(worker);
  lockModel();
  Block *other = shared[at];
  shared[at] = block;
  unlockModel();
  if (other)
    freeBlock(worker, other);
}

static void newFashion(Worker *worker) {
  worker->phaseLeft = 50 + (long)draw(worker, 2000);
  worker->phaseBytes = draw(worker, 3) ? drawMagnitude(worker, 20) : 0;
  worker->growth = 1 + (unsigned)draw(worker, 6);
  if (!draw(worker, 4))
    malloc_trim(0);
}

static void work(Worker *worker);

/// The child owns the blocks of all threads from here on.
static void liveOn(Worker *worker, const char *name) {
  lockModel();
  memset(shared, 0, sizeof shared);
  worker->blocks = checkAllBlocks(worker->held, heldBlocks / 2);
  unlockModel();
  runName = name;
  worker->left = options[count].value / 20;
  worker->forksLeft = 0;
  work(worker);
  while (worker->blocks)
    freeBlock(worker, popHeld(worker));
  _exit(0);
}

static void forkOne(Worker *worker) {
  static char name[100];
  // So that the model is whole in the child. Other threads go on in the
  // allocator.
  lockModel();
  pid_t child = fork();
  unlockModel();
  if (child == 0) {
    snprintf(name, sizeof name, "child of a fork, %s", runName);
    liveOn(worker, name);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    wrong("fork: errno %d", errno);
  if (WIFSIGNALED(status))
    wrong("fork: the child died of signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status))
    _exit(1); // it has said why
  __atomic_add_fetch(&forkCount, 1, __ATOMIC_RELAXED);
}

static void step(Worker *worker) {
  if (--worker->phaseLeft < 0)
    newFashion(worker);
  size_t limit = (size_t)options[live].value << 20;
  int full = worker->blocks == heldBlocks || modelCounts().bytes > limit;
  if (full && worker->blocks) {
    freeBlock(worker, popHeld(worker));
  } else if (!worker->blocks || draw(worker, 8) < worker->growth) {
    allocateOne(worker);
  } else {
    switch (draw(worker, 6)) {
    case 0:
      resizeOne(worker);
      break;
    case 1:
      shareOne(worker);
      break;
    case 2:
      checkBlock(worker->held[draw(worker, worker->blocks)], "while it lives");
      break;
    default:
      freeBlock(worker, popHeld(worker));
    }
  }
}

static void work(Worker *worker) {
  long forkEach = worker->left / (worker->forksLeft + 1) + 1;
  while (worker->left-- > 0) {
    step(worker);
    if (worker->forksLeft && worker->left % forkEach == 0) {
      --worker->forksLeft;
      forkOne(worker);
    }
  }
}

static void *runWorker(void *argument) {
  work(argument);
  return NULL;
}

/// One life of all threads; the main thread is the first of them.
static void runLife(long number, long each) {
  pthread_t started[maxThreads];
  for (long i = 0; i < options[threads].value; ++i) {
    workers[i].left = each;
    // Forks by any thread in turn.
    if (i == number % options[threads].value)
      workers[i].forksLeft = (options[forks].value + number) / lives;
    if (i && pthread_create(&started[i], NULL, runWorker, &workers[i]))
      wrong("pthread_create");
  }
  work(&workers[0]);
  for (long i = 1; i < options[threads].value; ++i)
    pthread_join(started[i], NULL);
}

static void readOptions(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    char *value = strchr(argv[i], '=');
    Option *option = options, *end = option + sizeof options / sizeof *options;
    while (option < end &&
           (!value || strlen(option->name) != (size_t)(value - argv[i]) ||
            strncmp(option->name, argv[i], strlen(option->name))))
      ++option;
    if (option == end)
      wrong("%s is not an option", argv[i]);
    option->value = atol(value + 1);
  }
  if (options[threads].value < 1 || options[threads].value > maxThreads)
    wrong("threads: 1 to %d", maxThreads);
}

int main(int argc, char **argv) {
  static char name[100];
  readOptions(argc, argv);
  snprintf(name, sizeof name, "seed %ld", options[seed].value);
  runName = name;
  size_t number = (size_t)options[threads].value;
  // In a child there are those of the parent, too.
  startModel((number + 1) * heldBlocks + sharedBlocks + number);
  workers = mmap(NULL, number * sizeof *workers, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t i = 0; i < number; ++i)
    workers[i].random = ((uint64_t)options[seed].value << 8 | i) * 0x2545f491;
  for (long i = 0; i < lives; ++i)
    runLife(i, options[count].value / lives / options[threads].value + 1);
  for (size_t i = 0; i < number; ++i)
    while (workers[i].blocks)
      freeBlock(&workers[0], popHeld(&workers[i]));
  for (size_t i = 0; i < sharedBlocks; ++i)
    if (shared[i])
      freeBlock(&workers[0], shared[i]);
  ModelCounts counts = modelCounts();
  printf("right: %s, %ld operations, at most %zu blocks of %zu MiB, %lu forks, "
         "%lu times NULL, %zu left\n",
         runName, options[count].value, counts.maxBlocks, counts.maxBytes >> 20,
         forkCount, nullCount, counts.blocks);
  return 0;
}
