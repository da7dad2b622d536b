// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The encodings are those of the Arm Architecture Reference Manual (DDI 0487),
// C4.1, and of its SVE supplement.

#include "MpgQemu.h"

using M = MemoryInstruction;

static constexpr uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return word >> low & ((2u << (high - low)) - 1);
}

static constexpr uint8_t sveBytes = 64;

/// LD1 and similar contiguous loads: elements in memory may be narrower than
/// those of the register.
static uint8_t bytesOfSveLoad(uint32_t word) {
  // By dtype: log2 of bytes in memory, and in the register.
  static constexpr uint8_t memory[] = {0, 0, 0, 0, 2, 1, 1, 1,
                                       1, 1, 2, 2, 0, 0, 0, 3};
  static constexpr uint8_t element[] = {0, 1, 2, 3, 3, 1, 2, 3,
                                        3, 2, 2, 3, 3, 2, 1, 3};
  uint32_t type = bits(word, 24, 21);
  return uint8_t(sveBytes >> (element[type] - memory[type]));
}

static M sveInstruction(uint32_t word) {
  uint32_t form = bits(word, 15, 13);
  switch (bits(word, 31, 29)) {
  case 4: { // LDR, broadcasts, prefetches, 32-bit gathers
    uint32_t kind = bits(word, 24, 22);
    if (kind == 6 && form == 2)
      return {M::wide, sveBytes, false, false, true};
    bool isBroadcast = (kind & 1) && form >= 4;
    bool isGather = !isBroadcast && kind < 6;
    return {isGather ? M::gathers : M::any, 8, false, false, true};
  }
  case 5: // contiguous loads
    if (form == 2 || form == 3 || form == 5)
      return {M::wide, bytesOfSveLoad(word), false, false, true};
    if (form == 0 || form == 1) // LD1RQ
      return {M::wide, 16, false, false, true};
    return {M::wide, sveBytes, false, false, true};
  case 6: // 64-bit gathers
    return {M::gathers, 0, false, false, true};
  case 7: { // stores
    bool isScatter = form == 4 || form == 5 || form == 6;
    if (isScatter || form == 0)
      return {isScatter ? M::gathers : M::any, 8, true, false, true};
    bool isStr = form == 2 && bits(word, 24, 22) == 6;
    bool isSt1 = form == 2 || (form == 7 && !bits(word, 20, 20));
    uint32_t memory = bits(word, 24, 23), element = bits(word, 22, 21);
    if (isSt1 && !isStr && element > memory)
      return {M::wide, uint8_t(sveBytes >> (element - memory)), true, false,
              true};
    return {M::wide, sveBytes, true, false, true};
  }
  default: // no access
    return {M::none, 0, false, false, true};
  }
}

static M singleRegister(uint32_t word) {
  bool isVector = bits(word, 26, 26);
  uint32_t size = bits(word, 31, 30);
  // Of general registers two kinds of loads extend the sign.
  bool stores = !bits(word, 22, 22) && (isVector || !bits(word, 23, 23));
  if (isVector && bits(word, 23, 23) && size == 0)
    return {M::wide, 16, stores};
  bool isAtomic = !isVector && !bits(word, 24, 24) && bits(word, 21, 21) &&
                  bits(word, 11, 10) == 0;
  if (isAtomic)
    return {M::any, 8};
  return {M::plain, uint8_t(1u << size), stores};
}

static M literal(uint32_t word) {
  uint32_t size = bits(word, 31, 30);
  if (bits(word, 26, 26) && size == 2)
    return {M::wide, 16};
  return {M::plain, uint8_t(size == 1 ? 8 : 4)};
}

M decodeMemoryInstruction(uint32_t word) {
  if ((word & 0xffffffe0) == 0xd50b7420)
    return {M::zeroes, 64};
  if (bits(word, 28, 25) == 2)
    return sveInstruction(word);
  // Loads and stores: bits 27 and 25.
  if (!bits(word, 27, 27) || bits(word, 25, 25))
    return {};
  bool stores = !bits(word, 22, 22);
  switch (bits(word, 29, 28)) {
  case 0:
    if (!bits(word, 26, 26)) // exclusive, ordered, compare and swap
      return {M::any, 8};
    if (bits(word, 31, 31))
      return {};
    if (bits(word, 24, 24)) // LD1 and others of one lane
      return {M::any, 8};
    return {M::wide, uint8_t(bits(word, 30, 30) ? 16 : 8), stores};
  case 1:
    if (!bits(word, 24, 24))
      return literal(word);
    return {M::any, 8}; // LDAPUR and tags of memory
  case 2:               // pairs
    if (bits(word, 26, 26) && bits(word, 31, 30) == 2)
      return {M::wide, 16, stores, true};
    return {M::any, uint8_t(bits(word, 31, 31) || bits(word, 26, 26) ? 8 : 4)};
  default:
    return singleRegister(word);
  }
}

/// \p count bits of \p word from \p low on, as a number of instructions.
static uint64_t distance(uint32_t word, unsigned low, unsigned count) {
  int64_t value = int64_t(uint64_t(word) << (64 - low - count));
  return uint64_t(value >> (64 - count)) * 4;
}

uint64_t decodeBranchTarget(uint32_t word, uint64_t address) {
  if (bits(word, 31, 26) == 5) // B
    return address + distance(word, 0, 26);
  if (bits(word, 31, 24) == 0x54 || bits(word, 30, 25) == 0x1a) // B.cond, CBZ
    return address + distance(word, 5, 19);
  if (bits(word, 30, 25) == 0x1b) // TBZ
    return address + distance(word, 5, 14);
  return address;
}
