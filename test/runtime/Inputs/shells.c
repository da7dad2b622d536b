/* Makes children that become another program at once, and prints what each
 * gave; then, as its exit status, whether the memory on large pages of the pool
 * is as it was: 0, or 1 after a line for each kind that lost some. Knows
 * nothing of libmpg.
 *
 *   shells KIND...      system popen spawn vfork */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char bss[32 << 20];
static int interrupted;

static void onInterrupt(int number) { interrupted = number; }

static long poolKib(void) {
  char line[512];
  long sum = 0, value;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "Private_Hugetlb: %ld", &value) == 1)
      sum += value;
  fclose(file);
  return sum;
}

static void useSystem(void) {
  static const char *const commands[] = {
      "exit 3", "kill -9 $$", "no-such-command-at-all 2>/dev/null", "echo said",
      /* Ignored and blocked signals of the shell. */
      "grep -E 'SigBlk|SigIgn' /proc/self/status",
      /* The parent must not notice. */
      "kill -INT $PPID; kill -QUIT $PPID"};
  printf("shell %d\n", system(NULL));
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    fflush(stdout);
    printf("%s: %#x\n", commands[i], system(commands[i]));
  }
  struct sigaction now;
  sigaction(SIGINT, NULL, &now);
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  printf("handler %d blocked %d interrupted %d\n",
         now.sa_handler == onInterrupt, sigismember(&blocked, SIGCHLD),
         interrupted);
  signal(SIGCHLD, SIG_IGN);
  int status = system("exit 3");
  printf("nobody to wait for: %d %s\n", status, strerror(errno));
  signal(SIGCHLD, SIG_DFL);
}

static void usePopen(void) {
  char line[64] = "";
  FILE *pipe = popen("echo piped; exit 4", "r");
  int closes = fcntl(fileno(pipe), F_GETFD);
  fgets(line, sizeof line, pipe);
  printf("%s%#x, close on exec %d\n", line, pclose(pipe), closes);
  /* The second shell must not hold the first one's pipe. */
  fflush(stdout);
  FILE *first = popen("cat; echo first at its end", "w");
  FILE *second = popen("echo second has $(ls /proc/self/fd | wc -l)", "re");
  closes = fcntl(fileno(second), F_GETFD);
  fgets(line, sizeof line, second);
  fputs("to the first\n", first);
  printf("%#x\n", pclose(first));
  printf("%sclose on exec %d\n", line, closes);
  pclose(second);
  /* Closed as a file: waits, too. */
  fflush(stdout);
  pipe = popen("sleep 0.2; echo waited for; exit 7", "w");
  int (*volatile closeFile)(FILE *) = fclose; /* the compiler knows better */
  printf("%#x\n", closeFile(pipe));
  printf("%d %d %d\n", !popen("true", ""), !popen("true", "rw"),
         !popen("true", "rb"));
  printf("no command: %#x\n", pclose(popen("no-such 2>/dev/null", "r")));
  /* The pipe's ends get the numbers of standard input and output. */
  int in = dup(0), out = dup(1);
  fflush(stdout);
  close(0);
  close(1);
  pipe = popen("echo low", "r");
  fgets(line, sizeof line, pipe);
  int status = pclose(pipe);
  FILE *writes = popen("cat >&2", "w");
  int written = fputs("", writes), lowStatus = pclose(writes);
  dup2(in, 0);
  dup2(out, 1);
  printf("%s%#x %d %#x\n", line, status, written < 0, lowStatus);
}

static void await(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  printf("%#x\n", status);
}

static void useSpawn(void) {
  char *arguments[] = {"sh", "-c", "exit 5", NULL};
  pid_t child = -1;
  posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
  await(child);
}

static void useVfork(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 6", NULL);
    _exit(127);
  }
  await(child);
}

int main(int count, char **values) {
  static const struct {
    const char *name;
    void (*use)(void);
  } kinds[] = {{"system", useSystem},
               {"popen", usePopen},
               {"spawn", useSpawn},
               {"vfork", useVfork}};
  signal(SIGINT, onInterrupt);
  signal(SIGQUIT, onInterrupt);
  char *heap = malloc(32 << 20);
  memset(bss, 1, sizeof bss);
  memset(heap, 1, 32 << 20);
  int lost = 0;
  for (int i = 1; i < count; ++i)
    for (int k = 0; k < 4; ++k)
      if (strcmp(values[i], kinds[k].name) == 0) {
        long before = poolKib();
        kinds[k].use();
        long after = poolKib();
        if (after < before)
          printf("%s: %ld of %ld KiB left the pool\n", values[i],
                 before - after, before);
        lost |= after < before;
      }
  return lost;
}
