/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A block of BYTES comes and goes; then the program frees it in a wrong way:
 * `twice`, after `another` thread, after another thread that got it `back` and
 * freed it, `inside` of it, or after a write `past` its end or in `front` of it.
 * `mixed`: as `front`, after blocks of other sizes have come and gone. `mended`: as
 * `front`, but the program goes on, and the block comes and goes once more.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes;

static void *give(void *block) {
  free(block);
  return NULL;
}

static void *exchange(void *block) {
  free(block);
  free(malloc(bytes));
  return NULL;
}

static void mixSizes(void) {
  for (size_t i = 0; i < 50; i++) {
    void *one = malloc(bytes), *other = malloc(bytes + i % 5 * 40);
    free(one);
    free(other);
  }
}

static void inThread(void *(*function)(void *), void *block) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, block) == 0)
    pthread_join(thread, NULL);
}

int main(int count, char **words) {
  if (count != 3)
    return 2;
  const char *how = words[1];
  bytes = strtoul(words[2], NULL, 0);
  for (int i = 0; i < 3; i++) {
    char *volatile block = malloc(bytes);
    *block = 1;
    free(block);
  }
  if (strcmp(how, "mixed") == 0)
    mixSizes();
  else if (strcmp(how, "mended") == 0)
    mallopt(M_CHECK_ACTION, 1);
  char *volatile block = malloc(bytes);
  fprintf(stderr, "block %p\n", (void *)block);
  if (strcmp(how, "twice") == 0)
    free(block);
  else if (strcmp(how, "another") == 0)
    inThread(give, block);
  else if (strcmp(how, "back") == 0)
    inThread(exchange, block);
  else if (strcmp(how, "inside") == 0)
    block += 256;
  else if (strcmp(how, "past") == 0)
    memset(block + bytes, 'x', 16);
  else if (strcmp(how, "right") != 0)
    block[-1] = 'x';
  free(block);
  if (strcmp(how, "mended") == 0)
    free(malloc(bytes));
  fprintf(stderr, "goes on\n");
  return 0;
}
