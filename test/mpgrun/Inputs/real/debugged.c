/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * debugged [crash|wait]: a program for a debugger, a tracer or valgrind. Its
 * variables are on large pages when `inner` is called; a second thread waits in
 * `waitForEnd` meanwhile.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int filled[1 << 20] = {1, 2, 3};
static char cleared[16 << 20];
static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
static sem_t started;

__attribute__((noinline)) static int inner(const char *what, int depth) {
  int here[1000];
  for (int i = 0; i < 1000; i++)
    here[i] = depth + i;
  if (depth > 0)
    return inner(what, depth - 1) + here[depth];
  if (strcmp(what, "crash") == 0)
    *(volatile int *)8 = here[1];
  while (strcmp(what, "wait") == 0)
    pause();
  return here[7];
}

__attribute__((noinline)) static void *waitForEnd(void *argument) {
  volatile int ofThread[1000];
  for (int i = 0; i < 1000; i++)
    ofThread[i] = i + *(int *)argument;
  sem_post(&started);
  pthread_mutex_lock(&end);
  pthread_mutex_unlock(&end);
  *(int *)argument = ofThread[999];
  return NULL;
}

int main(int argc, char **argv) {
  int argument = 42;
  pthread_t thread;
  filled[(1 << 20) - 1] = 77;
  memset(cleared, 5, sizeof cleared);
  sem_init(&started, 0, 0);
  pthread_mutex_lock(&end);
  pthread_create(&thread, NULL, waitForEnd, &argument);
  sem_wait(&started);
  if (argc > 1 && strcmp(argv[1], "wait") == 0)
    puts("waiting");
  fflush(stdout);
  int result = inner(argc > 1 ? argv[1] : "", 3);
  pthread_mutex_unlock(&end);
  pthread_join(thread, NULL);
  printf("result %d %d %d\n", result, argument, cleared[9 << 20]);
  return 3;
}
