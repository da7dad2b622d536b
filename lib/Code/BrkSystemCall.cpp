// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds system call instructions, and of these the ones whose number is loaded
// in the same straight line of code and is that of brk. The instruction is
// searched for as bytes; only what stands just before one is decoded.
//
// A number that comes from elsewhere is not found: code that loads it far away
// is rare, and a wrapper such as syscall() is called with it, which is not a
// matter of the instruction.

#include "Code/MachineCode.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

namespace {

/// Where the number is loaded, at most so far in front of the call.
constexpr uint64_t windowBytes = 64;

/// x86-64: 12 in eax, then `syscall`.
class X86Brk {
public:
  static constexpr size_t stepBytes = 1;

  static const uint8_t *nextCall(const uint8_t *code, const uint8_t *end) {
    // The second byte is the rarer one.
    for (++code; code < end; ++code) {
      code = static_cast<const uint8_t *>(std::memchr(code, 5, end - code));
      if (!code)
        break;
      if (code[-1] == 0x0f)
        return code - 1;
    }
    return end;
  }
  static bool loadsNumber(ArrayRef<uint8_t> front);
};

/// AArch64: 214 in x8, then `svc #0`.
class AArch64Brk {
public:
  static constexpr size_t stepBytes = 4;

  static const uint8_t *nextCall(const uint8_t *code, const uint8_t *end);
  static bool loadsNumber(ArrayRef<uint8_t> front);
};

} // namespace

/// Whether \p front, which ends where the call starts, ends with code that
/// loads the number.
bool X86Brk::loadsNumber(ArrayRef<uint8_t> front) {
  static const uint8_t loads[][8] = {{5, 0xb8, 12, 0, 0, 0},
                                     {7, 0x48, 0xc7, 0xc0, 12, 0, 0, 0},
                                     {3, 0x6a, 12, 0x58}}; // push 12; pop rax
  for (size_t start = 0; start < front.size(); ++start) {
    size_t at = start;
    for (const uint8_t *load : loads)
      if (front.size() - start >= load[0] &&
          std::memcmp(front.data() + start, load + 1, load[0]) == 0)
        at = start + load[0];
    if (at == start)
      continue;
    while (at < front.size()) {
      Instruction instruction = decodeX86(front.drop_front(at), 0);
      if (!instruction.valid() || instruction.flow != Flow::next ||
          (instruction.writes & 1))
        break;
      at += instruction.bytes;
    }
    if (at == front.size())
      return true;
  }
  return false;
}

const uint8_t *AArch64Brk::nextCall(const uint8_t *code, const uint8_t *end) {
  for (; end - code >= 4; code += 4)
    if (read32le(code) == 0xd4000001)
      return code;
  return end;
}

bool AArch64Brk::loadsNumber(ArrayRef<uint8_t> front) {
  for (size_t at = front.size(); at >= 4; at -= 4) {
    uint32_t word = read32le(front.data() + at - 4);
    if ((word & 0x7fffffff) == 0x52801ac8) // mov w8, #214 or mov x8, #214
      return true;
    Instruction instruction = decodeAArch64(word, 0);
    if (instruction.flow != Flow::next || (instruction.writes >> 8 & 1))
      return false;
  }
  return false;
}

/// The lowest address of a brk system call in \p piece.
template <typename Brk>
static std::optional<uint64_t> findIn(const CodeMemory &memory,
                                      CodePiece piece) {
  ArrayRef<uint8_t> bytes = piece.bytes;
  size_t at = -piece.address & (Brk::stepBytes - 1);
  for (; at < bytes.size(); at += Brk::stepBytes) {
    at = Brk::nextCall(bytes.begin() + at, bytes.end()) - bytes.begin();
    if (at == bytes.size())
      break;
    // Windows overlap by less than what counts.
    uint8_t buffer[windowBytes];
    uint64_t address = piece.address + at;
    CodePiece more;
    if (at < windowBytes && !piece.startsRange)
      more = memory.around(address - 1, windowBytes - 1, 1, buffer);
    ArrayRef<uint8_t> front = bytes.take_front(at).take_back(windowBytes);
    if (Brk::loadsNumber(more.bytes.empty() ? front : more.bytes))
      return address;
  }
  return std::nullopt;
}

std::optional<uint64_t> mpg::findBrkSystemCall(Machine machine,
                                               ArrayRef<CodeRange> code,
                                               CodeReader read) {
  CodeMemory memory(code, read);
  std::optional<uint64_t> found;
  memory.forEachWindow(CodeMemory::Order::ascending, [&](CodePiece piece) {
    found = machine == Machine::x86_64 ? findIn<X86Brk>(memory, piece)
                                       : findIn<AArch64Brk>(memory, piece);
    return !found;
  });
  return found;
}
