// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a call about sectors or prefetch could not be done, as a negative errno
// and as the text that mpg_machine_error() returns (<mpg/mpg.h>).

#ifndef MPG_RUNTIME_MISSING_H
#define MPG_RUNTIME_MISSING_H

#include "a64fx/ThisMachine.h"

namespace mpg {

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
const char *textOf(Missing what);

/// Notes \p what as this thread's last error; the result of the call.
int failWith(Missing what);

/// What stands against the use of \p family on \p machine.
Missing missingFor(const Machine &machine, Family family);

} // namespace mpg

#endif // MPG_RUNTIME_MISSING_H
