// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads and memory that others of them have allocated. Each argument is one
// use; prints `right` or the first thing that is wrong.
//
//   passing      blocks go from thread to thread and are freed by the last
//   exits        threads end with blocks that others free, and by every way
//   destructors  thread-specific data whose destructors use malloc, in every
//                round of them, and free what other rounds have left
//   many         10,000 threads: memory does not grow

#include "entry-memory.h"
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static void check(int fine, const char *what, long number) {
  if (fine)
    return;
  printf("wrong: %s (%ld)\n", what, number);
  exit(1);
}

/// The n-th of sizes from all ranges.
static size_t getBytes(unsigned n) {
  static const size_t some[] = {16,   40,    100,   1000, 8,      24,   300,
                                5000, 14336, 20000, 64,   100000, 3000, 33};
  return some[n % 14] + n % 8;
}

static void *newBlock(unsigned n) {
  unsigned char *block = malloc(getBytes(n) + 4);
  memcpy(block, &n, 4);
  memset(block + 4, (int)n & 255, getBytes(n));
  return block;
}

static void freeBlock(void *start) {
  unsigned char *block = start;
  unsigned n;
  memcpy(&n, block, 4);
  // The first byte is right, and each is like the next one: by memcmp, since a
  // loop over the bytes takes most of the test's time.
  const unsigned char *bytes = block + 4;
  check(bytes[0] == (n & 255) && !memcmp(bytes, bytes + 1, getBytes(n) - 1),
        "contents of a block of another thread", n);
  free(block);
}

enum { rings = 4, places = 128, passes = 60000 };
static _Atomic(void *) ring[rings][places];
static atomic_int stages;

/// Takes blocks out of one ring and puts them into the next; the first thread
/// makes them, the last one frees them.
static void *passOn(void *unused) {
  (void)unused;
  int stage = atomic_fetch_add(&stages, 1);
  for (unsigned n = 0; n < passes; ++n) {
    void *block = NULL;
    if (stage == 0)
      block = newBlock(n);
    else
      while (!(block = atomic_exchange(&ring[stage - 1][n % places], NULL)))
        sched_yield();
    if (stage == rings) {
      freeBlock(block);
      continue;
    }
    // In between some are resized, by a thread that has not made them.
    if (stage == 2 && n % 3 == 0)
      block = realloc(block, getBytes(n) + 4 + n % 50);
    void *empty = NULL;
    while (!atomic_compare_exchange_weak(&ring[stage][n % places], &empty,
                                         block)) {
      empty = NULL;
      sched_yield();
    }
  }
  return NULL;
}

static void run(pthread_t *threads, int number, void *(*function)(void *)) {
  for (int i = 0; i < number; ++i)
    check(!pthread_create(&threads[i], NULL, function, (void *)(long)i),
          "pthread_create", i);
  for (int i = 0; i < number; ++i)
    pthread_join(threads[i], NULL);
}

static void usePassing(void) {
  pthread_t threads[rings + 1];
  run(threads, rings + 1, passOn);
}

enum { exitThreads = 8, left = 500 };
static void *kept[exitThreads][left];

static void freeOnUnwind(void *block) { freeBlock(block); }

/// Ends in one of four ways, with blocks that are still in use.
static void *endSomehow(void *argument) {
  long number = (long)argument;
  for (unsigned i = 0; i < left; ++i) {
    freeBlock(newBlock(i));
    kept[number][i] = newBlock(i);
  }
  void *mine = newBlock(7);
  pthread_cleanup_push(freeOnUnwind, mine);
  if (number % 4 == 1)
    pthread_exit(NULL);
  if (number % 4 == 2)
    for (pthread_cancel(pthread_self());; usleep(1000))
      ;
  pthread_cleanup_pop(1);
  return NULL;
}

static void *freeKept(void *argument) {
  for (int i = 0; i < left; ++i)
    freeBlock(kept[((long)argument + 3) % exitThreads][i]);
  return NULL;
}

