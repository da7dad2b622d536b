/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Public C interface of libmpg. Everything else the library does happens by
 * itself, before main. All functions are thread-safe.
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

/* Version of the library, "major.minor.patch"; a constant string. Also tells
 * this library from Fujitsu's of the same link name. */
MPG_API const char *mpg_version(void);

/* Does nothing. `-u mpg_start` makes a static link take the library in. */
MPG_API void mpg_start(void);

/* What is between these two in a program that was compiled with --mpg-sim is
 * recorded by `mpgsim --sample`, in all threads: from the first begin to the
 * end of the last one, however they are nested. Elsewhere they do nothing. */
MPG_API void mpg_sim_begin(void);
MPG_API void mpg_sim_end(void);

/* `bytes` of zeroed memory on NUMA node `node`, on large pages if there are
 * any (and MPG_MODE lets them be used); aligned to 2 MiB, and present. NULL
 * with errno EINVAL (no such node, bytes 0), ENOMEM (that node has no room for
 * it), or EPERM (the system forbids to choose among nodes). Free with
 * mpg_free_pages and the same size. */
MPG_API void *mpg_alloc_onnode(size_t bytes, int node);

/* The same, pages dealt out to all nodes that the process may use, in turn. A
 * node that is full is passed over. */
MPG_API void *mpg_interleave(size_t bytes);

/* Gives back memory of the two functions above. NULL does nothing. */
MPG_API void mpg_free_pages(void *p, size_t bytes);

/* `bytes` of memory for a block of malloc, on large pages of NUMA node `node`;
 * aligned to 16 bytes, not zeroed, freed with free() by any thread. Blocks of
 * one node share large pages; 4 KiB are the least that one takes. NULL with
 * errno EINVAL (no such node), ENOMEM (no room on it), or ENOSYS (malloc is not
 * this library's in this process). */
MPG_API void *mpg_malloc_onnode(size_t bytes, int node);

/* How the heap (malloc of this library) lies and how full it is, in bytes where
 * nothing else is said. */
struct mpg_heap_stats {
  uint64_t structBytes;  /* in: sizeof this struct; out: what is filled of it */
  uint64_t arenas;       /* made so far; a number */
  uint64_t threadCaches; /* most threads that had one at a time; a number */
  uint64_t mappedBytes;  /* memory for blocks = huge + thp + normal */
  uint64_t hugeBytes;    /* of the pool of large pages, present or reserved */
  uint64_t thpBytes;     /* where the kernel was asked for large pages */
  uint64_t normalBytes;
  uint64_t peakMappedBytes; /* most at a time so far */
  uint64_t peakHugeBytes;
  /* Blocks that the program has, as malloc_usable_size gives them; small blocks
   * freed by another thread than the one that allocated them count until that
   * one allocates again. With MALLOC_CHECK_ set: and what is checked. */
  uint64_t usedBytes;
  uint64_t freeBytes;     /* what blocks can be made of without more memory */
  uint64_t metadataBytes; /* tables beside it; most of it is never touched */
  uint64_t largeBlocks;   /* with pages of their own; a number */
  uint64_t reservedBytes; /* of addresses, with or without memory */
};

/* Fills *out, which the caller owns. Returns 0, or -ENODEV (malloc is not this
 * library's in this process), or -EINVAL (out is NULL, structBytes not set).
 * Reads all tables, with the heap locked: milliseconds for each GiB of small
 * blocks. What other threads do meanwhile is seen or not. Not for signal
 * handlers. */
MPG_API int mpg_heap_stats(struct mpg_heap_stats *out);

/* Looks at all blocks and at what is free between them, and returns how many
 * are damaged: 0 if none, or if malloc is not this library's. Each is told in a
 * line on standard error as MALLOC_CHECK_ asks, but never ends the process, and
 * nothing is mended. Writes past the end of any block are seen if MALLOC_CHECK_
 * is set; writes into freed small blocks in those of the calling thread and of
 * threads that have ended. Other threads may allocate and free meanwhile; those
 * that need more memory wait. If there are others, what is found is looked at
 * again for a second: a block may just be coming or going. Not for signal
 * handlers. */
MPG_API int mpg_heap_check(void);

/* Where [p, p + bytes) lies: out[n] becomes the number of its bytes on node n,
 * for n < nodes. Bytes that are not present are counted nowhere, nor are those
 * that were only read so far and share the kernel's page of zeros, nor those
 * that the kernel moves, or its NUMA balancing watches, at the moment. Returns
 * the bytes that are present, or (size_t)-1 with errno EFAULT (a part of it is
 * not mapped), EPERM or ENOSYS (the system does not tell). */
MPG_API size_t mpg_where(const void *p, size_t bytes, size_t *out, int nodes);

