/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where a program allocates its large blocks: tables in the file of
 * <mpg/state.h>, after the others, in which libmpg records each block of 1 MiB
 * and more, and each mapping without a file. The file is that long only for
 * `mpgrun --profile`; otherwise libmpg records nothing. The tables are mpgrun's
 * memory, so they outlive a program that is killed. A reader validates every
 * number in them.
 *
 * Numbers of sites and blocks count from 1; 0 means none. Times are those of
 * CLOCK_MONOTONIC, like the kernel's samples of page faults.
 */
#ifndef MPG_PROFILE_H
#define MPG_PROFILE_H

#include <stdint.h>

#define MPG_PROFILE_LEAST (1 << 20) /* bytes of a block that counts */
#define MPG_PROFILE_SITES 100000
#define MPG_PROFILE_BLOCKS 65536 /* in use, or given back a while ago */
#define MPG_PROFILE_FRAMES 16
#define MPG_PROFILE_BUCKETS 65536 /* a power of two */

/* A call path on which blocks are allocated. */
struct mpg_profile_site {
  uint64_t frames[MPG_PROFILE_FRAMES]; /* return addresses, from the inside */
  uint64_t blocks;                     /* until now */
  uint64_t liveBlocks;
  uint64_t liveBytes;
  uint64_t peakBytes; /* maximum of liveBytes */
  /* One of the largest freed blocks, just before it was freed. */
  uint64_t freedBytes;
  uint64_t freedUsedBytes;
  uint64_t freedHugeBytes;
  uint32_t knows; /* of these: MPG_PROFILE_KNOWS_...; or MPG_PROFILE_MAPPED */
  uint32_t next;  /* site of the same bucket */
};
#define MPG_PROFILE_KNOWS_USED 1
#define MPG_PROFILE_KNOWS_HUGE 2
#define MPG_PROFILE_MAPPED 4 /* blocks are mappings of the program's own */

struct mpg_profile_block {
  uint64_t start;
  uint64_t bytes;
  uint64_t bornNs;
  uint64_t diedNs; /* 0: in use */
  uint32_t site;
  uint32_t next;  /* block of the same bucket, or the next one that is free */
  uint32_t marks; /* 2 MiB frames in it that are separate mappings */
};

struct mpg_profile {
  uint32_t siteCount;  /* sites are never freed */
  uint32_t blockCount; /* entries that have been in use */
  uint32_t firstFree;  /* of these, the one freed longest ago */
  uint32_t lastFree;
  uint64_t blocksLost;  /* the tables were full */
  uint32_t wantsFrames; /* set by mpgrun: make frames mappings */
  uint32_t pad;
  uint32_t siteBuckets[MPG_PROFILE_BUCKETS];
  uint32_t blockBuckets[MPG_PROFILE_BUCKETS];
  struct mpg_profile_site sites[MPG_PROFILE_SITES];
  struct mpg_profile_block blocks[MPG_PROFILE_BLOCKS];
};

#endif /* MPG_PROFILE_H */
