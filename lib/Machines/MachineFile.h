// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a machine from a file of share/mpgtools/machines.

#pragma once

#include "Sim/SimMachine.h"

namespace mpg::sim {

/// Fills \p machine. \returns "", or "path:line: reason", which names the key;
/// \p machine is then not to be used.
std::string readMachine(const std::string &path, Machine &machine);

} // namespace mpg::sim
