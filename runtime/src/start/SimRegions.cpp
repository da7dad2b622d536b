// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The regions of mpgsim in programs that were not compiled with --mpg-sim:
// those that were have their own functions (runtime/sim), which go before
// these.

#include "mpg/mpg.h"

__attribute__((weak)) void mpg_sim_begin() {}
__attribute__((weak)) void mpg_sim_end() {}
