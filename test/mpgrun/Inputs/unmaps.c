/* Writes to four mappings of 25 MiB, 20 MiB of each, and gives them back; "advise":
 * on transparent huge pages. Beside them a thread that does not end. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { count = 4, bytes = 25 << 20, used = 20 << 20 };

static void *stay(void *unused) {
  for (;;)
    pause();
  return unused;
}

int main(int argc, char **argv) {
  (void)argv;
  char *part[count];
  pthread_t thread;
  if (pthread_create(&thread, NULL, stay, NULL))
    return 1;
  for (int i = 0; i < count; ++i) {
    part[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part[i] == MAP_FAILED)
      return 1;
    madvise(part[i], bytes, argc > 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(part[i], 1, used);
  }
  for (int i = 0; i < count; ++i)
    munmap(part[i], bytes);
  return 0;
}
