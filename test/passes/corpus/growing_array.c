// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays that grow by realloc while pointers into them are made again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Buffer {
  char *data;
  size_t used, room;
};

static void append(struct Buffer *buffer, const char *data, size_t n) {
  if (buffer->used + n > buffer->room) {
    buffer->room = 2 * buffer->room + n;
    buffer->data = realloc(buffer->data, buffer->room);
  }
  char *to = buffer->data + buffer->used;
  for (size_t i = 0; i < n; ++i)
    to[i] = data[i];
  buffer->used += n;
}

static int *primes(int limit, int *count) {
  int *found = NULL, room = 0;
  *count = 0;
  for (int n = 2; n < limit; ++n) {
    int isPrime = 1;
    for (int i = 0; i < *count && found[i] * found[i] <= n; ++i)
      if (n % found[i] == 0) {
        isPrime = 0;
        break;
      }
    if (!isPrime)
      continue;
    if (*count == room)
      found = realloc(found, (room += 1 + room / 2) * sizeof(int));
    found[(*count)++] = n;
  }
  return found;
}

int main(void) {
  struct Buffer buffer = {NULL, 0, 0};
  char word[32];
  for (int i = 0; i < 3000; ++i)
    append(&buffer, word, snprintf(word, sizeof(word), "%d;", i * i));
  // A buffer appended to itself: the source moves.
  char *half = malloc(buffer.used / 2);
  memcpy(half, buffer.data, buffer.used / 2);
  append(&buffer, half, buffer.used / 2);
  unsigned mix = 7;
  for (size_t i = 0; i < buffer.used; ++i)
    mix = mix * 31 + (unsigned char)buffer.data[i];
  int count, *found = primes(20000, &count);
  long sum = 0;
  for (int i = 0; i < count; ++i)
    sum += found[i];
  printf("%zu %u %d %ld\n", buffer.used, mix, count, sum);
  free(half);
  free(buffer.data);
  free(found);
  return count == 2262 ? 0 : 1;
}
