// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an instruction of AArch64 does with memory, as far as QEMU does not say
// so itself: QEMU moves a vector register in pieces, two registers at once, and
// an SVE register element by element.

#ifndef MPG_RUNTIME_QEMU_MEMORYINSTRUCTION_H
#define MPG_RUNTIME_QEMU_MEMORYINSTRUCTION_H

#include <cstdint>

struct MemoryInstruction {
  enum Kind : uint8_t {
    none,
    plain,  ///< one access, of `bytes`
    wide,   ///< one or more of up to `bytes`, which QEMU reports in pieces
    any,    ///< as QEMU reports it, in accesses of at most `bytes`
    zeroes, ///< a cache line (DC ZVA)
    gathers ///< SVE elements anywhere; QEMU reports nothing of these two
  };
  Kind kind = none;
  uint8_t bytes = 0;   ///< a power of two, at most 64
  bool stores = false; ///< not known of `any`
  bool isPair = false; ///< wide: of two registers
  bool isSve = false;  ///< needs SVE registers of 512 bits to be `bytes` long
};

/// \p word: as it stands in memory. Prefetches are accesses here: QEMU reports
/// none for them.
MemoryInstruction memoryInstructionOf(uint32_t word);

/// Where a direct branch at \p address goes; \p address: it is none.
uint64_t branchTargetOf(uint32_t word, uint64_t address);

#endif // MPG_RUNTIME_QEMU_MEMORYINSTRUCTION_H
