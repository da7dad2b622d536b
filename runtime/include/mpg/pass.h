/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What code compiled with MpgPasses.so calls. Frozen: objects compiled today
 * link with every later libmpg. The calls are weak in such code, so a program
 * runs without libmpg as well.
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

/* Pages in [p, p + bytes) in parallel, each part by the thread that will work
 * on it, as the loop behind it shares its iterations out:
 *   sched 0 (block): thread t of n gets the t-th of n equal blocks of
 *                    iterations (OpenMP schedule(static)); `chunk` is ignored
 *   sched 1 (chunk): chunks of `chunk` iterations go round the threads
 *                    (OpenMP schedule(static, chunk))
 * step is bytes per iteration; threads 0 means the OpenMP runtime's default.
 * A page belongs to the thread that works on its first byte.
 *
 * Contents are unchanged: pages that are there already stay as they are, others
 * read as zero before and after. Nothing is done when
 *   - bytes, step or chunk is 0, sched is unknown, or threads is absurd
 *   - a part of it is not mapped, may not be written, or is a file on disk that
 *     would be written to (MAP_SHARED)
 *   - the caller is in a parallel region
 * A program without OpenMP has no team: the calling thread goes to the CPUs
 * that the parts would be worked on if all CPUs took part, and comes back.
 * Any alignment. Thread-safe. Never fails, raises no signal, keeps errno. */
MPG_API void mpg_first_touch(void *p, uint64_t bytes, uint32_t sched,
                             uint64_t step, uint64_t chunk, uint32_t threads);

#ifdef __cplusplus
}
#endif

#endif /* MPG_PASS_H */
