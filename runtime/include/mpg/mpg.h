/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Public C interface of libmpg. Everything else the library does happens
 * automatically, before main. All functions are thread-safe.
 */
#ifndef MPG_H
#define MPG_H

#include <stddef.h>
#include <stdint.h>

#ifndef MPG_API
#define MPG_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library, "major.minor.patch"; a constant string. Its presence
 * distinguishes this library from Fujitsu's, which has the same link name. */
MPG_API const char *mpg_version(void);

/* Does nothing. `-u mpg_start` makes a static link include the library. */
MPG_API void mpg_start(void);

/* In a program compiled with --mpg-sim, `mpgsim --sample` records the accesses
 * of all threads from the first begin to the last end, whatever the nesting.
 * Elsewhere these do nothing. */
MPG_API void mpg_sim_begin(void);
MPG_API void mpg_sim_end(void);

/* Allocates `bytes` of zeroed memory on NUMA node `node`, on large pages if
 * there are any (and MPG_MODE allows them); aligned to 2 MiB, and present.
 * Returns NULL with errno EINVAL (no such node, bytes 0), ENOMEM (that node has
 * no room), or EPERM (the system forbids choosing among nodes). The caller owns
 * it; free with mpg_free_pages and the same size. */
MPG_API void *mpg_alloc_onnode(size_t bytes, int node);

/* As mpg_alloc_onnode, with pages dealt out in turn to all nodes that the
 * process may use. Skips full nodes. */
MPG_API void *mpg_interleave(size_t bytes);

/* Frees memory of the two functions above. NULL does nothing. */
MPG_API void mpg_free_pages(void *p, size_t bytes);

/* Allocates a block of `bytes` on large pages of NUMA node `node`; aligned to
 * 16 bytes, not zeroed. The caller owns it; any thread frees it with free().
 * Blocks of one node share large pages; one takes at least 4 KiB. Returns NULL
 * with errno EINVAL (no such node), ENOMEM (no room on it), or ENOSYS (malloc
 * in this process is not this library's). */
MPG_API void *mpg_malloc_onnode(size_t bytes, int node);

/* Layout and use of the heap (malloc of this library). Members are bytes unless
 * their comment says otherwise. */
struct mpg_heap_stats {
  uint64_t structBytes;  /* in: sizeof this struct; out: bytes filled in */
  uint64_t arenas;       /* a count: made so far */
  uint64_t threadCaches; /* a count: maximum of threads with one at a time */
  uint64_t mappedBytes;  /* memory for blocks = huge + thp + normal */
  uint64_t hugeBytes;    /* of the pool of large pages, present or reserved */
  uint64_t thpBytes;     /* asked the kernel for large pages */
  uint64_t normalBytes;
  uint64_t peakMappedBytes; /* maximum so far */
  uint64_t peakHugeBytes;
  /* The program's blocks, as malloc_usable_size reports them. Small blocks
   * freed by another thread than the allocating one count until that one
   * allocates again. With MALLOC_CHECK_ set, includes the checked bytes around
   * them. */
  uint64_t usedBytes;
  uint64_t freeBytes;     /* available for blocks without more memory */
  uint64_t metadataBytes; /* tables beside it; most of it is never touched */
  uint64_t largeBlocks;   /* a count: blocks that share no pages with others */
  uint64_t reservedBytes; /* of addresses, with or without memory */
};

/* Fills *out, which the caller owns. Returns 0, -ENODEV (malloc in this process
 * is not this library's), or -EINVAL (out is NULL, or structBytes is not set).
 * Reads all tables with the heap locked: milliseconds for each GiB of small
 * blocks. Changes that other threads make meanwhile may or may not be counted.
 * Thread-safe; not for signal handlers. */
MPG_API int mpg_heap_stats(struct mpg_heap_stats *out);

/* Checks all blocks and the free memory between them, and returns the number of
 * damaged ones: 0 if there are none, or if malloc is not this library's. Prints
 * a line on standard error for each, as MALLOC_CHECK_ asks, but never ends the
 * process and repairs nothing. Finds writes past the end of any block if
 * MALLOC_CHECK_ is set; finds writes into freed small blocks of the calling
 * thread and of threads that have ended. Thread-safe: other threads may
 * allocate and free meanwhile, and wait if they need more memory. With other
 * threads, rechecks each finding for a second, because a block may just be
 * coming or going. Not for signal handlers. */
MPG_API int mpg_heap_check(void);

/* NUMA placement of [p, p + bytes): out[n] becomes the number of its bytes on
 * node n, for n < nodes. Not counted: bytes that are not present, pages that
 * were only read so far and share the kernel's page of zeros, and pages that
 * the kernel is moving or its NUMA balancing is watching. Returns the number of
 * bytes present, or (size_t)-1 with errno EFAULT (a part is not mapped), EPERM
 * or ENOSYS (the system does not provide it). Thread-safe. */
MPG_API size_t mpg_where(const void *p, size_t bytes, size_t *out, int nodes);

