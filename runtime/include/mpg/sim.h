/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How a program compiled with --mpg-sim reports its accesses to mpgsim: as
 * records in chunks of shared memory. Code that MpgPasses generates fills a
 * chunk, libmpgsim.a hands it over, mpgsim reads it. All three must have the
 * same version. For programs compiled without it, MpgQemu.so fills the chunks
 * in qemu.
 */

#ifndef MPG_SIM_H
#define MPG_SIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of records, of the module's text and of the ring. */
#define MPG_SIM_VERSION 8
/** In the environment: the path of the ring. */
#define MPG_SIM_VARIABLE "MPG_SIM_RING"

/** A chunk is aligned to its size, so that an address reveals its end. A word
 * of 0 ends the records of a chunk. */
#define MPG_SIM_CHUNK_BYTES 65536u
/** Of each lane. */
#define MPG_SIM_CHUNKS 16u
/** A lane is filled by one thread after another, and is a core of the machine.
 */
#define MPG_SIM_LANES 128u

/** One record: the word is kind << 56 | number. */
struct mpg_sim_record {
  uint64_t value;
  uint64_t word;
};

/** `number` is a place in the program's text unless the comment says otherwise.
 */
enum mpg_sim_kind {
  MPG_SIM_END,
  MPG_SIM_ACCESS,    /**< value: address */
  MPG_SIM_CHECKED,   /**< the same, and counted in sums as well (tests) */
  MPG_SIM_LOOP,      /**< value: iterations; number: streams that follow */
  MPG_SIM_STREAM,    /**< value: first address */
  MPG_SIM_STRIDE,    /**< value: bytes from one access of it to the next */
  MPG_SIM_FROM,      /**< value: where a copy reads; TO follows */
  MPG_SIM_TO,        /**< value: where a copy or a fill writes; BYTES follows */
  MPG_SIM_BYTES,     /**< value: bytes of the record before it */
  MPG_SIM_ALLOCATED, /**< value: address; BYTES follows, then its callers */
  MPG_SIM_FREED,     /**< value: address */
  MPG_SIM_CALLED,    /**< a call of code perhaps compiled without --mpg-sim */
  MPG_SIM_STACK,     /**< value: its lowest address; BYTES follows */
  MPG_SIM_MODULE,    /**< value: bytes of its text; number: its first place */
  MPG_SIM_TEXT,      /**< value: bytes of a piece of it, in the next records */
  MPG_SIM_OBJECT,    /**< value: address; number: in the text; BYTES follows */
  MPG_SIM_CREATED,   /**< number: lane of a thread that begins after this */
  MPG_SIM_JOINS,     /**< number: a lane; value: waits for so many ends there */
  MPG_SIM_BARRIER, /**< waits until so many lanes (number) are at it (value) */
  MPG_SIM_SIZE,    /**< number: of the lanes for the barrier (value) */
  MPG_SIM_PAUSES,  /**< waits for an unknown event */
  MPG_SIM_ENDED,   /**< of the thread */
  MPG_SIM_CORE,    /**< number: core of the next records; mpgsim writes it */
  /** Accesses of a basic block, in order, with consecutive places from number
   * on. The module's text gives the address and offset of each. value: the
   * first address; the others follow, two in the space of a record. Bits 32 to
   * 43 of the word: accesses; 44 to 55: addresses. */
  MPG_SIM_BUNDLE,
  /** An access under qemu; value: address. Bits 0 to 49 of the word: address of
   * the instruction / 4; 50: it stores; 51 to 53: log2 of its bytes; 54:
   * of the second register of a pair. */
  MPG_SIM_INSTRUCTION,
  MPG_SIM_CALLER, /**< value: return address, from the inside out */
  MPG_SIM_REGION, /**< of a sample; number: 1 at its begin, 0 at its end */
  MPG_SIM_KINDS
};
#define MPG_SIM_KIND_SHIFT 56
#define MPG_SIM_CALLERS 16u /**< at most */
/** Smaller blocks have no callers, because finding them takes microseconds. */
#define MPG_SIM_CALLERS_MIN (4u << 10)
#define MPG_SIM_ACCESSES_SHIFT 32
#define MPG_SIM_ADDRESSES_SHIFT 44
#define MPG_SIM_BUNDLE_MOST 0xfffu /**< accesses or addresses */
#define MPG_SIM_STORES_SHIFT 50
#define MPG_SIM_LOG_BYTES_SHIFT 51
#define MPG_SIM_SECOND_SHIFT 54

