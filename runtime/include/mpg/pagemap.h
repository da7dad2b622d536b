/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * PAGEMAP_SCAN, the call of /proc/PID/pagemap that reports for ranges of memory
 * which pages are present and which are large. Copied from <linux/fs.h> of
 * Linux 6.7, because headers of older systems lack it.
 */
#ifndef MPG_PAGEMAP_H
#define MPG_PAGEMAP_H

#include <stdint.h>
#include <sys/ioctl.h>

/* Pages beside each other of the same categories. */
struct mpg_scan_region {
  uint64_t start, end, categories;
};

struct mpg_scan {
  uint64_t size, flags, start, end;
  uint64_t walkEnd; /* where the kernel stopped */
  uint64_t regions, regionCount, maxPages;
  uint64_t inverted, mask, anyOf, returned; /* categories */
};

#define MPG_PAGEMAP_SCAN _IOWR('f', 16, struct mpg_scan)
#define MPG_PAGE_FILE (1 << 1)
#define MPG_PAGE_PRESENT (1 << 3)
#define MPG_PAGE_SWAPPED (1 << 4)
#define MPG_PAGE_ZERO (1 << 5)
#define MPG_PAGE_HUGE (1 << 6)

/* Up to `end`, all pages that use memory, present or swapped out, but not pages
 * that were only read, which share the page of zeros. The caller sets `start`.
 */
static inline struct mpg_scan mpg_scan_for(struct mpg_scan_region *regions,
                                           uint64_t count, uint64_t end) {
  struct mpg_scan scan = {};
  scan.size = sizeof(scan);
  scan.end = end;
  scan.regions = (uintptr_t)regions;
  scan.regionCount = count;
  scan.inverted = scan.mask = MPG_PAGE_ZERO;
  scan.anyOf = MPG_PAGE_PRESENT | MPG_PAGE_SWAPPED;
  scan.returned = MPG_PAGE_HUGE;
  return scan;
}

#endif /* MPG_PAGEMAP_H */
