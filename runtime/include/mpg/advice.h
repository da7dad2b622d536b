/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Advice of madvise() that C libraries of older systems have no name for, with
 * the numbers of <asm-generic/mman-common.h> (madvise(2): read; 5.14
 * from memory). `madvise(page, 0, advice)` tells whether an advice is known and
 * does nothing (measured).
 */
#ifndef MPG_ADVICE_H
#define MPG_ADVICE_H

#define MPG_ADVICE_POPULATE_READ 22  /* MADV_POPULATE_READ, Linux 5.14 */
#define MPG_ADVICE_POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */
#define MPG_ADVICE_COLLAPSE 25       /* MADV_COLLAPSE, Linux 6.1 */

#endif /* MPG_ADVICE_H */
