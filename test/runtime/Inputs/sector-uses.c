/* Asks for ways of the sector cache and for prefetch, on a machine that has
 * neither, and checks that nothing else of the program changes. Prints the
 * error and the library's reason, then `right` or what is wrong.
 *
 *   sector-uses error    one thread
 *   sector-uses threads  many threads at once
 *   sector-uses quiet    asks for nothing
 *   sector-uses kill     raises SIGILL itself afterwards, without a handler */

#include <errno.h>
#include <mpg/mpg.h>
#include <mpg/pass.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const char *what) {
  printf("wrong: %s (errno %d)\n", what, errno);
  exit(1);
}

static const struct mpg_ways divided = {{3, 1, MPG_WAYS_KEEP, MPG_WAYS_KEEP},
                                        {4, 10}};
static const struct mpg_ways kept = {{255, 255, 255, 255}, {255, 255}};

/* The same error each time, and no region begins. */
static int beginFails(void) {
  errno = 77;
  int error = mpg_sector_begin(&divided);
  if (error >= 0 || errno != 77)
    wrong("mpg_sector_begin");
  if (mpg_sector_begin(&kept) != error || mpg_sector_begin(&divided) != error)
    wrong("another error the second time");
  mpg_sector_end(error);
  mpg_sector_end(0);
  mpg_sector_end(1000);
  return error;
}

static int prefetch(int entry, uint32_t flags, int32_t stride, int32_t l1,
                    int32_t l2) {
  struct mpg_prefetch asked = {flags, stride, l1, l2};
  return mpg_prefetch_set(entry, &asked);
}

/* Errors of the request itself are reported on every machine. */
static void prefetchFails(void) {
  int closed = prefetch(0, MPG_PREFETCH_ALLOCATE, 512, 1024, 10240);
  if (closed != -ENODEV && closed != -EACCES)
    wrong("mpg_prefetch_set");
  if (mpg_prefetch_set(7, NULL) != closed ||
      mpg_prefetch_set(MPG_PREFETCH_STREAM, NULL) != closed ||
      prefetch(MPG_PREFETCH_STREAM, MPG_PREFETCH_OFF_L2, 0,
               MPG_PREFETCH_LINES(15), MPG_PREFETCH_LINES(60)) != closed ||
      prefetch(7, MPG_PREFETCH_STORE, -4, -(1 << 24), (1 << 24) - 4) != closed)
    wrong("a request that is right");
  if (prefetch(8, 0, 0, 0, 0) != -EINVAL || prefetch(-2, 0, 0, 0, 0) != -EINVAL)
    wrong("an entry that is not there");
  if (strcmp(mpg_machine_error(), "no such prefetch entry") != 0)
    wrong("mpg_machine_error");
  if (prefetch(0, MPG_PREFETCH_OFF_L1, 0, 0, 0) != -EINVAL ||
      prefetch(MPG_PREFETCH_STREAM, MPG_PREFETCH_ALLOCATE, 0, 0, 0) != -EINVAL)
    wrong("a flag that is not there");
  if (prefetch(0, 0, 2, 0, 0) != -ERANGE ||
      prefetch(0, 0, 0, 1 << 24, 0) != -ERANGE ||
      prefetch(MPG_PREFETCH_STREAM, 0, 0, 100, 0) != -ERANGE ||
      prefetch(MPG_PREFETCH_STREAM, 0, 0, 0, MPG_PREFETCH_LINES(64)) !=
          -ERANGE ||
      prefetch(MPG_PREFETCH_STREAM, 0, 4, 0, 0) != -ERANGE)
    wrong("a number that is too large");
}

static void *inThread(void *result) {
  int error = beginFails();
  if (!mpg_machine_error()[0])
    wrong("mpg_machine_error in a thread");
  *(int *)result = error;
  return NULL;
}

static void inThreads(void) {
  enum { count = 16 };
  pthread_t threads[count];
  int errors[count];
  for (int i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, inThread, &errors[i]))
      wrong("pthread_create");
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < count; ++i)
    if (errors[i] != errors[0])
      wrong("threads do not agree");
}

static void onIllegal(int signal) {
  (void)signal;
  printf("the program's own handler\n");
  exit(0);
}

int main(int argc, char **argv) {
  const char *use = argc > 1 ? argv[1] : "error";
  struct sigaction mine = {.sa_handler = onIllegal}, now;
  sigset_t illegal;
  sigemptyset(&illegal);
  sigaddset(&illegal, SIGILL);
  if (strcmp(use, "quiet") == 0) {
    printf("right\n");
    return mpg_machine_error()[0] != 0;
  }
  if (strcmp(use, "threads") == 0) {
    inThreads();
    printf("right\n");
    return 0;
  }
  if (strcmp(use, "kill") != 0)
    sigaction(SIGILL, &mine, NULL);
  sigprocmask(SIG_BLOCK, &illegal, NULL);
  int error = beginFails();
  printf("%s: %s\n", strerror(-error), mpg_machine_error());
  prefetchFails();
  sigaction(SIGILL, NULL, &now);
  if (strcmp(use, "kill") != 0 && now.sa_handler != onIllegal)
    wrong("the handler of the program is gone");
  sigset_t blocked;
  sigprocmask(SIG_UNBLOCK, &illegal, &blocked);
  if (!sigismember(&blocked, SIGILL))
    wrong("the mask of the program has changed");
  printf("right\n");
  fflush(stdout);
  raise(SIGILL);
  return 1;
}
