/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program without memory accesses.
 */
#include <stdio.h>

int main(void) {
  puts("nothing");
  return 0;
}
