// own-maps calls: mmap and related calls on memory of 4 MiB and more; prints
// nothing that depends on addresses, so the output has to be the same with
// libmpg. own-maps pages: which of these mappings begin at a multiple of 2 MiB
// and get transparent huge pages when they are written to. own-maps many: more
// mappings than a process may have unless the kernel merges some.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
enum { plain = MAP_PRIVATE | MAP_ANONYMOUS, rw = PROT_READ | PROT_WRITE };
static const size_t odd = 5 * MIB + 4096;

static char *map(void *at, size_t bytes, int protection, int flags) {
  errno = 0;
  return mmap(at, bytes, protection, flags, -1, 0);
}

static void say(const char *what, int good) {
  printf("%s: %s, errno %d\n", what, good ? "yes" : "no", errno);
}

// Whether every page of the range is mapped (1), none is (0), or some are (-1).
static int mapped(char *at, size_t bytes) {
  unsigned char there;
  int count = 0, saved = errno;
  for (size_t i = 0; i < bytes; i += 4096)
    count += mincore(at + i, 4096, &there) == 0;
  errno = saved;
  return count == 0 ? 0 : (size_t)count == bytes / 4096 ? 1 : -1;
}

static int isZero(char *at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 512)
    if (at[i])
      return 0;
  return 1;
}

static void lengths(void) {
  const size_t sizes[] = {4 * MIB - 1, 4 * MIB, odd, odd + 1, 64 * MIB};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    size_t pages = (sizes[i] + 4095) & ~(size_t)4095;
    char *area = map(0, sizes[i], rw, plain);
    say("mapped", area != MAP_FAILED && mapped(area, pages) == 1);
    say("zero", isZero(area, sizes[i]));
    memset(area, 1, sizes[i]);
    say("whole page", area[pages - 1] == 0 || sizes[i] == pages);
    say("unmapped", munmap(area, sizes[i]) == 0 && !mapped(area, pages));
  }
  say("no bytes", map(0, 0, rw, plain) == MAP_FAILED);
  say("too many bytes", map(0, SIZE_MAX, rw, plain) == MAP_FAILED);
  say("wrong flags", map(0, odd, rw, MAP_ANONYMOUS) == MAP_FAILED);
}

static void addresses(void) {
  char *free = map(0, 64 * MIB, PROT_NONE, plain);
  munmap(free, 64 * MIB);
  char *wish = free + 8 * MIB + 4096;
  char *area = map(wish, odd, rw, plain);
  say("wish", area == wish);
  say("taken wish", map(wish, odd, rw, plain) != wish);
  say("taken", map(wish, odd, rw, plain | 0x100000) == MAP_FAILED);
  say("fixed", map(wish, odd, rw, plain | MAP_FIXED) == wish);
  say("grows down", map(0, odd, rw, plain | MAP_GROWSDOWN) != MAP_FAILED);
  say("present", mapped(map(0, odd, rw, plain | MAP_POPULATE), odd) == 1);
  area = map(0, 2 * odd, rw, plain);
  memset(area, 7, 2 * odd);
  say("part unmapped", munmap(area + 4096, odd) == 0 && area[0] == 7 &&
                           !mapped(area + 4096, odd) && area[odd + 4096] == 7);
}

static void faulted(int number) {
  (void)number;
  write(1, "faults\n", 7);
  _exit(0);
}

