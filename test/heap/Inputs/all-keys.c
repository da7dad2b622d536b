// Takes all keys for threads that there are, and gives their number; then
// allocates and frees in many threads, with a destructor that does so as well.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 200, blocks = 2000 };

static pthread_key_t last;

static void *use(void *from) {
  char *block[blocks];
  for (int i = 0; i < blocks; ++i)
    memset(block[i] = malloc(16 + i), i, 16 + i);
  int wrong = from != NULL;
  for (int i = 0; i < blocks; ++i) {
    wrong += block[i][15 + i] != (char)i;
    free(block[i]);
  }
  pthread_setspecific(last, malloc(100));
  return wrong ? from : NULL;
}

int main(void) {
  int count = 0;
  while (pthread_key_create(&last, free) == 0)
    ++count;
  printf("%d keys\n", count);
  for (int i = 0; i < threads; i += 4) {
    pthread_t some[4];
    for (int k = 0; k < 4; ++k)
      if (pthread_create(&some[k], NULL, use, NULL))
        return 1;
    for (int k = 0; k < 4; ++k)
      pthread_join(some[k], NULL);
  }
  use(NULL);
  puts("done");
  return 0;
}
