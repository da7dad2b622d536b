/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs one command in a control group and writes what it cost:
 *
 *     launchOne GROUP REPORT COMMAND...      GROUP: file cgroup.procs, or "-"
 *
 * REPORT gets "wall ms, processor ms, largest resident KiB, wait status".
 * Linked statically and small: the kernel counts the parent's size in the
 * child's largest one until exec, so a large parent hides what a small child
 * needs; and an LD_PRELOAD meant for the command does not touch it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double nowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double milliseconds(struct timeval time) {
  return (double)time.tv_sec * 1e3 + (double)time.tv_usec * 1e-3;
}

static int enterGroup(const char *path) {
  if (!strcmp(path, "-"))
    return 0;
  int file = open(path, O_WRONLY | O_CLOEXEC);
  return file < 0 || write(file, "0", 1) != 1 || close(file);
}

int main(int count, char **words) {
  if (count < 4 || enterGroup(words[1]))
    return 125;
  double start = nowMs();
  pid_t child = vfork();
  if (child == 0) {
    execv(words[3], words + 3);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child)
    return 125;
  double wallMs = nowMs() - start;
  FILE *report = fopen(words[2], "w");
  if (!report)
    return 125;
  fprintf(report, "%.3f %.3f %ld %d\n", wallMs,
          milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
          usage.ru_maxrss, status);
  return fclose(report) ? 125 : 0;
}
