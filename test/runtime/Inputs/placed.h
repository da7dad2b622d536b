/* Which thread paged in which part, and its node: for programs without any code
 * about first touch. placed-look.c is compiled without MpgPasses.so and shares
 * no code with libmpg. Call all of it outside of parallel regions. */
#ifndef PLACED_H
#define PLACED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Counts the page faults of each of `threads` threads (0: the default) from
 * here to placed_end, for a program that will allocate heapBytes. That prints
 *   faults: 120 120 121, even
 * and uneven instead of even if they differ by more than 5 % and 8 pages. */
void placed_begin(int threads, long heapBytes);
void placed_end(void);

/* Prints the placement of an array that a loop of `iterations` works on, `step`
 * bytes in each, divided among that team as schedule(static, chunk), chunk 0:
 * as schedule(static):
 *   NAME: 2048 KiB pages, nodes 25 25 25 25 %, local 99.9 %, inner pages 100.0
 * % nodes: the share of its bytes on each NUMA node, in whole percents; local:
 * the share that is on the node of the thread that works on it; inner pages:
 * the same for pages that hold only one thread's part. */
void placed_where(const char *name, const void *array, long iterations,
                  long step, long chunk);

/* Prints a number that depends on every bit of the array. */
void placed_result(const void *array, long bytes);

#ifdef __cplusplus
}
#endif

#endif
