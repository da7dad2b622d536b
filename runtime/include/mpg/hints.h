/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Hints for the sector cache and the hardware prefetchers of A64FX, written
 * where a variable is declared:
 *
 *   void spmv(const long *rowStart,
 *             MPG_STREAM const double *values,      // passes by: sector 1
 *             MPG_STREAM const int *columns,
 *             MPG_HINT(keep, no_l1_hwpf) const double *x, double *y);
 *
 * Write a macro in front of the declaration of a pointer, an array, a
 * structure's field (pointer or array), or a function. On a function it covers
 * the body, except where a variable has its own hint. All loads, stores and
 * prefetches through that variable get the tag, and so do those through local
 * pointers that are only ever set from it. A program computes the same with and
 * without hints. docs/hints.md has the grammar and the rules.
 *
 * The macros are empty unless MPG_HINTS is defined, the compiler is clang and
 * the target is AArch64 Linux (any Linux for those of first touch, below). Each
 * expands to an attribute that MpgPasses.so removes; left in place it would
 * cost speed. mpg-clang and mpg.cfg load the plugin and define MPG_HINTS. C and
 * C++. */
#ifndef MPG_HINTS_H
#define MPG_HINTS_H

/* The tag byte, bits 63:56 of an address: pf_func << 4 | sector. Bits 3 and 2
 * are always 0. HW:hpc-tag */
#define MPG_TAG_SECTOR_MASK 0x03
#define MPG_TAG_WEAK_SWPF 0x10  /* software prefetches may be dropped */
#define MPG_TAG_NO_L2_HWPF 0x20 /* no hardware prefetch into L2 */
#define MPG_TAG_NO_L1_HWPF 0x40 /* no hardware prefetch into L1 */
#define MPG_TAG_INJECTION 0x80  /* with the entry's number, 0 to 7, in 6:4 */
#define MPG_TAG_SHIFT 56

#if defined(MPG_HINTS) && defined(__clang__) && defined(__linux__)
#define MPG_TOUCH_TEXT(text) __attribute__((annotate("mpg:1:touch:" text)))
#else
#define MPG_TOUCH_TEXT(text)
#endif
#if defined(MPG_HINTS) && defined(__clang__) && defined(__aarch64__) &&        \
    defined(__linux__)
#define MPG_HINT_TEXT(text) __attribute__((annotate("mpg:1:" text)))
#else
#define MPG_HINT_TEXT(text)
#endif
/* Expands macros in its argument, then makes text of it. */
#define MPG_HINT_NUMBER(n) MPG_HINT_QUOTE(n)
#define MPG_HINT_QUOTE(n) #n

/* One or more of: sector=0 to sector=3, stream, keep, no_l1_hwpf, no_l2_hwpf,
 * no_hwpf, weak_swpf, inject=0 to inject=7, off; with commas between. */
#define MPG_HINT(...) MPG_HINT_TEXT("hint:" #__VA_ARGS__)

#define MPG_SECTOR(n) MPG_HINT_TEXT("hint:sector=" MPG_HINT_NUMBER(n))
#define MPG_STREAM MPG_HINT_TEXT("hint:stream") /* used once: sector 1 */
#define MPG_KEEP MPG_HINT_TEXT("hint:keep")     /* used again: sector 0 */

#define MPG_NO_L1_HWPF MPG_HINT_TEXT("hint:no_l1_hwpf")
#define MPG_NO_L2_HWPF MPG_HINT_TEXT("hint:no_l2_hwpf")
#define MPG_NO_HWPF MPG_HINT_TEXT("hint:no_hwpf")
#define MPG_WEAK_SWPF MPG_HINT_TEXT("hint:weak_swpf")
/* Prefetch as mpg_prefetch_set configured entry n, 0 to 7. Needs the option
 * extended=on, because an entry that is not configured turns prefetching off.
 */
#define MPG_INJECT(n) MPG_HINT_TEXT("hint:inject=" MPG_HINT_NUMBER(n))

/* Functions only. MPG_WAYS(l2=4, l1=1): while the function runs, sector 1 has 4
 * of 14 ways of the L2 cache and 1 of 4 of the L1 cache; either may be missing.
 * MPG_NO_HINTS: nothing in the function is tagged. */
#define MPG_WAYS(...) MPG_HINT_TEXT("ways:" #__VA_ARGS__)
#define MPG_NO_HINTS MPG_HINT_TEXT("hint:off")

/* First touch (docs/first-touch.md), for the memory that a pointer variable is
 * set to, a global array, or everything that a function allocates. OFF: the
 * memory stays where the program puts it, and the compiler prints no remark.
 * Otherwise: the memory is fresh and all of it will be used, so the threads
 * that will use it place it, even where the compiler cannot prove that. */
#define MPG_FIRST_TOUCH_OFF MPG_TOUCH_TEXT("off")
#define MPG_FIRST_TOUCH MPG_TOUCH_TEXT("on")

#endif /* MPG_HINTS_H */
