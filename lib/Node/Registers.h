// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a program may use the A64FX registers for sector cache and hardware
// prefetch. No file tells: a register is read in a child process, where the
// kernel answers with SIGILL if it is closed. Uses nothing but libc, so that it
// can be built and tried for AArch64 alone.
//
// The barrier registers are not tried: reading a window that is not set up is
// unpredictable (HW:barrier-window). Their driver's device tells.

#pragma once

namespace mpg {

enum class Reach : unsigned char {
  notTried, ///< another machine, a saved copy, or no child could be made
  open,
  closed, ///< SIGILL
};

struct RegisterReach {
  Reach sectorL1 = Reach::notTried; ///< IMP_SCCR_L1_EL0
  Reach sectorL2 = Reach::notTried; ///< IMP_SCCR_VSCCR_L2_EL0
  Reach prefetch = Reach::notTried; ///< IMP_PF_STREAM_DETECT_CTRL_EL0
};

/// pre: runs on an A64FX. Elsewhere on AArch64 the answer is "closed", on
/// other machines "not tried".
RegisterReach probeRegisters();

} // namespace mpg