// Memory emptied by a new mapping merges with the rest again.
static void joined(void) {
  char *area = map(0, 16 * MIB, rw, plain);
  memset(area, 3, 16 * MIB);
  say("emptied",
      map(area + 3 * MIB, MIB, rw, plain | MAP_FIXED) == area + 3 * MIB &&
          isZero(area + 3 * MIB, MIB));
  char *moved = mremap(area, 16 * MIB, 40 * MIB, MREMAP_MAYMOVE);
  say("grown", moved != MAP_FAILED && moved[2 * MIB] == 3 &&
                   isZero(moved + 3 * MIB, MIB) && moved[15 * MIB] == 3);
  say("emptied again",
      map(moved + 3 * MIB, MIB, rw, plain | MAP_FIXED) == moved + 3 * MIB);
  say("shrunk", mremap(moved, 40 * MIB, odd, 0) == moved);
  char *reserved = map(0, 64 * MIB, PROT_NONE, plain | MAP_NORESERVE);
  for (int i = 0; i < 8; ++i)
    map(reserved + i * MIB, MIB, rw, plain | MAP_NORESERVE | MAP_FIXED);
  say("made in parts",
      mremap(reserved, 8 * MIB, 128 * MIB, MREMAP_MAYMOVE) != MAP_FAILED);
  say("rights", mprotect(reserved + 20 * MIB, MIB, rw) == 0);
  reserved[20 * MIB] = 1;
  fflush(stdout);
  signal(SIGSEGV, faulted);
  reserved[32 * MIB] = 1;
}

static void limited(void) {
  // Under a limit, libmpg returns unused memory of its heap.
  struct rlimit limit = {(rlim_t)1 << 40, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  char text[64] = "";
  int file = open("/proc/self/statm", O_RDONLY);
  if (read(file, text, sizeof text - 1) <= 0)
    exit(2);
  close(file);
  limit.rlim_cur = strtoul(text, 0, 10) * 4096 + 12 * odd + odd / 2;
  setrlimit(RLIMIT_AS, &limit);
  int count = 0;
  while (map(0, odd, rw, plain) != MAP_FAILED)
    ++count;
  say("12 under a limit", count >= 12 && errno == ENOMEM);
  limit.rlim_cur = RLIM_INFINITY;
  setrlimit(RLIMIT_AS, &limit);
}

static void many(void) {
  enum { number = 70000 };
  int count = 0;
  while (count < number &&
         map(0, 4 * MIB + 4096, PROT_NONE, plain) != MAP_FAILED)
    ++count;
  char *area = map(0, odd, rw, plain);
  printf("%d mappings, one more %s\n", count,
         area == MAP_FAILED ? "fails" : "comes");
}

static long hugeKib(char *area) {
  char line[256];
  unsigned long start, end;
  long kib = -1;
  int inside = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      inside = start <= (uintptr_t)area && (uintptr_t)area < end;
    else if (inside)
      sscanf(line, "AnonHugePages: %ld", &kib);
  }
  fclose(file);
  return kib;
}

static void look(const char *name, char *area, size_t bytes) {
  memset(area, 1, bytes);
  printf("%s: %s, %s\n", name,
         (uintptr_t)area % (2 * MIB) ? "elsewhere" : "on a border",
         hugeKib(area) > 0 ? "huge" : "not huge");
}

static void pages(void) {
  look("large", map(0, odd, rw, plain), odd);
  look("executable", map(0, odd, rw | PROT_EXEC, plain), odd);
  look("not reserved", map(0, odd, rw, plain | MAP_NORESERVE), odd);
  char *reserved = map(0, 8 * odd, PROT_NONE, plain | MAP_NORESERVE);
  mprotect(reserved, odd, rw);
  look("reserved before", reserved, odd);
  char *at = map(reserved + 12 * MIB, 2 * MIB, rw, plain | MAP_FIXED);
  map(at + 2 * MIB, 2 * MIB, rw, plain | MAP_FIXED);
  look("in parts", at, 4 * MIB);
  look("small", map(0, 3 * MIB - 4096, rw, plain), 3 * MIB - 4096);
  look("a stack", map(0, odd, rw, plain | MAP_STACK), odd);
  look("present at once", map(0, odd, rw, plain | MAP_POPULATE), odd);
  look("shared", map(0, odd, rw, MAP_SHARED | MAP_ANONYMOUS), odd);
  char *area = map(0, odd, rw, plain);
  madvise(area, odd, MADV_NOHUGEPAGE);
  look("not wanted", area, odd);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "pages") == 0)
    pages();
  if (strcmp(what, "many") == 0)
    many();
  if (strcmp(what, "calls") != 0)
    return 0;
  lengths();
  addresses();
  limited();
  joined();
  return 1;
}
