/* Shared by the test programs about NUMA: reads the placement of memory through
 * direct system calls. */
#ifndef TOUCH_H
#define TOUCH_H

#include <errno.h>
#include <mpg/mpg.h>
#include <mpg/pass.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef MPG_TEST_WEAK /* as the calls that the compiler passes insert */
#pragma weak mpg_first_touch
#pragma weak mpg_where
#endif

/* The node of one page that is present; -1 if it is not. */
static inline int nodeOfPage(uintptr_t at) {
  enum { getNode = 1, ofAddress = 2 };
  unsigned char present = 0;
  int node = -1;
  uintptr_t page = at & -(uintptr_t)getpagesize();
  if (mincore((void *)page, 1, &present) || !(present & 1))
    return -1;
  if (syscall(SYS_get_mempolicy, &node, NULL, 0, at, getNode | ofAddress))
    return -1;
  return node;
}

static inline size_t presentPages(const char *start, size_t bytes) {
  size_t pageBytes = (size_t)getpagesize(), count = 0;
  for (size_t at = 0; at < bytes; at += pageBytes) {
    unsigned char present = 0;
    count += !mincore((void *)(start + at), 1, &present) && (present & 1);
  }
  return count;
}

#endif
