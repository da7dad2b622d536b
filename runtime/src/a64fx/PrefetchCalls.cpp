// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_prefetch_set on the machine that the process runs on.

#include "a64fx/Prefetch.h"
#include <errno.h>

int mpg_prefetch_set(int entry, const mpg_prefetch *p) {
  int saved = errno;
  int result = mpg::setPrefetch(mpg::thisMachine, entry, p);
  errno = saved;
  return result;
}
