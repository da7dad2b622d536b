// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine as the sector, prefetch and barrier functions need it, behind a
// table of functions: the real one for A64FX, and another for unit tests, which
// run on any processor. Also the reason why one of these calls failed.
//
// Registers belong to a CPU, not to a thread: code that writes one first calls
// place() to learn whether the calling thread will stay on its CPU.

#pragma once

#include "a64fx/A64fxRegisters.h"

namespace mpg {

/// Registers that the system opens and closes together.
enum class Family : uint8_t { sectorL1, sectorL2, prefetch, count };

enum class Reach : uint8_t {
  open,
  closed, ///< reading one raises SIGILL
  absent, ///< not an A64FX
};

/// Where the calling thread is, and how much of that it can rely on.
struct Place {
  unsigned cpu;
  unsigned node;    ///< NUMA node: one core memory group. HW:a64fx-cmgs
  bool staysOnCpu;  ///< it is bound to this CPU
  bool staysOnNode; ///< all CPUs that it may run on are of this node
};

struct Machine {
  Reach (*reach)(Family family);
  /// pre: the register is open.
  uint64_t (*read)(Register which);
  void (*write)(Register which, uint64_t value);
  Place (*place)();
  /// L2 ways that programs may divide.
  unsigned (*budgetL2)();
  /// Whether no other process of the job runs on the groups of this one.
  bool (*ownsGroups)();
  /// Runs \p body on one CPU of each node that the process may run on, in the
  /// calling thread, which then may run where it could before.
  void (*onEachNode)(void (*body)(void *), void *data);
};

/// The machine that this process runs on. Thread-safe.
extern const Machine thisMachine;

// Registers (Missing.cpp). Reads and writes the registers of A64FX, and finds
// out whether the kernel lets this process do so. Neither a file nor the
// processor's number reveals that, so a register of each family is read once,
// with SIGILL caught meanwhile. The processor's number is checked first all the
// same, because on another maker's processor the same encodings may be other
// registers.

/// The first call probes; thread-safe. The program's handler for SIGILL is
/// there again afterwards, and gets what another thread raises meanwhile.
Reach getReach(Family family);

/// pre: the register's family is open; a barrier window is one that the driver
/// has assigned on this CPU (HW:barrier-window).
uint64_t readRegister(Register which);
void writeRegister(Register which, uint64_t value);

// Missing parts (Missing.cpp). Why a call about sectors or prefetch could not
// be done, as a negative errno and as the text that mpg_machine_error() returns
// (<mpg/mpg.h>).

enum class Missing : uint8_t {
  nothing,
  processor,      ///< not an A64FX
  sectorAccess,   ///< the sector registers are closed
  prefetchAccess, ///< the prefetch registers are closed
  consent,        ///< FLIB_SCCR_CNTL=FALSE
  cpu,            ///< the thread is not bound to one CPU
  group,          ///< the thread is not bound to one core memory group
  ownGroup,       ///< other processes are on the group
  ways,           ///< more are asked for than the cache has
  depth,          ///< too many regions inside each other
  entry,          ///< no such prefetch entry
  flags,          ///< a flag that the entry does not have
  distance,       ///< a number that the register cannot hold
};

/// A sentence without a period; a constant string.
const char *getText(Missing what);
/// Null: worth no line, as the user's own wish and mistakes of the program.
const char *getFix(Missing what);

/// Notes \p what as this thread's last error; the result of the call.
int failWith(Missing what);

/// The reason why \p family cannot be used on \p machine.
Missing missingFor(const Machine &machine, Family family);

} // namespace mpg