/* The same as a table on standard error: one line for each node that the
 * process may use, with bytes, percent, and page size (transparent large pages
 * count as base pages), and one line for memory that is not present. `name` is
 * printed first unless it is NULL. Keeps errno and allocates nothing: safe in
 * signal handlers with 16 KiB of stack. */
MPG_API void mpg_print_where(const void *p, size_t bytes, const char *name);

/* Values of `node` in mpg_move beside the number of a node. */
#define MPG_NODE_HERE (-1)  /* the calling thread's node */
#define MPG_NEXT_TOUCH (-2) /* the kernel moves it at the next touch */

/* The result of mpg_move: each byte is counted in one of the first five
 * members. */
struct mpg_moved {
  uint64_t movedBytes;  /* moved to the node */
  uint64_t thereBytes;  /* were on it before */
  uint64_t leftBytes;   /* are still elsewhere, see reason */
  uint64_t laterBytes;  /* MPG_NEXT_TOUCH: move when they are next touched */
  uint64_t absentBytes; /* not present, or not counted, as in mpg_where */
  int32_t node;         /* its number; -1 with MPG_NEXT_TOUCH */
  /* Why bytes were left: the last reason that the kernel gave, 0 if none were
   * left. EBUSY: under DMA or otherwise in use; ENOMEM: no room on the node;
   * EACCES: another process maps them, too; ENOTSUP: pages of the pool, which
   * the kernel does not move by touch. */
  int32_t reason;
};

/* Moves the pages of [p, p + bytes) to NUMA node `node`; contents and addresses
 * stay. Large pages, of the pool or transparent, move as a whole even if only a
 * part is in the range; the kernel splits a transparent one if the node has no
 * large page for it. The kernel does the move: it leaves pages under DMA in
 * place, and the library copies nothing itself. Thread-safe: other threads may
 * use the memory meanwhile; one that touches a page during its move waits.
 *
 * Let each thread move its own part to MPG_NODE_HERE: that is parallel, and
 * works with all pages. MPG_NEXT_TOUCH only enables the kernel's NUMA balancing
 * for the range; the kernel then moves, over the next seconds, pages that
 * threads of other nodes touch repeatedly. Not for signal handlers: it can take
 * long.
 *
 * Fills *out unless it is NULL. Returns 0, also if pages were left, or with
 * nothing moved a negative errno:
 *   -EINVAL   no such node
 *   -EFAULT   a part of the range is not mapped; or it was unmapped meanwhile,
 *             then other parts may have moved
 *   -ENOTSUP  MPG_NEXT_TOUCH, and the kernel's balancing is off
 *             (kernel.numa_balancing) while there is more than one node
 *   -EPERM, -ENOSYS  the system forbids it */
MPG_API int mpg_move(void *p, size_t bytes, int node, struct mpg_moved *out);

/* Maximum of moves that are started and not waited for. */
#define MPG_MOST_MOVES 64

/* Runs mpg_move in a thread of the library while the caller goes on;
 * MPG_NODE_HERE is the caller's node at the time of the call. Returns a
 * positive handle for one mpg_move_wait, or, with nothing started, a negative
 * errno:
 *   -EINVAL  no such node
 *   -EAGAIN  MPG_MOST_MOVES others are not waited for
 * The thread has all signals blocked, a small stack, and the CPUs of the
 * caller: a caller bound to one CPU shares it. If no thread can be created, the
 * call itself moves everything before it returns. The caller still owns the
 * memory: it may use it and even unmap it, but memory that is mapped at the
 * same addresses meanwhile may be moved, too. Not for signal handlers. */
MPG_API int64_t mpg_move_start(void *p, size_t bytes, int node);

/* Waits in any thread until the move has ended, and frees the handle. Fills
 * *out unless it is NULL, and returns the result of mpg_move, or
 *   -EINVAL  no such handle: already waited for, or never returned
 *   -ESRCH   this is a child that was forked before the move had ended, which
 *            goes on in the parent only; some of its pages may have moved
 * On these *out is zero. Not for signal handlers; not a cancellation point. */
MPG_API int mpg_move_wait(int64_t handle, struct mpg_moved *out);

/* Data that threads of all NUMA nodes read, or write parts of, once for each
 * node that this process has CPUs on. */
struct mpg_replica;

/* Copies [p, p + bytes) to each of the given nodes, on large pages as
 * mpg_alloc_onnode provides them. The copies are for reading. A node that
 * already has all of p on large pages uses p itself. A node without room uses
 * the nearest copy, or p if there is none, and a line on standard error reports
 * it. So keep p unchanged until mpg_replica_free.
 *
 * p NULL: a zeroed buffer on each node, to write to. Nodes without room share
 * the nearest one, so threads of different nodes should not count on different
 * buffers: let each thread write the part that it would write of one array.
 *
 * The OpenMP team copies if there is one, else the caller does. The process
 * has CPUs on a node if one of its threads may run there at that time: call it
 * when the threads exist and are bound. Not for signal handlers. Returns NULL
 * with errno EINVAL (bytes 0) or ENOMEM (not even a page for the table; with p
 * NULL no node has room). The caller owns the result; see mpg_replica_free. */
