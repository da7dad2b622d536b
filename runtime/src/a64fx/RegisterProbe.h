// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the registers of A64FX, and finds out whether the kernel
// lets this process do so. No file tells, and the processor's number does not
// either: a register of each family is read once, with SIGILL caught for that
// moment. The number is looked at first all the same, because on a processor
// of another maker the same encodings may be other registers.

#ifndef MPG_RUNTIME_REGISTERPROBE_H
#define MPG_RUNTIME_REGISTERPROBE_H

#include "a64fx/ThisMachine.h"

namespace mpg {

/// The first call probes; thread-safe. The program's handler for SIGILL is
/// there again afterwards, and gets what another thread raises meanwhile.
Reach reachOf(Family family);

/// pre: the register's family is open; a barrier window is one that the driver
/// has assigned on this CPU (HW:barrier-window).
uint64_t readRegister(Register which);
void writeRegister(Register which, uint64_t value);

} // namespace mpg

#endif // MPG_RUNTIME_REGISTERPROBE_H