static void useExits(void) {
  pthread_t threads[exitThreads];
  for (int round = 0; round < 15; ++round) {
    run(threads, exitThreads, endSomehow);
    run(threads, exitThreads, freeKept);
  }
}

enum { keys = 6, tours = 4 };
static pthread_key_t key[keys];
static void *remains[64];
static atomic_int remainsNumber, destroyed;

/// Frees what the thread had, makes something new, and comes back a few times.
static void destroy(void *value) {
  unsigned n;
  memcpy(&n, value, 4);
  freeBlock(value);
  atomic_fetch_add(&destroyed, 1);
  for (unsigned i = 0; i < 5; ++i)
    freeBlock(newBlock(n + i));
  if (n / 1000 + 1 < tours)
    pthread_setspecific(key[n % 1000], newBlock(n + 1000));
  else
    remains[atomic_fetch_add(&remainsNumber, 1) % 64] = newBlock(n);
}

static void *haveSpecifics(void *unused) {
  for (unsigned i = 0; i < keys; ++i)
    pthread_setspecific(key[i], newBlock(i));
  return unused;
}

static void useDestructors(void) {
  // Keys before and after those that the allocator may have made meanwhile.
  for (int i = 0; i < keys; ++i) {
    pthread_key_create(&key[i], destroy);
    free(malloc(100));
  }
  pthread_t threads[10];
  for (int round = 0; round < 100; ++round) {
    atomic_store(&remainsNumber, 0);
    run(threads, 10, haveSpecifics);
    check(atomic_load(&remainsNumber) == 60, "destructors that have run",
          atomic_load(&remainsNumber));
    // After the last destructor, by a thread that keeps running.
    for (int i = 0; i < 60; ++i)
      freeBlock(remains[i]);
  }
  check(atomic_load(&destroyed) == 100 * 10 * keys * tours, "all destructors",
        atomic_load(&destroyed));
}

enum { lives = 20, livesAtOnce = 5 };
static pthread_barrier_t allAlive;

static void *shortLife(void *argument) {
  enum { each = 30 };
  long number = (long)argument;
  void *blocks[each];
  for (unsigned i = 0; i < each; ++i)
    blocks[i] = newBlock(i * 7 + (unsigned)number);
  for (unsigned i = 0; i < each - 1; ++i)
    freeBlock(blocks[i]);
  kept[number % exitThreads][number / exitThreads] = blocks[each - 1];
  return NULL;
}

/// All of these threads live at once, and each needs what any of them needs:
/// how many there are later, and what falls to which, is the scheduler's
/// choice.
static void *liveWithAll(void *argument) {
  long number = (long)argument;
  for (long other = 0; other < lives; ++other) {
    shortLife((void *)number);
    freeBlock(kept[number % exitThreads][number / exitThreads]);
    number = (number + 1) % lives;
    pthread_barrier_wait(&allAlive);
  }
  return shortLife(argument);
}

static void useMany(void) {
  pthread_t threads[lives];
  long early = 0;
  pthread_barrier_init(&allAlive, NULL, lives);
  for (int round = 0; round < 500; ++round) {
    run(threads, lives, round < livesAtOnce ? liveWithAll : shortLife);
    for (long i = 0; i < lives; ++i)
      freeBlock(kept[i % exitThreads][i / exitThreads]);
    if (round == 50)
      early = presentKib();
  }
  long late = presentKib();
  // A large page or two more. One piece lost by each thread is 500 MiB.
  check(late - early <= 4096, "memory has grown by KiB", late - early);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*function)(void);
  } uses[] = {{"passing", usePassing},
              {"exits", useExits},
              {"destructors", useDestructors},
              {"many", useMany}};
  for (int i = 1; i < argc; ++i)
    for (int j = 0; j < 4; ++j)
      if (!strcmp(argv[i], uses[j].name))
        uses[j].function();
  puts("right");
  return 0;
}
