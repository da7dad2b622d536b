// Starts a program with its arguments and waits for it.
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argc;
  if (fork() == 0) {
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  wait(&status);
  return WEXITSTATUS(status);
}
