// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Length and effect of one x86-64 instruction, from four tables of one letter
// per opcode: which operand bytes follow, and which general registers are
// written. The tables are those of the opcode maps in the processor manuals
// (Intel SDM volume 2, appendix A), read row by row.
//
// Instructions that compilers do not emit are marked as writing everything.

#include "Code/MachineCode.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;
using support::endian::read64le;

// The bytes after the opcode:
//   .  nothing              m  ModRM              M  ModRM, 1 byte
//   b  1 byte               w  2 bytes            Z  ModRM, 4 bytes (2)
//   z  4 bytes (2 with 66)  v  4 bytes (2, or 8)  G  ModRM, imm if /0 or /1
//   j  rel8                 J  rel32              o  an address of 8 bytes (4)
//   e  3 bytes              x  invalid, or a prefix that is read before
static const char oneByteForms[] = "mmmmbzxxmmmmbzxx"  // 00
                                   "mmmmbzxxmmmmbzxx"  // 10
                                   "mmmmbzxxmmmmbzxx"  // 20
                                   "mmmmbzxxmmmmbzxx"  // 30
                                   "xxxxxxxxxxxxxxxx"  // 40
                                   "................"  // 50
                                   "xxxmxxxxzZbM...."  // 60
                                   "jjjjjjjjjjjjjjjj"  // 70
                                   "MZxMmmmmmmmmmmmm"  // 80
                                   "..........x....."  // 90
                                   "oooo....bz......"  // a0
                                   "bbbbbbbbvvvvvvvv"  // b0
                                   "MMw.xxMZe.w..bx."  // c0
                                   "mmmmxxx.mmmmmmmm"  // d0
                                   "jjjjbbbbJJxj...."  // e0
                                   "x.xx..GG......mm"; // f0
static const char twoByteForms[] = "mmmmx.....x.xm.x"  // 00
                                   "mmmmmmmmmmmmmmmm"  // 10
                                   "mmmmxxxxmmmmmmmm"  // 20
                                   "......x.xxxxxxxx"  // 30
                                   "mmmmmmmmmmmmmmmm"  // 40
                                   "mmmmmmmmmmmmmmmm"  // 50
                                   "mmmmmmmmmmmmmmmm"  // 60
                                   "MMMMmmm.mmxxmmmm"  // 70
                                   "JJJJJJJJJJJJJJJJ"  // 80
                                   "mmmmmmmmmmmmmmmm"  // 90
                                   "...mMmxx...mMmmm"  // a0
                                   "mmmmmmmmmmMmmmmm"  // b0
                                   "mmMmMMMm........"  // c0
                                   "mmmmmmmmmmmmmmmm"  // d0
                                   "mmmmmmmmmmmmmmmm"  // e0
                                   "mmmmmmmmmmmmmmmm"; // f0

// Which registers are written:
//   -  none        R  the one in ModRM.reg      a  rax    1  opcode bits 0-2
//   A  any         E  the one in ModRM.rm       d  rdx    X  that one and rax
//                  B  both of these             b  rbp    g  see writesOfGroup
static const char oneByteWrites[] = "EERRaa--EERRaa--"  // 00
                                    "EERRaa--EERRaa--"  // 10
                                    "EERRaa--EERRaa--"  // 20
                                    "EERRaa----------"  // 30
                                    "----------------"  // 40
                                    "--------11111111"  // 50
                                    "---R-----R-RAAAA"  // 60
                                    "----------------"  // 70
                                    "gg-g--BBEERRER-E"  // 80
                                    "XXXXXXXXad-----a"  // 90
                                    "aa--AAAA--AAAAAA"  // a0
                                    "1111111111111111"  // b0
                                    "EE----EEAb---A--"  // c0
                                    "EEEE---a-------a"  // d0
                                    "AAA-aa------aa--"  // e0
                                    "-A----gg------gg"; // f0
static const char twoByteWrites[] = "EARRAAAAAA-A--AA"  // 00
                                    "--------------E-"  // 10
                                    "AAAA--------RR--"  // 20
                                    "AAAAAAAAAAAAAAAA"  // 30
                                    "RRRRRRRRRRRRRRRR"  // 40
                                    "R---------------"  // 50
                                    "----------------"  // 60
                                    "--------AAAA--E-"  // 70
                                    "----------------"  // 80
                                    "EEEEEEEEEEEEEEEE"  // 90
                                    "-AA-EEAA-AAEEEER"  // a0
                                    "AARERRRRRAEERRRR"  // b0
                                    "BB---R-A11111111"  // c0
                                    "-------R--------"  // d0
                                    "----------------"  // e0
                                    "---------------A"; // f0
