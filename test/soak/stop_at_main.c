/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Linked with -Wl,--wrap=main, it ends a program where main would begin: such a
 * program only starts up.
 */
#include <unistd.h>

int __wrap_main(void);

int __wrap_main(void) { _exit(0); }
