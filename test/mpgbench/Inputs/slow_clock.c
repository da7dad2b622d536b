/* Preloaded: for the process that starts others, 50 seconds go by with each. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long started;

int posix_spawn(pid_t *pid, const char *path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[],
                char *const variables[]) {
  ++started;
  return ((__typeof__(&posix_spawn))dlsym(RTLD_NEXT, "posix_spawn"))(
      pid, path, actions, attributes, words, variables);
}

int clock_gettime(clockid_t id, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, id, time);
  time->tv_sec += 50 * started;
  return result;
}
