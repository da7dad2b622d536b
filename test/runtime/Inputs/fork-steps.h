/* The steps of a program that forks, whatever its memory. The including file
 * has written to all of it, and defines the three functions declared below.
 *
 * Independent of libmpg: all of this has to work the same on any pages, with
 * any malloc. SIGALRM ends children that hang, and is reported like any signal.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { secondsBeforeHang = 120 };

/* Looks at all of the memory, then writes \p mine to it, and looks again. */
static void childWrites(uint64_t mine);
/* Writes \p mine to all of it, and remembers that. */
static void parentWrites(uint64_t mine);
/* Ends the program if something has not the value that was written last. */
static void checkNow(const char *who);

static void wrong(const char *what) {
  char line[200];
  int length = snprintf(line, sizeof line, "wrong: %s\n", what);
  if (write(1, line, length) != length)
    abort();
  _exit(1);
}

static void expectEnd(pid_t child, const char *who) {
  int status;
  if (waitpid(child, &status, 0) != child)
    wrong("waitpid");
  if (WIFSIGNALED(status)) {
    char line[100];
    snprintf(line, sizeof line, "%s ended by signal %d", who, WTERMSIG(status));
    wrong(line);
  }
  if (WEXITSTATUS(status))
    _exit(1); /* it has said what */
}

static pid_t forkOrFail(void) {
  errno = 77;
  pid_t child = fork();
  if (child < 0)
    wrong("fork");
  if (child && errno != 77)
    wrong("errno after fork");
  if (child == 0)
    alarm(secondsBeforeHang);
  return child;
}

static void once(uint64_t mine) {
  pid_t child = forkOrFail();
  if (child == 0) {
    childWrites(mine + 1000);
    exit(0); /* not _exit: libraries free their blocks, too */
  }
  parentWrites(mine);
  checkNow("the parent does not see what it wrote");
  expectEnd(child, "the child");
  checkNow("the parent sees what the child wrote");
}

/* A line of /proc/self/status, in KiB. */
static long statusKib(const char *name) {
  static char text[8192];
  int file = open("/proc/self/status", O_RDONLY);
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  char *line = strstr(text, name);
  return line ? atol(line + strlen(name)) : 0;
}

static long mappings(void) {
  static char text[4096];
  long lines = 0;
  int file = open("/proc/self/maps", O_RDONLY);
  for (ssize_t length; (length = read(file, text, sizeof text)) > 0;)
    for (ssize_t i = 0; i < length; ++i)
      lines += text[i] == '\n';
  close(file);
  return lines;
}

/* Leaks of 150 KiB for each fork are found. */
static void many(void) {
  once(99); /* whatever is changed for good is changed now */
  once(100);
  long mappingsBefore = mappings(), normalBefore = statusKib("\nVmRSS:");
  for (int i = 1; i <= 7; ++i)
    once(100 + i);
  if (mappings() > mappingsBefore + 2)
    wrong("forks leave mappings behind");
  if (statusKib("\nVmRSS:") > normalBefore + 1024)
    wrong("forks leave memory behind");
}

static void together(void) {
  enum { children = 8 };
  pid_t child[children];
  int go[2];
  char byte;
  if (pipe(go))
    wrong("pipe");
  for (int i = 0; i < children; ++i) {
    child[i] = forkOrFail();
    if (child[i])
      continue;
    close(go[1]);
    if (read(go[0], &byte, 1))
      wrong("read");
    childWrites(2000 + i);
    _exit(0);
  }
  close(go[1]);
  parentWrites(200);
  for (int i = 0; i < children; ++i)
    expectEnd(child[i], "one of many children");
  close(go[0]);
  checkNow("the parent of many children");
}

static void nested(void) {
  pid_t child = forkOrFail();
  if (child == 0) {
    pid_t grandchild = forkOrFail();
    if (grandchild == 0) {
      childWrites(3001);
      _exit(0);
    }
    parentWrites(3000);
    expectEnd(grandchild, "the child's child");
    checkNow("the child after its own child");
    once(3002);
    _exit(0);
  }
  parentWrites(300);
  expectEnd(child, "the child that forks");
  checkNow("the parent of a child that forks");
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void printTimes(const char *what, uint64_t *times, size_t count) {
  qsort(times, count, sizeof *times, compare);
  printf("%s: min %llu median %llu ns\n", what, (unsigned long long)times[0],
         (unsigned long long)times[count / 2]);
}

static void hold(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  while (read(0, &byte, 1) == 1)
    ;
}
