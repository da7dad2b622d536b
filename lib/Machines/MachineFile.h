// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a machine from a file of share/mpgtools/machines.

#ifndef MPG_MACHINES_MACHINEFILE_H
#define MPG_MACHINES_MACHINEFILE_H

#include "Sim/SimMachine.h"

namespace mpg::sim {

/// Fills \p machine. \returns "", or "path:line: reason", which names the key;
/// \p machine is then not to be used.
std::string readMachine(const std::string &path, Machine &machine);

} // namespace mpg::sim

#endif // MPG_MACHINES_MACHINEFILE_H
