/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The state that libmpg reports to mpgrun: one struct in a memory file. mpgrun
 * creates the file (a temporary file without a name where memory files are
 * forbidden), the program inherits it (MPG_STATE_FD), and libmpg rewrites it
 * whenever a region changes. Plain C, fixed sizes, same machine on both sides.
 * A reader copies the struct and checks every count against the array's size.
 * mpgrun owns the file, so libmpg trusts nothing in it.
 *
 * With --children the file is longer: a table follows, in which each other
 * process with libmpg takes an entry and records its memory. With --profile it
 * is longer still: <mpg/profile.h>.
 */
#ifndef MPG_STATE_H
#define MPG_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MPG_STATE_NAME "mpgrun-state"   /* of the memory file */
#define MPG_STATE_MAGIC 0x3153474d50ULL /* "PMGS1" read backwards */
#define MPG_STATE_REGIONS 64
#define MPG_STATE_MESSAGES 16
#define MPG_STATE_TEXT 240

enum mpg_region_kind {
  MPG_REGION_DATA,
  MPG_REGION_BSS,
  MPG_REGION_HEAP,
  MPG_REGION_STACK,
  MPG_REGION_THREAD_STACK, /* all of them together, start is 0 */
  MPG_REGION_LIBRARY,      /* writable segment of a shared library */
  MPG_REGION_TEXT,         /* the program's code */
  MPG_REGION_RODATA        /* its segments that are neither code nor writable */
};

struct mpg_state_region {
  uint32_t kind; /* mpg_region_kind */
  uint32_t pad;
  uint64_t start;
  uint64_t bytes;
  uint64_t hugeBytes;          /* of these on large pages, or reserved there */
  uint64_t pageBytes;          /* size of the large pages */
  uint64_t pagedInBytes;       /* touched by libmpg at the start */
  char reason[MPG_STATE_TEXT]; /* why not all; empty if all */
};

struct mpg_state_message {
  uint32_t code; /* mpg_code */
  uint32_t count;
  char text[MPG_STATE_TEXT];
};

struct mpg_state {
  uint64_t magic;
  uint32_t structBytes; /* sizeof(struct mpg_state) of the writer */
  uint32_t pid;
  uint32_t mode;     /* in use: 0 auto, 1 hugetlb, 2 thp, 3 none */
  uint32_t fallback; /* normal pages replaced requested large ones */
  /* Maximum of the process's bytes on pages of the pool, sampled whenever a
   * region is reported. */
  uint64_t peakHugetlbBytes;
  /* Addresses that libmpg's heap owns: every writable mapping in them is heap.
   * Both 0: the C library's heap is in use. */
  uint64_t heapStart;
  uint64_t heapEnd;
  uint64_t heapTablesEnd; /* libmpg's own tables lie after the heap */
  /* The maximum in use, sampled before memory is returned to the kernel, and
   * the part of it that was on large pages at that time. */
  uint64_t heapPeakBytes;
  uint64_t heapPeakHugeBytes;
  uint32_t regionCount;
  uint32_t messageCount;
  uint32_t regionsLost; /* did not fit */
  uint32_t messagesLost;
  struct mpg_state_region regions[MPG_STATE_REGIONS];
  struct mpg_state_message messages[MPG_STATE_MESSAGES];
  char library[MPG_STATE_TEXT]; /* libmpg's file; empty: it is in the program */
};

/* Offset of the table: a multiple of every page size. */
#define MPG_STATE_TABLE 0x10000
#define MPG_STATE_PROCESSES 4096
#define MPG_STATE_COMMAND 128

/* Of one process and one program: a process that calls exec takes another
 * entry. */
struct mpg_state_process {
  uint32_t pid;
  uint32_t parent;
  uint32_t mode;     /* as in mpg_state */
  uint32_t hasEnded; /* 1: the bytes are those of its end; 0: last reported */
  uint64_t bytes;    /* in use */
  uint64_t hugeBytes;
  uint64_t poolBytes;     /* of these from the pool; known at the end only */
  uint64_t heapPeakBytes; /* as in mpg_state */
  uint64_t heapPeakHugeBytes;
  char command[MPG_STATE_COMMAND]; /* its arguments, cut off */
  char reason[MPG_STATE_TEXT];     /* its first message */
};

struct mpg_state_table {
  uint32_t taken; /* entries asked for, which may be more than there are */
  uint32_t pad;
  struct mpg_state_process processes[MPG_STATE_PROCESSES];
};

/* Between the table and struct mpg_profile: the kernel's list of the program's
 * mappings (/proc/self/smaps), taken just before munmap returned memory at the
 * time of highest use. Written only on request, because it costs time. */
#define MPG_STATE_SMAPS 0x200000
#define MPG_STATE_SMAPS_TEXT (0x200000 - 8)
struct mpg_state_smaps {
  uint32_t isWanted; /* set by mpgrun */
  uint32_t bytes;    /* of the text; 0: none, or it did not fit */
  char text[MPG_STATE_SMAPS_TEXT];
};

/* The same list at the program's end, for an mpgrun that may not trace it. Its
 * first line is the program's file. */
#define MPG_STATE_END 0x400000

/* Where struct mpg_profile begins. */
#define MPG_STATE_PROFILE 0x600000

/* Whether a file with this name in the kernel's lists (/proc/PID/fd or maps)
 * may be the state: the memory file, or where these are forbidden a deleted
 * file that mkstemp named mpgrun-state-XXXXXX. */
static inline int mpg_is_state_name(const char *name, size_t length) {
  static const char memory[] = "/memfd:" MPG_STATE_NAME;
  static const char temporary[] = "/" MPG_STATE_NAME "-";
  static const char gone[] = " (deleted)";
  const size_t fileBytes = sizeof(temporary) - 1 + 6; /* with the XXXXXX */
  const size_t goneBytes = sizeof(gone) - 1;
  if (length < goneBytes ||
      memcmp(name + length - goneBytes, gone, goneBytes) != 0)
    return 0;
  length -= goneBytes;
  if (length == sizeof(memory) - 1 && memcmp(name, memory, length) == 0)
    return 1;
  return length >= fileBytes && memcmp(name + length - fileBytes, temporary,
                                       sizeof(temporary) - 1) == 0;
}

#endif /* MPG_STATE_H */
