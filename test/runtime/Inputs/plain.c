/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program without any use of large pages. Its result must be the same
 * whatever libmpg's settings: a line and status 3.
 */
#include <errno.h>
#include <stdio.h>

static int early;

__attribute__((constructor)) static void first(void) { early = errno + 42; }

int main(void) {
  printf("result %d\n", early);
  return 3;
}
