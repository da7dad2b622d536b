/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * mpg-status N COMMAND...: runs COMMAND and succeeds if it ends with status N.
 * lit's `not` distinguishes only zero from the rest, but users' scripts
 * distinguish status 1 (something was found) from 2 (the job could not be
 * done). Both outputs of the command pass through, so that a test can pipe them
 * into FileCheck. A command that dies by a signal never has the expected
 * status, which is why this is not a shell script. Nor is it Python: tests call
 * it hundreds of times.
 */

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv) {
  char *rest = NULL;
  long expected = argc < 3 ? -1 : strtol(argv[1], &rest, 10);
  if (expected < 0 || *rest) {
    fprintf(stderr, "usage: mpg-status N COMMAND...\n");
    return 2;
  }
  pid_t child;
  int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
  if (error) {
    fprintf(stderr, "mpg-status: cannot start %s: %s\n", argv[2],
            strerror(error));
    return 1;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    perror("mpg-status: waitpid");
    return 1;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == expected)
    return 0;
  fprintf(stderr, "mpg-status: %s %d, not %ld:",
          WIFEXITED(status) ? "ended with status" : "died by signal",
          WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), expected);
  for (int i = 2; i < argc; ++i)
    fprintf(stderr, " %s", argv[i]);
  fputc('\n', stderr);
  return 1;
}
