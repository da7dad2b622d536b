// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine by the name that the folders of its libraries have, and the machine
// that this program was compiled for.

#ifndef MPG_ELF_TRIPLE_H
#define MPG_ELF_TRIPLE_H

#include "Elf/Machine.h"

namespace mpg {

#if defined(__aarch64__)
inline constexpr Machine ownMachine = Machine::aarch64;
#else
inline constexpr Machine ownMachine = Machine::x86_64;
#endif

constexpr const char *tripleOf(Machine machine) {
  return machine == Machine::aarch64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

} // namespace mpg

#endif // MPG_ELF_TRIPLE_H
