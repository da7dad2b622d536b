/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions called by code that MpgPasses.so compiled. Frozen: objects compiled
 * today link with every later libmpg. The calls are weak, so a program also
 * runs without libmpg.
 */
#ifndef MPG_PASS_H
#define MPG_PASS_H

#include <stddef.h>
#include <stdint.h>

#ifndef MPG_API
#define MPG_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Places [p, p + bytes) on the NUMA nodes of the threads that will work on it,
 * by the schedule of the loop that follows:
 *   sched 0 (block): thread t of n gets the t-th of n equal blocks of
 *                    iterations (OpenMP schedule(static)); `chunk` is ignored
 *   sched 1 (chunk): chunks of `chunk` iterations go round the threads
 *                    (OpenMP schedule(static, chunk))
 * step is bytes per iteration; threads 0 means the OpenMP runtime's default.
 * A page belongs to the thread that works on the byte in its middle; a page at
 * an end of the array with less than half of it in the array is skipped.
 *
 * Each thread pages its part in. With MPG_FIRST_TOUCH=mbind nothing is paged
 * in: the kernel is asked to take each part from its node, if that has room.
 * MPG_FIRST_TOUCH=off: the call does nothing.
 *
 * Contents are unchanged: pages that are present stay untouched, others read as
 * zero before and after. Nothing is done when
 *   - bytes is less than 4 MiB
 *   - step or chunk is 0, sched is unknown, or threads is absurd
 *   - a part of it is not mapped, may not be written, or is a file on disk that
 *     would be written to (MAP_SHARED)
 *   - the caller is in a parallel region
 * A program without OpenMP has no team: the calling thread visits the CPUs
 * where OMP_PLACES, OMP_PROC_BIND and OMP_NUM_THREADS would put one, or all
 * CPUs that it may use, and returns. Any alignment. Thread-safe, except for the
 * environment, which it reads like getenv. Never fails, raises no signal, keeps
 * errno. */
MPG_API void mpg_first_touch(void *p, uint64_t bytes, uint32_t sched,
                             uint64_t step, uint64_t chunk, uint32_t threads);

/* Ways of the sector cache for a region of the program, on A64FX. l1[s] is the
 * maximum of ways for sector s in the L1 data cache (4 in all), l2[s] the same
 * in the L2 cache (14 in all where an assistant core exists). In L2, tag
 * sectors 0 and 2 are its sector 0, and 1 and 3 its sector 1. MPG_WAYS_KEEP:
 * unchanged.
 *   - a number above those counts as those
 *   - sector 0 gets what the others leave, if the sum is larger; with
 *     MPG_WAYS_ALL it may fill all, too
 *   - 0 ways does not bypass the cache: with 0 for sector 0, or for all others,
 *     the cache is not divided */
#define MPG_WAYS_KEEP 255
#define MPG_WAYS_ALL 254
struct mpg_ways {
  uint8_t l1[4];
  uint8_t l2[2];
};

/* Begins a region. Returns a token (0 or more, the number of regions around
 * it), or a negative errno, with nothing changed:
 *   -ENODEV     the processor is not an A64FX
 *   -EACCES     its sector registers are closed to programs
 *   -ECANCELED  FLIB_SCCR_CNTL=FALSE
 *   -EXDEV      the thread is not bound: to one CPU for L1, to one core memory
 *               group for L2
 *   -EBUSY      L2: other processes run on the group; requested ways of L1 are
 *               set all the same, unless FLIB_L1_SCCR_CNTL=FALSE
 *   -EINVAL     sectors other than 0 ask for more ways than there are
 *   -EOVERFLOW  more than 16 nested regions
 * If only one of the two caches can be divided, the region begins with that
 * one. mpg_machine_error() (<mpg/mpg.h>) returns what is missing; the first
 * time, a line on standard error reports it as well.
 *
 * The first thread, outside of a parallel region of a program with OpenMP, sets
 * the ways for its whole team; every other thread for itself. The ways of L2
 * belong to the whole group: if several of its threads are in regions, the
 * region that began last decides, and the earlier setting returns when all have
 * ended. pre: the thread stays where it is bound until the end. Keeps errno. */
MPG_API int mpg_sector_begin(const struct mpg_ways *ways);

/* Ends the region of `token` in the thread that began it, and every region
 * begun inside of it, and restores the ways. Does nothing for a negative token
 * or one that has ended. Keeps errno. */
MPG_API void mpg_sector_end(int token);

/* A part of the program zeroes lines ahead of its stores, by DC ZVA with blocks
 * of minBlockBytes to 256 bytes, a power of two. Elsewhere it does not, and a
 * line on standard error says so, the first time. Keeps errno. */
MPG_API void mpg_check_zero_fill(uint32_t minBlockBytes);

/* Copies n bytes from s to d by plain loads and stores. On AArch64 the tag
 * bytes sTag and dTag replace the top byte of their addresses. Elsewhere, or
 * where the system does not act on tags, it is memcpy. Returns d without its
 * top byte on AArch64, d elsewhere. pre: the two do not overlap. Any alignment,
 * n may be 0. */
MPG_API void *mpg_copy_tagged(void *d, const void *s, size_t n, uint8_t dTag,
                              uint8_t sTag);

#ifdef __cplusplus
}
#endif

#endif /* MPG_PASS_H */
