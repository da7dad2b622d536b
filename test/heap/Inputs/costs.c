// costs THREADS BYTES TURNS BATCH: each thread, TURNS times, takes BATCH blocks
// of BYTES, touches both ends of each, and frees them all. BYTES may be
// LEAST-MOST.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static size_t min, max;
static int turns, batch;

static void *work(void *seed) {
  unsigned random = 1 + (unsigned)(size_t)seed;
  char **blocks = calloc(batch, sizeof *blocks);
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < batch; ++i) {
      random = random * 1664525 + 1013904223;
      size_t bytes = min + (random >> 8) % (max - min + 1);
      if (!(blocks[i] = malloc(bytes)))
        abort();
      blocks[i][0] = blocks[i][bytes - 1] = 1;
    }
    for (int i = 0; i < batch; ++i)
      free(blocks[i]);
  }
  free(blocks);
  return 0;
}

int main(int argc, char **argv) {
  (void)argc;
  pthread_t threads[64];
  int count = atoi(argv[1]);
  if (sscanf(argv[2], "%zu-%zu", &min, &max) < 2)
    max = min;
  turns = atoi(argv[3]);
  batch = atoi(argv[4]);
  for (size_t i = 0; i < (size_t)count; ++i)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], 0);
  return 0;
}
