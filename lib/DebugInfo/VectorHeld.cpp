// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReturnedValue.h.

#include "DebugInfo/ReturnedValue.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

namespace {
struct VectorCode {
  unsigned prefix;   ///< 0: none; 1: 66, 2: f3, 3: f2
  unsigned map;      ///< 1: 0f, 2: 0f 38, 3: 0f 3a
  unsigned code;     ///< in it
  bool isWide;       ///< REX.W
  unsigned to, from; ///< registers; from is that of a VEX prefix, else to
  unsigned base;     ///< a register, or with bit 3 that of the memory
  bool isInMemory;
  size_t operand; ///< the byte with to and base
};

/// Bits of a prefix that number registers from 8 on.
struct HighBits {
  unsigned to = 0, base = 0;
};
} // namespace

/// After the prefixes: sets what \p result takes from the byte with the
/// operands, at \p at.
static bool readOperands(ArrayRef<uint8_t> code, size_t at, HighBits high,
                         VectorCode &result) {
  if (at >= code.size())
    return false;
  uint8_t operands = code[at];
  result.to = (operands >> 3 & 7) | high.to << 3;
  result.base = (operands & 7) | high.base << 3;
  result.isInMemory = operands >> 6 != 3;
  result.operand = at;
  return true;
}

static std::optional<VectorCode> decodeVex(ArrayRef<uint8_t> code) {
  bool isShort = code[0] == 0xc5;
  if (code.size() < 5)
    return std::nullopt;
  uint8_t last = code[isShort ? 1 : 2];
  HighBits high = {!(code[1] & 0x80), !isShort && !(code[1] & 0x20)};
  VectorCode result = {};
  result.prefix = last & 3;
  result.map = isShort ? 1 : code[1] & 31;
  result.isWide = !isShort && last >> 7;
  size_t at = isShort ? 2 : 3;
  result.code = code[at];
  if (!readOperands(code, at + 1, high, result))
    return std::nullopt;
  result.from = ~(last >> 3) & 15;
  return result;
}

static std::optional<VectorCode> decodeVector(ArrayRef<uint8_t> code) {
  if (code.empty())
    return std::nullopt;
  if (code[0] == 0xc5 || code[0] == 0xc4)
    return decodeVex(code);
  VectorCode result = {};
  HighBits high;
  size_t at = 0;
  auto next = [&] { return at < code.size() ? code[at] : 0; };
  switch (code[0]) {
  case 0x66:
    result.prefix = 1;
    break;
  case 0xf3:
    result.prefix = 2;
    break;
  case 0xf2:
    result.prefix = 3;
    break;
  }
  at += result.prefix != 0;
  if ((next() & 0xf0) == 0x40) {
    high = {unsigned(next() >> 2 & 1), unsigned(next() & 1)};
    result.isWide = next() >> 3 & 1;
    ++at;
  }
  if (next() != 0x0f)
    return std::nullopt;
  ++at;
  result.map = next() == 0x38 ? 2 : next() == 0x3a ? 3 : 1;
  at += result.map != 1;
  result.code = next();
  if (!readOperands(code, at + 1, high, result))
    return std::nullopt;
  result.from = result.to;
  return result;
}

/// Bytes of a vector that \p one stores, 8 or 16, from the half \p first on; 0:
/// it stores none.
static unsigned getStored(const VectorCode &one, unsigned &first) {
  first = one.code == 0x17;
  if (one.map != 1 || !one.isInMemory)
    return 0;
  switch (one.code) {
  case 0x11: // movups, movupd; else scalars
    return one.prefix < 2 ? 16 : one.prefix == 3 ? 8 : 0;
  case 0x29: // movaps, movapd
    return 16;
  case 0x7f: // movdqa, movdqu
    return one.prefix ? 16 : 0;
  case 0x13: // movlps
  case 0x17: // movhps
    return 8;
  case 0xd6: // movq
    return one.prefix == 1 ? 8 : 0;
  }
  return 0;
}

/// General registers by DWARF's numbers.
static bool isHeld(uint32_t held, unsigned number) {
  static constexpr uint8_t first[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return held >> (number < 8 ? first[number] : number) & 1;
}

std::optional<VectorHeld::Store> VectorHeld::step(ArrayRef<uint8_t> code,
                                                  uint32_t held) {
  std::optional<VectorCode> one = decodeVector(code);
  if (!one)
    return std::nullopt;
  uint8_t &to = halves[one->to];
  unsigned first;
  if (unsigned bytes = getStored(*one, first)) {
    unsigned stored = to >> first & (bytes == 16 ? 3 : 1);
    if (!stored)
      return std::nullopt;
    return Store{one->operand, one->base >= 8, stored & 1 ? 0 : 8};
  }
  unsigned lower = halves[one->from] & 1;
  unsigned other = one->isInMemory ? 0 : halves[one->base];
  unsigned operation = one->map << 8 | one->code;
  if (operation == 0x16e && one->isWide && !one->isInMemory) // movq
    to = isHeld(held, one->base);
  else if (operation == 0x16c || operation == 0x116) // punpcklqdq, movhps
    to = uint8_t(lower | (other & 1) << 1);
  else if (operation == 0x322 && one->isWide && !one->isInMemory && // pinsrq
           code.size() > one->operand + 1) {
    unsigned half = code[one->operand + 1] & 1;
    to = uint8_t((halves[one->from] & ~(1U << half)) |
                 unsigned(isHeld(held, one->base)) << half);
  } else if (operation == 0x128 || operation == 0x16f || operation == 0x110) {
    to = uint8_t(other); // movaps, movdqa, movups
  } else if (one->map != 1 || (one->code & 0xf0) != 0x80) { // no jump
    to = 0;
  }
  return std::nullopt;
}

bool VectorHeld::any() const {
  return any_of(halves, [](uint8_t one) { return one != 0; });
}