static_assert(sizeof oneByteForms == 257 && sizeof twoByteForms == 257 &&
                  sizeof oneByteWrites == 257 && sizeof twoByteWrites == 257,
              "one letter per opcode");

namespace {

/// Reads one instruction from front to back.
class Decoder {
public:
  Decoder(ArrayRef<uint8_t> code, uint64_t address) : code(code) {
    result.address = address;
  }
  Instruction decode();

private:
  ArrayRef<uint8_t> code;
  Instruction result;
  size_t at = 0; // never beyond code.size() while ok
  bool ok = true;
  bool operand16 = false, address32 = false, repeat = false;
  bool isTwoByte = false;
  uint8_t rex = 0;
  uint8_t opcode = 0;
  bool hasModRm = false, ripRelative = false, hasIndex = false;
  int32_t displacement = 0;
  uint8_t modRm = 0;
  uint64_t immediate = 0;

  uint8_t next();
  void skip(size_t bytes);
  void readPrefixes();
  void readModRm();
  void readImmediate(size_t bytes);
  void readOperands(char form);
  void decodeOneByte();
  void decodeTwoByte();
  void decodeVex(uint8_t escape);
  void decodeEvex();
  void setBranch(char form);
  void setMoves();
  bool mayTakeBytes(char letter) const;
  uint32_t decodeWrites(char letter) const;
  char writesOfGroup() const;

  unsigned mod() const { return modRm >> 6; }
  unsigned reg() const { return (modRm >> 3 & 7) | (rex & 4) << 1; }
  unsigned rm() const { return (modRm & 7) | (rex & 1) << 3; }
  unsigned low() const { return (opcode & 7) | (rex & 1) << 3; }
};

} // namespace

uint8_t Decoder::next() {
  // An instruction has at most 15 bytes.
  if (at >= code.size() || at >= 15) {
    ok = false;
    return 0;
  }
  return code[at++];
}

void Decoder::skip(size_t bytes) {
  if (at + bytes > code.size() || at + bytes > 15)
    ok = false;
  else
    at += bytes;
}

void Decoder::readPrefixes() {
  while (ok) {
    uint8_t byte = next();
    // A REX prefix counts only directly before the opcode.
    if ((byte & 0xf0) == 0x40) {
      rex = byte;
      continue;
    }
    bool segment = byte == 0x26 || byte == 0x2e || byte == 0x36 ||
                   byte == 0x3e || byte == 0x64 || byte == 0x65;
    bool repeated = byte == 0xf2 || byte == 0xf3;
    if (!segment && !repeated && byte != 0x66 && byte != 0x67 && byte != 0xf0) {
      opcode = byte;
      return;
    }
    operand16 |= byte == 0x66;
    address32 |= byte == 0x67;
    repeat |= byte == 0xf3;
    rex = 0;
  }
}

void Decoder::readModRm() {
  hasModRm = true;
  modRm = next();
  if (mod() == 3)
    return;
  unsigned base = modRm & 7;
  if (base == 4) {
    uint8_t sib = next();
    base = sib & 7; // 5 means the same as rm 5
    hasIndex = (sib & 0x38) != 0x20 || (rex & 2);
  }
  ripRelative = mod() == 0 && (modRm & 7) == 5;
  if (mod() == 1)
    return skip(1);
  if (mod() != 2 && base != 5)
    return;
  skip(4);
  if (ok)
    displacement = int32_t(read32le(code.data() + at - 4));
}

void Decoder::readImmediate(size_t bytes) {
  const uint8_t *field = code.data() + at;
  skip(bytes);
  if (!ok)
    return;
  if (bytes == 8)
    immediate = read64le(field);
  else if (bytes == 4)
    immediate = read32le(field);
  else if (bytes == 1)
    immediate = *field;
}

