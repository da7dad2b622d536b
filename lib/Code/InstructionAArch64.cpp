// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Effect of one AArch64 instruction on the general registers, by the main
// encoding groups of the Arm Architecture Reference Manual (DDI 0487, C4.1).
// Memory, SVE and system instructions are only told apart as far as common
// code between an argument and a call needs it; the rest writes everything.

#include "Code/MachineCode.h"

using namespace mpg;

/// The signed field of \p bits bits at \p shift, as a distance in bytes.
static int64_t branchOffset(uint32_t word, unsigned shift, unsigned bits) {
  uint64_t field = uint64_t(word >> shift) << (64 - bits);
  return (int64_t(field) >> (64 - bits)) * 4;
}

/// Register 31 is the zero register or the stack pointer; neither matters.
static uint32_t registerBit(uint32_t word, unsigned shift) {
  return 1U << (word >> shift & 31) & ~(1U << 31);
}

static void decodeBranch(uint32_t word, Instruction &result) {
  auto direct = [&](Flow flow, unsigned shift, unsigned bits) {
    result.flow = flow;
    result.target = result.address + branchOffset(word, shift, bits);
  };
  if ((word & 0x7c000000) == 0x14000000) // b, bl
    return direct(word >> 31 ? Flow::call : Flow::jump, 0, 26);
  if ((word & 0x7e000000) == 0x34000000) // cbz, cbnz
    return direct(Flow::branch, 5, 19);
  if ((word & 0x7e000000) == 0x36000000) // tbz, tbnz
    return direct(Flow::branch, 5, 14);
  if ((word & 0xfe000000) == 0x54000000) // b.cond, bc.cond
    return direct(Flow::branch, 5, 19);
  if ((word & 0xfe000000) == 0xd6000000) { // br, blr, ret, with or without PAC
    unsigned operation = word >> 21 & 7;
    result.copyFrom = operation == 0 ? int8_t(word >> 5 & 31) : -1;
    result.flow = operation == 0   ? Flow::jump
                  : operation == 1 ? Flow::call
                                   : Flow::stop;
    return;
  }
  if ((word & 0xfffff01f) == 0xd503201f) { // hints: nop, bti, paciasp, ...
    // bti, bti c, bti j, bti jc; paciasp and pacibsp are landing places too.
    bool entry = (word & 0xffffff3f) == 0xd503241f || word == 0xd503233f ||
                 word == 0xd503237f;
    result.flow = entry ? Flow::entry : Flow::next;
    // The PAC hints change x16, x17 or x30; the others nothing.
    result.writes = 1U << 16 | 1U << 17 | 1U << 30;
    return;
  }
  if ((word & 0xfffff000) == 0xd5033000) { // barriers
    result.flow = Flow::next;
    return;
  }
  if ((word & 0xfff00000) == 0xd5300000) { // mrs
    result.flow = Flow::next;
    result.writes = registerBit(word, 0);
    return;
  }
  bool traps = (word & 0xffe00000) == 0xd4200000 ||
               (word & 0xffe00000) == 0xd4400000; // brk, hlt
  result.flow = traps ? Flow::stop : Flow::next;
  result.writes = allRegisters; // svc, msr, sys
}

static uint32_t memoryWrites(uint32_t word) {
  bool vector = word >> 26 & 1;
  uint32_t data = vector ? 0 : registerBit(word, 0);
  uint32_t second = vector ? 0 : registerBit(word, 10);
  uint32_t base = registerBit(word, 5);
  switch (word >> 27 & 7) {
  case 5: { // pairs
    bool load = word >> 22 & 1;
    bool keepsBase = (word >> 23 & 3) == 0 || (word >> 23 & 3) == 2;
    return (load ? data | second : 0) | (keepsBase ? 0 : base);
  }
  case 7: { // one register
    bool load = word >> 22 & 3;
    if (word >> 24 & 1) // unsigned offset
      return load ? data : 0;
    bool atomicOrIndexed = word >> 21 & 1;
    if (!atomicOrIndexed) // unscaled, post-index, unprivileged, pre-index
      return (load ? data : 0) | (word >> 10 & 1 ? base : 0);
    if ((word >> 10 & 3) == 2) // register offset
      return load ? data : 0;
    return data | base; // atomics: data receives the old value
  }
  case 3: // literals; the rest of this group is tags and copies
    return (word & 0x3b000000) == 0x18000000 ? data : allRegisters;
  default: // exclusives, acquire and release, vector structures
    if (vector)
      return base;
    return data | second | registerBit(word, 16);
  }
}

/// Finds `mov r, #0`, `mov r, zero register` and `mov r, s`.
static void setMoves(uint32_t word, Instruction &result) {
  uint32_t target = word & 31;
  if (target == 31)
    return;
  bool movzZero = (word & 0x7f9fffe0) == 0x52800000;
  bool orrZero = (word & 0x7fffffe0) == 0x2a1f03e0;
  if (movzZero || orrZero) {
    result.zeroes = 1U << target;
  } else if ((word & 0x7fe0ffe0) == 0x2a0003e0) {
    result.copyTo = int8_t(target);
    result.copyFrom = int8_t(word >> 16 & 31);
  }
}

/// Whether a vector or floating-point instruction may write a general register:
/// conversions, fmov, umov and smov.
static bool vectorWritesGeneral(uint32_t word) {
  return (word & 0x7f000000) == 0x1e000000 ||
         (word & 0xbfe0fc00) == 0x0e003c00 || (word & 0xbfe0fc00) == 0x0e002c00;
}

Instruction mpg::decodeAArch64(uint32_t word, uint64_t address) {
  Instruction result;
  result.address = address;
  result.bytes = 4;
  result.flow = Flow::next;
  switch (word >> 25 & 15) {
  case 8: // data processing with an immediate
  case 9:
  case 5: // and with registers
  case 13:
    result.writes = registerBit(word, 0);
    // add of registers, shifted or extended
    result.indexes = (word & 0x7f000000) == 0x0b000000;
    setMoves(word, result);
    break;
  case 10:
  case 11:
    decodeBranch(word, result);
    break;
  case 4:
  case 6:
  case 12:
  case 14:
    result.writes = memoryWrites(word);
    result.indexes = (word & 0x3b200c00) == 0x38200800; // register offset
    break;
  case 7:
  case 15:
    result.writes = vectorWritesGeneral(word) ? registerBit(word, 0) : 0;
    break;
  case 0: // udf 0 to 65535, and SME
    result.flow = word >> 16 == 0 ? Flow::stop : Flow::next;
    result.writes = allRegisters;
    break;
  default: // SVE and unallocated
    result.writes = allRegisters;
    break;
  }
  return result;
}
