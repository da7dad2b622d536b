// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_kernel_error (<mpg/kernels.h>).

#include "KernelTable.h"
#include <stdarg.h>
#include <stdio.h>

// In the first block of thread-local memory, so that reading it allocates
// nothing.
static __thread char text[160] __attribute__((tls_model("initial-exec")));

int mpg::kernelError(int error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return -error;
}

const char *mpg_kernel_error(void) { return text; }