/* The same for people: a table on standard error, one line for each node that
 * the process may use, with bytes, percent, and the size of the pages
 * (transparent large pages count as those of the base size), and one for what
 * is not present. `name` stands in front; NULL: none. Keeps errno; allocates
 * nothing: also for signal handlers with 16 KiB of stack. */
MPG_API void mpg_print_where(const void *p, size_t bytes, const char *name);

/* What mpg_move takes beside the number of a node. */
#define MPG_NODE_HERE (-1)  /* the one that the calling thread is on */
#define MPG_NEXT_TOUCH (-2) /* where it is touched next, by the kernel */

/* What became of the bytes that mpg_move was asked to move: each is counted in
 * one of the first five. */
struct mpg_moved {
  uint64_t movedBytes;  /* have come to the node */
  uint64_t thereBytes;  /* lay on it before */
  uint64_t leftBytes;   /* lie elsewhere still, see reason */
  uint64_t laterBytes;  /* MPG_NEXT_TOUCH: where they are touched, from now */
  uint64_t absentBytes; /* not present, or not told to be, as in mpg_where */
  int32_t node;         /* its number; -1 with MPG_NEXT_TOUCH */
  /* Why bytes were left, the last reason that the kernel gave; 0 if none were.
   * EBUSY: under DMA or otherwise in use; ENOMEM: no room on the node; EACCES:
   * another process has them, too; ENOTSUP: of the pool of large pages, which
   * the kernel does not move by touch. */
  int32_t reason;
};

/* Moves the pages of [p, p + bytes) to NUMA node `node`, contents and addresses
 * stay. Large pages move as a whole, those of the pool and transparent ones,
 * also if only a part of one is in the range; a transparent one for which the
 * node has no large page is split by the kernel. The kernel moves: it leaves
 * pages under DMA where they are, and nothing is ever copied by hand. Other
 * threads may use the memory meanwhile; those that touch a page on its way
 * wait.
 *
 * Let each thread move its own part to MPG_NODE_HERE: that is parallel, and
 * works with all pages. MPG_NEXT_TOUCH only takes away what would keep the
 * kernel's NUMA balancing from the range; it moves pages in the next seconds,
 * those that threads of other nodes touch again and again. Not for signal
 * handlers: it can take long.
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

/* How many moves may be started and not waited for. */
#define MPG_MOST_MOVES 64

/* mpg_move in a thread of the library while the caller goes on; MPG_NODE_HERE
 * is the caller's node at the time of the call. Returns a handle, which is
 * positive, for one mpg_move_wait, or with nothing started a negative errno:
 *   -EINVAL  no such node
 *   -EAGAIN  MPG_MOST_MOVES others are not waited for
 * The thread has all signals blocked, a small stack, and the CPUs
 * of the caller: one that is bound to a CPU shares it. If no thread can be
 * made, all is moved when the call returns. The memory stays the caller's: it
 * may be used, and even unmapped, but what is mapped at its place meanwhile may
 * be moved, too. Not for signal handlers. */
MPG_API int64_t mpg_move_start(void *p, size_t bytes, int node);

/* Waits until the move has ended, in any thread, and gives back what it holds.
 * Fills *out unless it is NULL, and returns what mpg_move would have, or
 *   -EINVAL  no such handle: waited for before, or never given
 *   -ESRCH   this is a child that was forked before the move had ended, which
 *            goes on in the parent only; some of its pages may have moved
 * On these *out is zero. Not for signal handlers; not a cancellation point. */
MPG_API int mpg_move_wait(int64_t handle, struct mpg_moved *out);

/* Data that threads of all NUMA nodes read, or write parts of, once for each
 * node that this process has CPUs on. */
struct mpg_replica;

/* Copies [p, p + bytes) to each of those nodes, on large pages as
 * mpg_alloc_onnode gives them. The copies are for reading: a node that has all
 * of p on large pages already uses p itself, and one that has no room uses the
 * nearest copy, or p if there is none; a line on standard error says so. So p
 * stays as it is until mpg_replica_free.
 *
 * p NULL: a zeroed buffer on each node, to write to. Nodes without room share
 * the nearest one, so threads of different nodes should not count on different
 * buffers: let each thread write the part that it would write of one array.
 *
 * The OpenMP team copies if there is one, else the caller does. The process
 * has CPUs on a node if one of its threads may run there at that time: call it
 * when the threads are there and bound. Not for signal handlers. NULL with
 * errno EINVAL (bytes 0) or ENOMEM (not even a page for the table; with p NULL
 * no node has room). */
MPG_API struct mpg_replica *mpg_replicate(const void *p, size_t bytes);

