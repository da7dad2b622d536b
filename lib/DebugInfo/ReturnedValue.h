// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the value that a call returns through the code after it: to the
// registers that have it, and to the memory that gets it. Registers have
// DWARF's numbers.

#pragma once

#include "Code/MachineCode.h"
#include "DebugInfo/Dwarf.h"
#include "Elf/Image.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>
#include <optional>

namespace mpg {

// DataMoves.cpp: decodes how single instructions of x86-64 and AArch64 handle
// pointers: they move them between registers and memory, add constants to them,
// make a frame. Earlier instructions have no effect here; ReturnedValue.cpp
// follows values through several. Registers have DWARF's numbers.

/// How functions of a machine call each other.
struct Convention {
  bool isX86;
  int stack, frame, argument; ///< registers
  int64_t atEntry; ///< bytes from the stack to the frame's canonical address
  uint32_t keptByCalls, arguments; ///< registers, a bit for each
};

/// The register of a function's result: rax, x0.
constexpr unsigned resultRegister = 0;

/// Null: code of \p machine is not read.
const Convention *findConvention(Machine machine);

/// The instruction at the start of \p code, which is at \p address.
Instruction decodeNext(const Convention &machine, llvm::ArrayRef<uint8_t> code,
                       uint64_t address);

/// One instruction that moves 64 bits between a register and memory.
struct Move {
  bool isLoad;
  int value, base;
  int64_t offset;
  bool isAbsolute; ///< relative to the instruction: its address is known
};

/// The effect of an instruction; most have one of these, or none.
struct DataEffect {
  std::optional<Move> move;
  /// A register gets another one plus a constant: as a load from that address.
  std::optional<Move> sum;
  /// A load or store that moves its base, too: that, as a sum.
  std::optional<Move> writeBack;
  struct Constant {
    int to;
    uint64_t address;
  };
  std::optional<Constant> constant;
  int64_t pushed = 0; ///< bytes by which the stack goes down
  /// The frame's register becomes the stack's plus that.
  std::optional<int64_t> frame;
};

/// The effect of \p next, at the start of \p code. \p held: the registers with
/// the returned value; of a pair that is stored the one among them counts.
DataEffect decodeEffect(const Convention &machine, llvm::ArrayRef<uint8_t> code,
                        const Instruction &next, uint32_t held);

/// The memory that \p operand, the byte with the operands and what follows it,
/// names without an index, as of a store.
std::optional<Move> decodeMemoryX86(llvm::ArrayRef<uint8_t> operand,
                                    bool hasHighBase, bool isRelative);

/// Whether \p code begins with an instruction that only fills the way to the
/// next block.
bool isPadding(const Convention &machine, llvm::ArrayRef<uint8_t> code);

// VectorHeld.cpp: which halves of vector registers of x86-64 have a value.
// Compilers store two pointers side by side at once: movq, punpcklqdq, movups.

class VectorHeld {
public:
  struct Store {
    size_t operand;   ///< the byte of the instruction that names the memory
    bool hasHighBase; ///< its register is one from 8 on
    int64_t skipped;  ///< bytes of the memory in front of the value
  };
  /// Reads the instruction at the start of \p code. \p held: general registers
  /// with the value, a bit for each by DWARF's numbers. \returns where it
  /// stores the value; none: it does not.
  std::optional<Store> step(llvm::ArrayRef<uint8_t> code, uint32_t held);
  void forget() { halves = {}; }
  bool any() const;

private:
  std::array<uint8_t, 32> halves = {}; ///< bit 0: the lower one
};

/// A place in memory that an instruction writes or reads.
struct MemoryPlace {
  uint64_t at = 0;      ///< address of the instruction
  uint64_t validAt = 0; ///< of a store: address behind it; of a load: at
  uint64_t address = 0; ///< 0: beside a register
  int base = -1;
  int64_t offset = 0;
  /// Bytes from the canonical address of the function's frame, if it is there.
  std::optional<int64_t> fromFrame;
  /// Bytes from what a register had when the function began; none: not known.
  struct FromEntry {
    int number;
    int64_t offset;
  };
  std::optional<FromEntry> fromEntry;
  /// Where the base was read from; null: not known.
  std::shared_ptr<MemoryPlace> baseFrom;
};

struct ReturnedValue {
  bool isKnown = false;            ///< the code was read
  std::vector<MemoryPlace> stores; ///< in the order of the code
  /// The instruction that keeps it soon in a member or a global variable.
  std::optional<uint64_t> keptAt;
  /// From an address on: the registers that have the value, a bit for each.
  std::vector<std::pair<uint64_t, uint32_t>> held;
  /// Whether the register has the value where the instruction at \p address
  /// begins.
  bool isHeld(uint64_t address, unsigned number) const;
  /// Where the call's first argument points to.
  std::optional<MemoryPlace> argument;
};

/// A store in so many bytes of code after a call names the value before others.
constexpr uint64_t soonAfterCall = 96;

/// Follows the value that a call has returned to \p address.
ReturnedValue followReturned(DwarfFile &dwarf, uint64_t address);

} // namespace mpg