MPG_API struct mpg_replica *mpg_replicate(const void *p, size_t bytes);

/* The copy, or the buffer, for the calling thread's present node. Aligned to
 * 2 MiB unless it is p itself. Any thread, signal handlers too; no lock and,
 * where the C library reads the CPU from kernel memory (x86-64; elsewhere glibc
 * 2.35), no system call. Call it once in each parallel region, not in each
 * iteration. pre: threads are bound; otherwise the thread may be on another
 * node a moment later, which is correct but not local. */
MPG_API void *mpg_local_copy(const struct mpg_replica *replica);

/* The address that mpg_local_copy returns to threads on `node`, for joining the
 * buffers of all nodes; several nodes may share one. NULL: no such node. */
MPG_API void *mpg_node_copy(const struct mpg_replica *replica, int node);

/* Frees all copies and buffers. NULL does nothing. pre: no thread uses them any
 * more. */
MPG_API void mpg_replica_free(struct mpg_replica *replica);

/* Why the calling thread's last failed mpg_sector_begin (<mpg/pass.h>) or
 * mpg_prefetch_set failed: the processor, access to registers, a driver, a
 * command, or a thread that is not bound. A constant string, empty if none
 * failed. A program cannot detect that the site has switched tags off
 * (`fhetbo`). */
MPG_API const char *mpg_machine_error(void);

/* Hardware prefetch of A64FX, for the CPU of the calling thread.
 *
 * A tag with MPG_INJECT(entry) selects one of the entries 0 to 7. With
 * MPG_PREFETCH_ALLOCATE a load that misses starts a series with a stride of
 * `strideBytes`, else each load prefetches for itself. MPG_PREFETCH_STREAM is
 * the setting for accesses without such tags. */
#define MPG_PREFETCH_STREAM (-1)
#define MPG_PREFETCH_LINES(n) ((n) * 256) /* cache lines as bytes */

#define MPG_PREFETCH_ALLOCATE 1u /* entries */
#define MPG_PREFETCH_STORE 2u    /* entries: for stores, else for loads */
#define MPG_PREFETCH_WEAK_L1 4u  /* may be dropped when the machine is busy */
#define MPG_PREFETCH_WEAK_L2 8u
#define MPG_PREFETCH_WEAK_SOFT 16u /* entries: prefetch instructions */
#define MPG_PREFETCH_OFF_L1 32u    /* stream: no prefetch into this level */
#define MPG_PREFETCH_OFF_L2 64u

/* In bytes. Entries: multiples of 4 from -16 MiB to 16 MiB - 4; distance 0: no
 * prefetch into that level. Stream: stride 0; l1 a multiple of a line, l2 of 4
 * lines, at most 15 of them; 0: the machine's default distance. */
struct mpg_prefetch {
  uint32_t flags;
  int32_t strideBytes;
  int32_t l1DistanceBytes;
  int32_t l2DistanceBytes;
};

/* Sets an entry, or the stream prefetch. NULL restores the initial state:
 * accesses with that entry's tag get no hardware prefetch, and the stream
 * prefetch is the machine's default. Returns 0 or, with nothing changed, a
 * negative errno:
 *   -EINVAL  no such entry, or a flag that it does not have
 *   -ERANGE  a number that its register cannot hold
 *   -ENODEV  the processor is not an A64FX
 *   -EACCES  its prefetch registers are closed to programs
 *   -EXDEV   the thread is not bound to one CPU
 * Stays set until the next call; the end of a region does not restore it. */
MPG_API int mpg_prefetch_set(int entry, const struct mpg_prefetch *p);

/* A barrier for a fixed number of threads: the hardware's if available (A64FX,
 * Fujitsu's driver, threads bound to different CPUs of one core memory group),
 * else one in memory that spins and then sleeps. The first wait decides. */
struct mpg_barrier;

/* Creates *barrier for `threads` threads; the caller owns it, see
 * mpg_barrier_destroy. Returns 0, -EINVAL (0 threads, or more than 65536) or
 * -ENOMEM. */
MPG_API int mpg_barrier_init(struct mpg_barrier **barrier, unsigned threads);

/* Returns when all threads have arrived; their earlier writes are then visible
 * to all. `thread` is the caller's number, 0 to threads - 1, the same in every
 * wait. pre: a thread that was bound to a CPU in the first wait stays there.
 * Returns 0, or -EINVAL for a number that is too large. */
MPG_API int mpg_barrier_wait(struct mpg_barrier *barrier, unsigned thread);

/* "hardware", or "software: " and the reason; "undecided" before the first wait
 * if there is a driver. A constant string. */
MPG_API const char *mpg_barrier_kind(const struct mpg_barrier *barrier);

/* Frees the barrier. pre: all threads have returned from their last wait. NULL
 * does nothing. A forked child frees memory only: the hardware's barrier stays
 * its parent's. */
MPG_API void mpg_barrier_destroy(struct mpg_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif /* MPG_H */
