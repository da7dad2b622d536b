/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * smaps_at_exit FILE COMMAND...: runs COMMAND and, where its process ends,
 * while its memory is still there, copies /proc/PID/smaps to FILE. Knows nothing
 * of libmpg; a static program can be looked at, too. %p in FILE is the pid. The
 * exit status is the command's.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void copySmaps(pid_t pid, const char *pattern) {
  char from[64], to[4096], buffer[1 << 16];
  const char *mark = strstr(pattern, "%p");
  snprintf(from, sizeof from, "/proc/%d/smaps", (int)pid);
  if (mark)
    snprintf(to, sizeof to, "%.*s%d%s", (int)(mark - pattern), pattern,
             (int)pid, mark + 2);
  else
    snprintf(to, sizeof to, "%s", pattern);
  FILE *in = fopen(from, "r"), *out = fopen(to, "w");
  if (!in || !out) {
    perror("smaps_at_exit");
    exit(125);
  }
  for (size_t length; (length = fread(buffer, 1, sizeof buffer, in)) > 0;)
    fwrite(buffer, 1, length, out);
  fclose(in);
  fclose(out);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 125;
  pid_t pid = fork();
  if (pid == 0) {
    raise(SIGSTOP); /* until the parent traces */
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, WUNTRACED);
  if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT)) {
    perror("smaps_at_exit");
    return 125;
  }
  kill(pid, SIGCONT);
  while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
    int event = status >> 16, number = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXIT)
      copySmaps(pid, argv[1]);
    ptrace(PTRACE_CONT, pid, 0, event ? 0 : number);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
