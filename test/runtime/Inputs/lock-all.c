/* Locks its memory, works, and prints whether the memory it has written is
 * locked: lock-all current|future|thread; "thread" locks as "future" does, from
 * another one. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *lockAll(void *flags) {
  return (void *)(long)(mlockall((int)(long)flags) ? errno : 0);
}

static int lockInThread(int flags) {
  pthread_t thread;
  pthread_attr_t attributes;
  void *error;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  if (pthread_create(&thread, &attributes, lockAll, (void *)(long)flags))
    return EAGAIN;
  pthread_join(thread, &error);
  return (int)(long)error;
}

int main(int count, char **arguments) {
  const char *what = arguments[count - 1];
  int flags = strcmp(what, "current") ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT;
  int error = strcmp(what, "thread") ? (int)(long)lockAll((void *)(long)flags)
                                     : lockInThread(flags);
  if (error)
    return printf("mlockall: %s\n", strerror(error)), 1;
  for (int i = 0; i < 16; ++i) {
    char *block = malloc(100000);
    if (!block)
      return printf("no memory\n"), 1;
    memset(block, 1, 100000);
  }
  printf("locked, and %s\n", munlockall() ? strerror(errno) : "not any more");
  return 0;
}
