// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ZeroFill.h. The loops ask the register themselves each time, so nothing
// depends on this call.

#include "a64fx/ZeroFill.h"
#include "mpg/pass.h"
#include <errno.h>

using namespace mpg;

static Messages *listener = nullptr;

void mpg::startZeroFill(Messages &messages) { listener = &messages; }

#if defined(__aarch64__)

static constexpr uint32_t maxBlockBytes = 256; // HW:a64fx-zero-fill

/// 0: the system forbids the instruction. HW:dczid
static uint32_t readBlockBytes() {
  constexpr uint64_t prohibited = 1 << 4, log2Words = 15;
  uint64_t dczid;
  __asm__("mrs %0, dczid_el0" : "=r"(dczid));
  return dczid & prohibited ? 0 : uint32_t(4) << (dczid & log2Words);
}

void mpg_check_zero_fill(uint32_t minBlockBytes) {
  uint32_t bytes = readBlockBytes();
  if (!listener || (bytes >= minBlockBytes && bytes <= maxBlockBytes))
    return;
  int saved = errno;
  LineBuffer line;
  if (!bytes) {
    line.add("zero fill: the system forbids DC ZVA");
  } else {
    line.addAll("zero fill: DC ZVA zeroes ", bytes);
    line.add(" bytes here, and the program is made for ");
    if (minBlockBytes < maxBlockBytes)
      line.addAll(minBlockBytes, " to ");
    line.addNumber(maxBlockBytes);
  }
  line.add("; cost: its stores read each line first, as without --mpg-zfill");
  if (bytes && bytes < minBlockBytes)
    line.add("; fix: compile it with --mpg-zfill=auto");
  listener->report(MPG_MSG_ZERO_FILL, line);
  errno = saved;
}

#else

void mpg_check_zero_fill(uint32_t) {}

#endif
