/* Four threads, each with a fourth of an array. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { size = 1 << 18, team = 4, rounds = 4 };
double a[size];

static void *work(void *number) {
  int part = (int)(intptr_t)number;
  for (int round = 0; round < rounds; ++round) {
    __asm__ volatile("" : : : "memory"); /* keep the rounds separate */
    for (int i = part * (size / team); i < (part + 1) * (size / team); ++i)
      a[i] += i;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[team];
  for (intptr_t part = 0; part < team; ++part)
    pthread_create(&threads[part], NULL, work, (void *)part);
  for (int part = 0; part < team; ++part)
    pthread_join(threads[part], NULL);
  printf("%g\n", a[size - 1]);
  return 0;
}
