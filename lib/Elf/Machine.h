// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines whose files are read in full, by their number in e_machine and
// by the name that the folders of their libraries have; and the machine that
// this program was compiled for.

#pragma once

#include <cstdint>

namespace mpg {

enum class Machine : uint16_t { x86_64 = 62, aarch64 = 183 };

/// SHF_X86_64_LARGE, which not every elf.h has.
constexpr uint64_t largeSectionFlag = 0x10000000;

#if defined(__aarch64__)
inline constexpr Machine ownMachine = Machine::aarch64;
#else
inline constexpr Machine ownMachine = Machine::x86_64;
#endif

constexpr const char *getTriple(Machine machine) {
  return machine == Machine::aarch64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

} // namespace mpg