void Decoder::readOperands(char form) {
  size_t word = operand16 && !(rex & 8) ? 2 : 4;
  if (std::strchr("mMZG", form))
    readModRm();
  switch (form) {
  case '.':
  case 'm':
    return;
  case 'b':
  case 'M':
  case 'j':
    return readImmediate(1);
  case 'w':
    return skip(2);
  case 'e':
    return skip(3);
  case 'z':
  case 'Z':
    return readImmediate(word);
  case 'v':
    return readImmediate(rex & 8 ? 8 : word);
  case 'J':
    return readImmediate(4);
  case 'o':
    return skip(address32 ? 4 : 8);
  case 'G':
    if ((modRm & 0x30) == 0)
      skip(opcode & 1 ? word : 1);
    return;
  default:
    ok = false;
  }
}

/// The letter for the opcodes whose meaning is in ModRM.reg.
char Decoder::writesOfGroup() const {
  unsigned operation = modRm >> 3 & 7;
  if (opcode == 0xff || opcode == 0xfe) // inc, dec; else call, jmp, push
    return operation < 2 ? 'E' : '-';
  if (opcode < 0x84)
    return operation == 7 ? '-' : 'E'; // 7 is cmp
  if (operation < 2)
    return '-';                     // test
  return operation < 4 ? 'E' : 'd'; // not, neg; else mul, div
}

/// Opcodes of one byte that are odd, and mov of four bytes, never do. Others
/// are not looked up.
bool Decoder::mayTakeBytes(char letter) const {
  if (isTwoByte)
    return true;
  return letter == '1' ? opcode >> 3 == 0xb0 >> 3 : !(opcode & 1);
}

uint32_t Decoder::decodeWrites(char letter) const {
  if (letter == 'g')
    letter = writesOfGroup();
  uint32_t mask = 0;
  if ((letter == 'E' || letter == 'B') && mod() == 3)
    mask |= 1U << rm();
  if (letter == 'R' || letter == 'B')
    mask |= 1U << reg();
  if (letter == '1' || letter == 'X')
    mask |= 1U << low();
  if (letter == 'a' || letter == 'X' || letter == 'd')
    mask |= 1U << 0;
  if (letter == 'd')
    mask |= 1U << 2;
  if (letter == 'b')
    mask |= 1U << 5;
  // Without REX, the byte registers 4 to 7 are the second bytes of 0 to 3.
  // Where the opcode may take bytes both are called written.
  if (letter != 'b' && !rex && mayTakeBytes(letter))
    mask |= mask >> 4 & 0xf;
  return letter == 'A' ? allRegisters : mask;
}

void Decoder::setBranch(char form) {
  int64_t offset =
      form == 'j' ? int64_t(int8_t(immediate)) : int64_t(int32_t(immediate));
  result.target = result.address + at + offset;
}

/// Finds `xor r, r`, `mov r, 0` and `mov r, s`.
void Decoder::setMoves() {
  // 16-bit forms keep the rest of the register.
  if (operand16)
    return;
  bool registers = hasModRm && mod() == 3;
  bool clears =
      opcode == 0x31 || opcode == 0x33 || opcode == 0x29 || opcode == 0x2b;
  if (registers && clears && reg() == rm())
    result.zeroes = 1U << rm();
  if (opcode >= 0xb8 && opcode <= 0xbf && immediate == 0)
    result.zeroes = 1U << low();
  if (opcode == 0xc7 && registers && immediate == 0)
    result.zeroes = 1U << rm();
  result.indexes = registers && (opcode == 0x01 || opcode == 0x03);
  if ((opcode == 0x89 || opcode == 0x8b) && registers) {
    result.copyTo = int8_t(opcode == 0x89 ? rm() : reg());
    result.copyFrom = int8_t(opcode == 0x89 ? reg() : rm());
  }
}

