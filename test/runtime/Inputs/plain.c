/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that has nothing to do with large pages. Its own result must come
 * out whatever libmpg is told: a line and status 3.
 */
#include <errno.h>
#include <stdio.h>

static int early;

__attribute__((constructor)) static void first(void) { early = errno + 42; }

int main(void) {
  printf("result %d\n", early);
  return 3;
}
