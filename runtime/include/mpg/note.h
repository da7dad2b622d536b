/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The two notes inside object files and programs: the hints that the compiler
 * passes put into the code, and the addresses that the linker gave .data and
 * .bss. Part of the contract between the stages: plain C, no function, fixed
 * sizes.
 *
 * Both are ELF notes (name "mpg", SHF_ALLOC, alignment 4, little-endian), so
 * every linker concatenates them and a program finds its own through PT_NOTE.
 * A reader copies the bytes out, because with alignment 4 the 64-bit fields may
 * be misaligned. A reader skips an unknown version and reports it.
 */
#ifndef MPG_NOTE_H
#define MPG_NOTE_H

#include <stddef.h>
#include <stdint.h>

#define MPG_NOTE_NAME "mpg" /* n_namesz is 4, the zero byte included */
#define MPG_NOTE_ALIGN 4

#define MPG_NOTE_SECTION_HINTS ".note.mpg.hints"
#define MPG_NOTE_TYPE_HINTS 1
#define MPG_NOTE_HINTS_VERSION 1
#define MPG_HINTS_EXTENDED_TAGS 1 /* flags: tag bytes with pf_func 8 to 15 */
#define MPG_HINTS_FIRST_TOUCH 2   /* flags: first-touch calls were inserted */
#define MPG_WAYS_NOT_ASKED 255

/* One for each compiled module; a reader merges all of them. */
struct mpg_note_hints {
  uint16_t version;
  uint16_t flags;
  uint32_t llvmMajor;
  uint32_t tagBytes[8]; /* bitmap of the 256 tag bytes: bit b % 32 of b / 32 */
  uint8_t sectorsMask;
  uint8_t injectionMask;
  uint8_t waysL1[4]; /* ways asked for each sector, or MPG_WAYS_NOT_ASKED */
  uint8_t waysL2[4];
  uint8_t pad[2];
  uint32_t taggedAccesses;
  uint32_t firstTouchSites;
};

#define MPG_NOTE_SECTION_LAYOUT ".note.mpg.layout"
#define MPG_NOTE_TYPE_LAYOUT 2
#define MPG_NOTE_LAYOUT_VERSION 1
/* flags: .data and .bss are too small for the layout, nothing was aligned and
 * the addresses are zero */
#define MPG_LAYOUT_SKIPPED 1

/* One for each linked file. Addresses are relative to the ELF header of the
 * image (__ehdr_start), so they hold wherever it is loaded. All four are
 * multiples of hugeBytes; dataEnd and bssEnd are one past the last address. */
struct mpg_note_layout {
  uint16_t version;
  uint16_t flags;
  uint32_t pad;
  uint64_t hugeBytes;
  uint64_t dataStart;
  uint64_t dataEnd;
  uint64_t bssStart;
  uint64_t bssEnd;
};

#ifdef __cplusplus
#define MPG_NOTE_ASSERT(condition) static_assert(condition, #condition)
#else
#define MPG_NOTE_ASSERT(condition) _Static_assert(condition, #condition)
#endif
MPG_NOTE_ASSERT(sizeof(struct mpg_note_hints) == 60);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_hints, tagBytes) == 8);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_hints, sectorsMask) == 40);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_hints, waysL1) == 42);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_hints, waysL2) == 46);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_hints, taggedAccesses) == 52);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_hints, firstTouchSites) == 56);
MPG_NOTE_ASSERT(sizeof(struct mpg_note_layout) == 48);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_layout, hugeBytes) == 8);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_layout, dataStart) == 16);
MPG_NOTE_ASSERT(offsetof(struct mpg_note_layout, bssEnd) == 40);
#undef MPG_NOTE_ASSERT

#endif /* MPG_NOTE_H */
