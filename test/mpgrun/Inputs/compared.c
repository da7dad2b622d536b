// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compared WHAT: behaves differently with libmpg preloaded, or from run to run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int isPreloaded(void) {
  return dlsym(RTLD_DEFAULT, "mpg_version") != NULL;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "fail") == 0 && isPreloaded()) {
    fprintf(stderr, "first words\nno room\nfor me here\nlast words\n");
    return 5;
  }
  if (strcmp(what, "crash") == 0 && isPreloaded())
    raise(SIGSEGV);
  const char *mode = getenv("MPG_MODE");
  if (strcmp(what, "thp") == 0 && mode && strcmp(mode, "thp") == 0)
    return 6;
  if (strcmp(what, "abort") == 0)
    raise(SIGABRT);
  if (strcmp(what, "mode") == 0)
    printf("mode is %s\n", mode ? mode : "not set");
  if (strcmp(what, "words") == 0 && isPreloaded())
    fprintf(stderr, "warning: preloaded\n");
  if (strcmp(what, "libmpg") == 0 && isPreloaded())
    fprintf(stderr, "mpg: a line of libmpg at %p\n", (void *)&argc);
  if (strcmp(what, "pid") == 0)
    printf("pid %d\n", (int)getpid());
  if (strcmp(what, "input") == 0) {
    int bytes = 0;
    while (getchar() != EOF)
      ++bytes;
    return bytes;
  }
  if (strcmp(what, "wait") == 0) {
    // Itself and a child, whose numbers the test wants to know.
    signal(SIGTERM, SIG_IGN);
    pid_t child = fork();
    if (child > 0) {
      FILE *file = fopen(argv[2], "w");
      fprintf(file, "%d %d\n", (int)getpid(), (int)child);
      fclose(file);
    }
    for (;;)
      pause();
  }
  return 0;
}
