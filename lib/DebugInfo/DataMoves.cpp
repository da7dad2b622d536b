// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReturnedValue.h. Covers what compilers emit for pointers; another
// instruction has no effect here, and its registers are in Instruction::writes.

#include "DebugInfo/ReturnedValue.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

static constexpr Convention x86 = {true, 7, 6, 5, 8, 1 << 3 | 1 << 6 | 0xf000,
                                   0x336};
static constexpr Convention aarch64 = {false, 31, 29, 0, 0, 0x3ff80000, 0xff};

const Convention *mpg::findConvention(Machine machine) {
  return machine == Machine::x86_64    ? &x86
         : machine == Machine::aarch64 ? &aarch64
                                       : nullptr;
}

/// DWARF's number of a register of x86-64, which Instruction counts otherwise.
static int getDwarfNumber(int number) {
  static constexpr int8_t first[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return number >= 0 && number < 8 ? first[number] : number;
}

static uint32_t getDwarfMask(uint32_t registers) {
  uint32_t mask = 0;
  for (int number = 0; number < 32; ++number)
    mask |= (registers >> number & 1) << getDwarfNumber(number);
  return mask;
}

Instruction mpg::decodeNext(const Convention &machine, ArrayRef<uint8_t> code,
                            uint64_t address) {
  if (!machine.isX86)
    return code.size() < 4 ? Instruction()
                           : decodeAArch64(read32le(code.data()), address);
  Instruction next = decodeX86(code, address);
  if (next.writes != allRegisters)
    next.writes = getDwarfMask(next.writes);
  next.copyTo = int8_t(getDwarfNumber(next.copyTo));
  next.copyFrom = int8_t(getDwarfNumber(next.copyFrom));
  return next;
}

// x86-64

std::optional<Move> mpg::decodeMemoryX86(ArrayRef<uint8_t> operand,
                                         bool hasHighBase, bool isRelative) {
  unsigned mode = operand[0] >> 6;
  Move move = {false, -1,
               getDwarfNumber((operand[0] & 7) | unsigned(hasHighBase) << 3), 0,
               isRelative};
  size_t at = 1;
  if ((operand[0] & 7) == 4) { // a second byte: rsp or r12 without an index
    if (operand.size() < 2 || (operand[1] & 0x3f) != 0x24)
      return std::nullopt;
    ++at;
  }
  if (mode == 1 && operand.size() > at)
    move.offset = SignExtend64<8>(operand[at]);
  else if (mode == 2 && operand.size() >= at + 4)
    move.offset = SignExtend64<32>(read32le(&operand[at]));
  return move;
}

/// mov with REX.W, 89 or 8b, or lea, 8d, as if it loaded from its address.
static std::optional<Move> decodeMoveX86(ArrayRef<uint8_t> code,
                                         bool isRelative) {
  if (code.size() < 3 || (code[0] & 0xf8) != 0x48 ||
      (code[1] != 0x89 && code[1] != 0x8b && code[1] != 0x8d) ||
      code[2] >> 6 == 3)
    return std::nullopt;
  std::optional<Move> move =
      decodeMemoryX86(code.drop_front(2), code[0] & 1, isRelative);
  if (move) {
    move->isLoad = code[1] != 0x89;
    move->value = getDwarfNumber((code[2] >> 3 & 7) | (code[0] & 4) << 1);
  }
  return move;
}

/// lea, or add of a constant, with REX.W.
static std::optional<Move> decodeSumX86(ArrayRef<uint8_t> code,
                                        bool isRelative) {
  if (code.size() < 4 || (code[0] & 0xf8) != 0x48)
    return std::nullopt;
  if (code[1] == 0x8d)
    return decodeMoveX86(code, isRelative);
  if ((code[1] != 0x83 && code[1] != 0x81) || (code[2] & 0xf8) != 0xc0)
    return std::nullopt;
  int to = getDwarfNumber((code[2] & 7) | (code[0] & 1) << 3);
  if (code[1] == 0x83)
    return Move{true, to, to, SignExtend64<8>(code[3]), false};
  if (code.size() < 7)
    return std::nullopt;
  return Move{true, to, to, SignExtend64<32>(read32le(&code[3])), false};
}

/// push, or sub of a constant from rsp.
static int64_t countPushedX86(ArrayRef<uint8_t> code) {
  ArrayRef<uint8_t> push = code.drop_front((code[0] & 0xf0) == 0x40);
  if (!push.empty() && (push[0] & 0xf8) == 0x50)
    return 8;
  if (code.size() < 7 || code[0] != 0x48 || code[2] != 0xec)
    return 0;
  return code[1] == 0x83   ? SignExtend64<8>(code[3])
         : code[1] == 0x81 ? SignExtend64<32>(read32le(&code[3]))
                           : 0;
}

static DataEffect decodeEffectX86(ArrayRef<uint8_t> code,
                                  const Instruction &next) {
  DataEffect effect;
  effect.sum = decodeSumX86(code, next.memory != 0);
  if (!effect.sum)
    effect.move = decodeMoveX86(code, next.memory != 0);
  if ((code[0] & 0xf8) == 0xb8 && code.size() > 4) // mov: below 4 GiB
    effect.constant = {getDwarfNumber(code[0] & 7), read32le(&code[1])};
  effect.pushed = countPushedX86(code);
  if (next.copyTo == x86.frame && next.copyFrom == x86.stack)
    effect.frame = 0;
  return effect;
}

// AArch64

/// The constant of 12 bits of an add or sub.
static int64_t getImmediate(uint32_t word) {
  return int64_t(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
}

/// add with a constant of 12 bits.
static std::optional<Move> decodeSumAArch64(uint32_t word) {
  if ((word & 0xff800000) != 0x91000000)
    return std::nullopt;
  return Move{true, int(word & 31), int(word >> 5 & 31), getImmediate(word),
              false};
}

/// The bytes that a load or store adds to its base: "ldp x8, x9, [x0, #16]!".
static std::optional<Move> decodeWriteBack(uint32_t word) {
  int base = word >> 5 & 31;
  if ((word & 0xffa00400) == 0xf8000400)
    return Move{true, base, base, SignExtend64<9>(word >> 12 & 0x1ff), false};
  if ((word & 0xfe800000) == 0xa8800000)
    return Move{true, base, base, SignExtend64<7>(word >> 15 & 0x7f) * 8,
                false};
  return std::nullopt;
}

/// ldr, ldur, ldp and the stores like them. Of a pair the register in \p held.
static std::optional<Move> decodeMoveAArch64(uint32_t word, uint32_t held) {
  int value = word & 31, base = word >> 5 & 31;
  bool isPost = false;
  int64_t offset;
  bool isLoad = word >> 22 & 1;
  if ((word & 0xff800000) == 0xf9000000) {
    offset = int64_t(word >> 10 & 0xfff) * 8;
  } else if ((word & 0xffa00000) == 0xf8000000) {
    isPost = (word >> 10 & 3) == 1;
    offset = SignExtend64<9>(word >> 12 & 0x1ff);
  } else if ((word & 0xfe000000) == 0xa8000000) {
    isPost = (word >> 23 & 3) == 1;
    offset = SignExtend64<7>(word >> 15 & 0x7f) * 8;
    if (!(held >> value & 1)) {
      value = word >> 10 & 31;
      offset += 8;
    }
  } else {
    return std::nullopt;
  }
  return Move{isLoad, value, base, isPost ? 0 : offset, false};
}

static int64_t countPushedAArch64(uint32_t word) {
  if ((word & 0xff8003ff) == 0xd10003ff) // sub sp, sp
    return getImmediate(word);
  if ((word & 0x3f8003e0) == 0x298003e0) // stp [sp, #-n]!
    return -SignExtend64<7>(word >> 15 & 0x7f) * 8;
  if ((word & 0x3fe00fe0) == 0x38000fe0) // str [sp, #-n]!
    return -SignExtend64<9>(word >> 12 & 0x1ff);
  return 0;
}

/// The page that adrp, at \p address, computes.
static uint64_t getPage(uint32_t word, uint64_t address) {
  constexpr uint64_t pageMask = 4095;
  uint64_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
  return (address & ~pageMask) + (uint64_t(SignExtend64<21>(pages)) << 12);
}

static DataEffect decodeEffectAArch64(uint32_t word, uint64_t address,
                                      uint32_t held) {
  DataEffect effect;
  effect.sum = decodeSumAArch64(word);
  if (!effect.sum)
    effect.move = decodeMoveAArch64(word, held);
  effect.writeBack = decodeWriteBack(word);
  if ((word & 0x9f000000) == 0x90000000) // adrp
    effect.constant = {int(word & 31), getPage(word, address)};
  effect.pushed = countPushedAArch64(word);
  if ((word & 0xffc003ff) == 0x910003fd) // add x29, sp
    effect.frame = getImmediate(word);
  return effect;
}

DataEffect mpg::decodeEffect(const Convention &machine, ArrayRef<uint8_t> code,
                             const Instruction &next, uint32_t held) {
  return machine.isX86
             ? decodeEffectX86(code, next)
             : decodeEffectAArch64(read32le(code.data()), next.address, held);
}

bool mpg::isPadding(const Convention &machine, ArrayRef<uint8_t> code) {
  if (!machine.isX86)
    return code.size() >= 4 && read32le(code.data()) == 0xd503201f;
  code = code.drop_while(
      [](uint8_t byte) { return byte == 0x66 || byte == 0x2e; });
  return code.size() >= 2 &&
         (code[0] == 0x90 || (code[0] == 0x0f && code[1] == 0x1f));
}