/* The copy, or the buffer, for the node that the calling thread is on at the
 * moment. Aligned to 2 MiB unless it is p itself. Any thread, signal handlers
 * too; no lock and, where the C library knows the CPU from the kernel (x86-64;
 * elsewhere glibc 2.35), no system call. Ask for it in each parallel region,
 * not in each iteration. pre: threads are bound, else it may be another node's
 * a moment later: correct, but not local. */
MPG_API void *mpg_local_copy(const struct mpg_replica *replica);

/* What mpg_local_copy gives threads on `node`, to put the buffers of all nodes
 * together; several nodes may share one. NULL: there is no such node. */
MPG_API void *mpg_node_copy(const struct mpg_replica *replica, int node);

/* Gives all copies and buffers back. NULL does nothing. pre: no thread uses
 * them any more. */
MPG_API void mpg_replica_free(struct mpg_replica *replica);

/* What the last mpg_sector_begin (<mpg/pass.h>) or mpg_prefetch_set of the
 * calling thread that failed was missing: the processor, access to registers,
 * a driver, a command, a bound thread. A constant string, empty if none failed.
 * Not seen from a program: whether the tags are switched off (`fhetbo`). */
MPG_API const char *mpg_machine_error(void);

/* Hardware prefetch of A64FX, for the CPU of the calling thread.
 *
 * Entries 0 to 7 are what a tag with MPG_INJECT(entry) asks for. With
 * MPG_PREFETCH_ALLOCATE a load that misses is taken for the first of a row with
 * a stride of `strideBytes`, else each load prefetches for itself.
 * MPG_PREFETCH_STREAM is what holds without such tags. */
#define MPG_PREFETCH_STREAM (-1)
#define MPG_PREFETCH_LINES(n) ((n) * 256) /* cache lines as bytes */

#define MPG_PREFETCH_ALLOCATE 1u /* entries */
#define MPG_PREFETCH_STORE 2u    /* entries: as for stores, else for loads */
#define MPG_PREFETCH_WEAK_L1 4u  /* may be dropped when the machine is busy */
#define MPG_PREFETCH_WEAK_L2 8u
#define MPG_PREFETCH_WEAK_SOFT 16u /* entries: prefetch instructions */
#define MPG_PREFETCH_OFF_L1 32u    /* stream: no prefetch into this level */
#define MPG_PREFETCH_OFF_L2 64u

/* In bytes. Entries: multiples of 4 from -16 MiB to 16 MiB - 4, distance 0:
 * none into that level. Stream: stride 0; l1 in lines, l2 in 4 lines, 15 of
 * them at most, 0: the machine's own distance. */
struct mpg_prefetch {
  uint32_t flags;
  int32_t strideBytes;
  int32_t l1DistanceBytes;
  int32_t l2DistanceBytes;
};

/* Sets an entry, or the stream prefetch; with NULL as at the start: accesses
 * with that entry's tag get no hardware prefetch, the stream prefetch is the
 * machine's own. Returns 0 or, with nothing changed, a negative errno:
 *   -EINVAL  no such entry, or a flag that it does not have
 *   -ERANGE  a number that its register cannot hold
 *   -ENODEV  the processor is not an A64FX
 *   -EACCES  its prefetch registers are closed to programs
 *   -EXDEV   the thread is not bound to one CPU
 * Stays until it is set again; it is not put back. */
MPG_API int mpg_prefetch_set(int entry, const struct mpg_prefetch *p);

/* A barrier for a fixed number of threads: the hardware's where there is one
 * (A64FX, Fujitsu's driver, threads bound to different CPUs of one core memory
 * group), else one in memory that spins and then sleeps. Which one it is turns
 * out in the first wait. */
struct mpg_barrier;

/* Makes *barrier for `threads` threads. Returns 0, or -EINVAL (0 threads, or
 * more than 65536) or -ENOMEM. */
MPG_API int mpg_barrier_init(struct mpg_barrier **barrier, unsigned threads);

/* Returns when all threads are here; what they wrote before is then visible to
 * all. `thread` is the caller's number, 0 to threads - 1, the same in every
 * wait. pre: a thread that was bound to a CPU in the first wait stays there.
 * Returns 0, or -EINVAL for a number that is too large. */
MPG_API int mpg_barrier_wait(struct mpg_barrier *barrier, unsigned thread);

/* "hardware", or "software: " and why; before the first wait "undecided" where
 * there is a driver. A constant string. */
MPG_API const char *mpg_barrier_kind(const struct mpg_barrier *barrier);

/* pre: all threads have returned from their last wait. NULL does nothing. A
 * forked child frees memory only: the hardware's barrier stays its parent's. */
MPG_API void mpg_barrier_destroy(struct mpg_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif /* MPG_H */