void Decoder::decodeOneByte() {
  char form = oneByteForms[opcode];
  readOperands(form);
  if (!ok)
    return;
  result.writes = decodeWrites(oneByteWrites[opcode]);
  if (opcode == 0x90 && !(rex & 1))
    result.writes = 0; // nop, pause
  unsigned operation = modRm >> 3 & 7;
  if (form == 'j' || form == 'J') {
    setBranch(form);
    result.flow = opcode == 0xe8                     ? Flow::call
                  : opcode == 0xe9 || opcode == 0xeb ? Flow::jump
                                                     : Flow::branch;
  } else if (opcode == 0xff && operation >= 2 && operation <= 5) {
    result.flow = operation < 4 ? Flow::call : Flow::jump;
    result.indexes = hasIndex;
    if (mod() == 3)
      result.copyFrom = int8_t(rm());
  } else if ((opcode == 0xff && operation == 7) ||
             (opcode == 0x8f && operation != 0)) {
    ok = false; // the second is AMD's XOP prefix
  } else if (opcode == 0xc2 || opcode == 0xc3 || opcode == 0xca ||
             opcode == 0xcb || opcode == 0xcc || opcode == 0xcf ||
             opcode == 0xf1 || opcode == 0xf4) {
    result.flow = Flow::stop;
  } else if (opcode == 0xc7 && operation == 7) {
    result.writes = allRegisters; // xbegin, the only other branch
  } else {
    setMoves();
  }
}

void Decoder::decodeTwoByte() {
  isTwoByte = true;
  opcode = next();
  if (opcode == 0x38 || opcode == 0x3a) {
    bool hasByte = opcode == 0x3a;
    opcode = next();
    readOperands(hasByte ? 'M' : 'm');
    // Vector instructions, but for pextr* (3a 14 to 17) and movbe, crc32, adx.
    bool general = hasByte ? opcode >= 0x14 && opcode <= 0x17 : opcode >= 0xf0;
    result.writes = general ? allRegisters : 0;
    return;
  }
  char form = twoByteForms[opcode];
  readOperands(form);
  if (!ok)
    return;
  result.writes = decodeWrites(twoByteWrites[opcode]);
  if (form == 'J') {
    setBranch(form);
    result.flow = Flow::branch;
  } else if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff) {
    result.flow = Flow::stop; // ud2, ud1, ud0
  } else if (opcode == 0x1e && repeat && (modRm == 0xfa || modRm == 0xfb)) {
    result.flow = Flow::entry; // endbr64, endbr32
    result.writes = 0;
  }
}

/// Whether an opcode of the VEX and EVEX maps 1 to 3 has a byte after ModRM.
static bool hasVectorImmediate(unsigned map, uint8_t opcode) {
  if (map == 1)
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
           (opcode >= 0xc4 && opcode <= 0xc6);
  return map == 3;
}

/// Whether it may write a general register.
static bool writesGeneral(unsigned map, uint8_t opcode) {
  if (map == 1)
    return opcode == 0x2c || opcode == 0x2d || opcode == 0x50 ||
           opcode == 0x78 || opcode == 0x79 || opcode == 0x7e ||
           opcode == 0x93 || opcode == 0xc5 || opcode == 0xd7;
  if (map == 2)
    return opcode >= 0xf0;
  if (map == 3)
    return opcode >= 0xf0 || (opcode >= 0x14 && opcode <= 0x17);
  return true;
}

void Decoder::decodeVex(uint8_t escape) {
  unsigned map = 1;
  if (escape == 0xc4) {
    map = next() & 0x1f;
    next();
  } else {
    next();
  }
  opcode = next();
  if (map == 0 || map > 3)
    ok = false;
  bool bare = map == 1 && opcode == 0x77; // vzeroupper, vzeroall
  readOperands(bare ? '.' : hasVectorImmediate(map, opcode) ? 'M' : 'm');
  result.writes = writesGeneral(map, opcode) ? allRegisters : 0;
}

void Decoder::decodeEvex() {
  unsigned map = next() & 7;
  skip(2);
  opcode = next();
  if (map == 0 || map == 4 || map == 7)
    ok = false;
  readOperands(hasVectorImmediate(map, opcode) ? 'M' : 'm');
  result.writes = writesGeneral(map, opcode) ? allRegisters : 0;
}

Instruction Decoder::decode() {
  result.flow = Flow::next;
  readPrefixes();
  if (!ok)
    return Instruction();
  if (opcode == 0x0f)
    decodeTwoByte();
  else if (opcode == 0xc4 || opcode == 0xc5)
    decodeVex(opcode);
  else if (opcode == 0x62)
    decodeEvex();
  else
    decodeOneByte();
  if (!ok)
    return Instruction();
  result.bytes = uint8_t(at);
  if (ripRelative)
    result.memory = result.end() + int64_t(displacement);
  return result;
}

Instruction mpg::decodeX86(ArrayRef<uint8_t> code, uint64_t address) {
  return Decoder(code, address).decode();
}