/** The chunk of one thread, or of several threads one after another. */
struct mpg_sim_lane {
  uint32_t filled; /**< chunks handed over */
  uint32_t taken;  /**< chunks read; a futex */
  uint32_t ownerWaits;
  uint32_t isTaken; /**< by a thread that was not joined yet */
  uint32_t threads; /**< that have had it */
  int32_t thread;   /**< the kernel's number of the last one */
  uint32_t unused[10];
};

/** Which accesses are recorded. */
enum mpg_sim_sample {
  MPG_SIM_ALL,
  MPG_SIM_CALLS,    /**< from mpg_sim_begin to mpg_sim_end */
  MPG_SIM_FUNCTION, /**< while it runs */
  MPG_SIM_TIME      /**< mpgsim sets `recording` */
};

/** Header in front of the chunks, in a page block by itself. The first three
 * members keep their offsets in all versions. */
struct mpg_sim_ring {
  char magic[8]; /**< MPG_SIM_MAGIC */
  uint32_t version;
  uint32_t otherVersion; /**< of a program that could not use the ring */
  int32_t reader;        /**< process that takes chunks */
  int32_t owner;         /**< process that fills them; 0: none has begun */
  uint32_t lanes;        /**< that there are, for as many threads */
  uint32_t handed;       /**< chunks of all lanes; a futex */
  uint32_t readerWaits;
  uint32_t otherThreads;   /**< that accessed memory and were not recorded */
  uint32_t otherProcesses; /**< the same: forked, or started later */
  uint64_t lostAccesses;   /**< of those threads and processes */
  uint32_t recording;      /**< 0: the program writes nothing */
  uint32_t sample;         /**< one of mpg_sim_sample; mpgsim sets it */
  uint32_t open;           /**< begins without their end, of all threads */
  uint32_t regions;        /**< that have begun, one in another counted once */
  uint32_t loneEnds;       /**< without a begin */
  uint32_t functions;      /**< of the name that the sample has */
  uint64_t regionNs;       /**< processor time: of ends less that of begins */
  /** 1: between regions the program records, too; mpgsim sets it. */
  uint32_t warmsUp;
  /** Begins without their end, of threads without a lane. */
  uint32_t openElsewhere;
  char function[1024]; /**< whose region is recorded */
  struct mpg_sim_lane lane[MPG_SIM_LANES];
};
#define MPG_SIM_MAGIC "mpgsim\n"

/** Memory of a module that has a name. */
struct mpg_sim_object {
  const void *address;
  uint64_t bytes;
};

/** Where this thread's next record goes. Compiled code stores records there and
 * advances it. When it is too near to the end of the chunk, the code calls
 * mpg_sim_next unless recording is off. */
extern __thread struct mpg_sim_record *mpg_sim_cursor;
/** A cursor so near to the end of a chunk at address 0 that nothing fits: set
 * in a thread that does not record now. */
#define MPG_SIM_NO_CHUNK (MPG_SIM_CHUNK_BYTES - 16)

/** Points to 0 if nothing is recorded now. */
extern const uint32_t *mpg_sim_switch;

/** Another chunk, empty. Does not change errno. */
struct mpg_sim_record *mpg_sim_next(void);

/** As mpg_sim_next, unless there is room for \p records: then returns the
 * cursor. While recording is off, returns scratch memory that is never read;
 * the cursor is MPG_SIM_NO_CHUNK then and must stay so. */
struct mpg_sim_record *mpg_sim_room(uint64_t records);

/** Records a block of the heap, even while recording is off, so that its name
 * is known. \p word: kind and place. */
void mpg_sim_allocated(const void *address, uint64_t bytes, uint64_t word);
/** The same for the block of a descriptor of Fortran (CFI_cdesc_t). */
void mpg_sim_described(const void *descriptor, uint64_t word);
void mpg_sim_freed(const void *address);

/** True if the caller is the function whose region is recorded: it must then
 * call itself once more, and mpg_sim_leave after that. Called if its byte is
 * set. */
int mpg_sim_enter(void);
void mpg_sim_leave(void);

/** Called before the constructors of a module: passes its text and its objects,
 * and stores at \p first the number of its first place. \p sampled: a byte for
 * each line of the text that names a function, in their order. */
void mpg_sim_module(const char *text, uint64_t bytes, uint64_t places,
                    const struct mpg_sim_object *objects, uint64_t count,
                    uint64_t *first, unsigned char *sampled);

#ifdef __cplusplus
}
#endif

#endif
