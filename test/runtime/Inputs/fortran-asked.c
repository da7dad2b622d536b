/* Stands in the place of libmpg's mpg_first_touch and prints its arguments. */

#include <mpg/pass.h>
#include <stdio.h>

void mpg_first_touch(void *p, uint64_t bytes, uint32_t sched, uint64_t step,
                     uint64_t chunk, uint32_t threads) {
  (void)p;
  fprintf(stderr, "%llu bytes, sched %u, step %llu, chunk %llu, threads %u\n",
          (unsigned long long)bytes, sched, (unsigned long long)step,
          (unsigned long long)chunk, threads);
}
