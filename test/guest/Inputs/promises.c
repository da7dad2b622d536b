/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * promises PROGRAM ARGUMENT...: for each argument, finds the smallest kernel
 * commit limit (vm.overcommit_memory=2) with which the program succeeds, and
 * runs it with libmpg in three modes and 5 %, at least 12 MiB, more. Prints a
 * line for each; "same" is expected. Only for a guest: it changes the machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void set(const char *file, long value) {
  char text[32];
  int fd = open(file, O_WRONLY);
  if (fd < 0 || write(fd, text, sprintf(text, "%ld", value)) < 0)
    perror(file), exit(2);
  close(fd);
}

static long promisedKib(void) {
  char text[8192] = "";
  int fd = open("/proc/meminfo", O_RDONLY);
  if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
    exit(2);
  close(fd);
  return atol(strstr(text, "Committed_AS:") + 13);
}

/* Whether it does its work with so much more promised than now. */
static int works(char *program, char *argument, long kib, char **environment) {
  char *words[] = {program, argument, 0};
  int status;
  set("/proc/sys/vm/overcommit_kbytes", promisedKib() + kib);
  set("/proc/sys/vm/overcommit_memory", 2);
  pid_t child = vfork();
  if (!child) {
    execve(program, words, environment);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    status = -1;
  set("/proc/sys/vm/overcommit_memory", 0);
  return status == 0;
}

int main(int count, char **arguments) {
  static char *modes[] = {"MPG_MODE=hugetlb", "MPG_MODE=auto", "MPG_MODE=thp"};
  char *program = arguments[1];
  for (int i = 2; i < count; ++i) {
    char *none[] = {"LD_LIBRARY_PATH=/lib", 0};
    long low = 0, high = 400 << 10;
    while (high - low > 256) {
      long middle = (low + high) / 2;
      works(program, arguments[i], middle, none) ? (high = middle)
                                                 : (low = middle);
    }
    long more = high / 20 > 12 << 10 ? high / 20 : 12 << 10;
    for (int mode = 0; mode < 3; ++mode) {
      char *with[] = {"LD_LIBRARY_PATH=/lib", "LD_PRELOAD=/lib/libmpgrt.so.1",
                      modes[mode], 0};
      int isSame = works(program, arguments[i], high + more, with);
      printf("%s %s: least %ld KiB: %s\n", arguments[i], modes[mode], high,
             isSame ? "same" : "differs");
      fflush(stdout);
    }
  }
}
