/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * countPairs HOW BYTES THREADS PAIRS: each thread takes and frees PAIRS blocks.
 * `come`: one after the other. `hold`: 100 are held, the oldest is replaced.
 * `pass`: threads hand blocks to the next one, which frees them: 100 at a time, 10
 * of those from 64 KiB on.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { held = 100, maxThreads = 64 };

static size_t bytes;
static long pairs;
static int threads;
static const char *how;
static pthread_barrier_t meeting;
static void *handed[maxThreads][held];

static void *take(void) {
  char *block = malloc(bytes);
  if (!block)
    exit(3);
  *(volatile char *)block = 1;
  return block;
}

static void come(void) {
  for (long i = 0; i < pairs; ++i)
    free(take());
}

static void hold(void) {
  void *slots[held] = {NULL};
  for (long i = 0; i < pairs; ++i) {
    free(slots[i % held]);
    slots[i % held] = take();
  }
  for (int i = 0; i < held; ++i)
    free(slots[i]);
}

static void pass(int number) {
  int count = bytes >= 65536 ? 10 : held;
  for (long i = 0; i < pairs; i += count) {
    for (int k = 0; k < count; ++k)
      handed[number][k] = take();
    pthread_barrier_wait(&meeting);
    for (int k = 0; k < count; ++k)
      free(handed[(number + 1) % threads][k]);
    pthread_barrier_wait(&meeting);
  }
}

static void *work(void *argument) {
  pthread_barrier_wait(&meeting);
  if (strcmp(how, "come") == 0)
    come();
  else if (strcmp(how, "hold") == 0)
    hold();
  else
    pass((int)(size_t)argument);
  pthread_barrier_wait(&meeting);
  return NULL;
}

int main(int count, char **words) {
  if (count != 5 || atoi(words[3]) < 1 || atoi(words[3]) > maxThreads)
    return 2;
  how = words[1];
  bytes = strtoul(words[2], NULL, 0);
  threads = atoi(words[3]);
  pairs = atol(words[4]);
  pthread_barrier_init(&meeting, NULL, (unsigned)threads);
  pthread_t others[maxThreads];
  pthread_attr_t shortStack; // valgrind has little more than 1 GiB of addresses
  pthread_attr_init(&shortStack);
  pthread_attr_setstacksize(&shortStack, 128 << 10);
  for (long i = 1; i < threads; ++i)
    if (pthread_create(&others[i], &shortStack, work, (void *)i))
      return 3;
  work(NULL);
  for (int i = 1; i < threads; ++i)
    pthread_join(others[i], NULL);
  return 0;
}
