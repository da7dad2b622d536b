/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Replaces libmpg's mpg_first_touch in the long runs: records every call, and
 * fills the whole range with zeros, which the real one does only to untouched
 * pages. So a call that comes too late, or reaches too far, changes the
 * program's output.
 *
 * The calls go to the file that TOUCH_WITNESS names, one line each:
 * bytes, sched, step, chunk, threads.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mpg_first_touch(void *p, uint64_t bytes, uint32_t sched, uint64_t step,
                     uint64_t chunk, uint32_t threads) {
  const char *path = getenv("TOUCH_WITNESS");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  if (file >= 0) {
    dprintf(file, "%llu %u %llu %llu %u\n", (unsigned long long)bytes, sched,
            (unsigned long long)step, (unsigned long long)chunk, threads);
    close(file);
  }
  /* The real one leaves small ranges alone as well. */
  if (p && bytes >= (4u << 20))
    memset(p, 0, bytes);
}
