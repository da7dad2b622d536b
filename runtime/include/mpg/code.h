/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Numbers of the messages that the runtime prints. LPG and FHE numbers are
 * Fujitsu's and mean what its documentation says; our own begin at 9001 and
 * are printed as "mpg: ...", never as LPG. Plain C, part of the contract.
 */
#ifndef MPG_CODE_H
#define MPG_CODE_H

enum mpg_code {
  /* Fujitsu's: "[WARN] xos LPG 2003 - ..." on its systems, else "mpg: ...". */
  MPG_LPG_PIE = 2002,          /* .data/.bss of a PIE were left alone */
  MPG_LPG_OVERLAP = 2003,      /* segments share large pages */
  MPG_LPG_USER_STACK = 2004,   /* a thread on a stack that the program gave */
  MPG_LPG_THREADS = 2005,      /* more than one thread at start-up */
  MPG_LPG_STACK_BOTTOM = 2006, /* no room above the process stack */
  MPG_LPG_STACK_TOP = 2007,    /* no room below the process stack */
  MPG_LPG_FALLBACK = 9999,     /* normal pages were used instead */
  /* Ours, printed as "mpg: ...". */
  MPG_MSG_FIRST = 9001,
  MPG_MSG_SHORTAGE = 9001,    /* large pages ran out; names the cause */
  MPG_MSG_BAD_VALUE = 9002,   /* an environment variable; once per variable */
  MPG_MSG_CONFLICT = 9003,    /* settings that defeat each other */
  MPG_MSG_VENDOR = 9004,      /* Fujitsu's library is in this process */
  MPG_MSG_KERNEL = 9005,      /* the kernel or the site forbids large pages */
  MPG_MSG_FIRST_TOUCH = 9006, /* first touch cannot place memory */
  MPG_MSG_FORK = 9007,        /* what a fork does with large pages */
  MPG_MSG_SECTOR = 9008,      /* the sector cache cannot be divided as asked */
  MPG_MSG_HEAP = 9009,        /* malloc fails, because HUGETLB_FALLBACK is 0 */
  MPG_MSG_REPLICA = 9010,     /* a node has no room for its copy */
  MPG_MSG_TWICE = 9011,       /* another file of libmpg came first */
  MPG_MSG_TEXT = 9012,        /* code stays on normal pages */
  MPG_MSG_TRIM = 9013,        /* malloc_trim() gives little memory back */
  MPG_MSG_ZERO_FILL = 9014    /* DC ZVA is not what the program is made for */
};

#endif /* MPG_CODE_H */
