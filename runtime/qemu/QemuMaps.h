// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory of QEMU's own process an address of the program lies in.

#ifndef MPG_RUNTIME_QEMU_QEMUMAPS_H
#define MPG_RUNTIME_QEMU_QEMUMAPS_H

#include <climits>
#include <cstdint>

struct QemuMap {
  uint64_t begin, end; ///< addresses of the program
  uint64_t offset;     ///< in the file
  char path[PATH_MAX]; ///< empty: no file
};

/// Once it is known: what is to be added to an address of the program.
void setQemuBase(uint64_t base);
/// False: nothing is mapped there.
bool findQemuMap(uint64_t address, QemuMap &map);

#endif // MPG_RUNTIME_QEMU_QEMUMAPS_H
