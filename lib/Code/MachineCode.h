// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between x86-64 and AArch64 when code is searched for
// the uses of a function: how an instruction names an address, what a
// linkage stub looks like, which register holds the first argument.
// CodeScan.cpp has everything that both share. The search also needs the
// code piece by piece (CodeMemory.cpp), and the values of registers
// (RegisterTrace.cpp).

#pragma once

#include "Code/CodeScan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace mpg {

// The code (CodeMemory.cpp). The code of one file, read piece by piece: in
// windows from the last address to the first or the other way, or a few hundred
// bytes around one address. Never more than a window is held, however large the
// file says it is.

/// Some bytes of code and where they are. Its `bytes` end with the next read of
/// the same buffer.
struct CodePiece {
  uint64_t address = 0;
  llvm::ArrayRef<uint8_t> bytes;
  /// Whether the range that it is part of starts here.
  bool startsRange = false;

  uint64_t end() const { return address + bytes.size(); }
};

class CodeMemory {
public:
  /// Windows and their overlap. Anything up to `overlapBytes` long lies in one
  /// window, and what starts in the first `overlapBytes / 2` bytes of a window
  /// that does not start a range lies in the window before it as well.
  static constexpr uint64_t windowBytes = 64 << 10;
  static constexpr uint64_t overlapBytes = 32;

  enum class Order { ascending, descending };
  enum class Walk { done, stopped, unreadable };

  CodeMemory(llvm::ArrayRef<CodeRange> ranges, CodeReader read);

  /// From the first byte of the first range to the last of the last.
  uint64_t spanBytes() const;

  /// Calls \p visit with each window, until it returns false. Only what is at
  /// \p from or above is read.
  Walk forEachWindow(Order order, llvm::function_ref<bool(CodePiece)> visit,
                     uint64_t from = 0);

  /// At most \p before bytes in front of \p address and \p after bytes from it
  /// on, read into \p buffer; less at the ends of the range, and nothing when
  /// \p address is in no range or cannot be read.
  CodePiece around(uint64_t address, uint64_t before, uint64_t after,
                   llvm::MutableArrayRef<uint8_t> buffer) const;

private:
  std::vector<CodeRange> ranges; // ascending; none empty, none past the end
  CodeReader read;
  std::unique_ptr<uint8_t[]> window;

  Walk visitWindow(const CodeRange &range, uint64_t start, uint64_t end,
                   llvm::function_ref<bool(CodePiece)> visit);
};

class FrameTable {
public:
  /// \p header is the PT_GNU_EH_FRAME segment, empty when there is none.
  FrameTable(CodeRange header, CodeReader read);

  /// From the start of the function around \p address to the start of the next
  /// one. Functions without an entry are part of the one before.
  std::optional<CodeRange> functionAt(uint64_t address) const;

private:
  CodeRange header;
  CodeReader read;
  uint64_t count = 0;

  std::optional<uint64_t> getStart(uint64_t index) const;
};

enum class Flow : uint8_t {
  next,   ///< goes on with the next instruction
  branch, ///< or at `target`
  jump,   ///< at `target`, or somewhere unknown
  call,   ///< a function runs in between, which may never return
  stop,   ///< returns, traps, or is not an instruction
  entry, ///< goes on, and says that it is reached from elsewhere (endbr64, bti)
};

/// Registers are bits 0 to 31: the x86-64 encoding order (rax 0, rdi 7), or
/// x0 to x30 of AArch64.
struct Instruction {
  uint64_t address = 0;
  uint64_t target = 0; ///< of a direct branch, jump or call; else 0
  uint64_t memory = 0; ///< address named relative to the next instruction, or 0
  uint32_t writes = 0; ///< registers that may be changed, in whole or in part
  uint32_t zeroes = 0; ///< those of them that are 0 afterwards
  int8_t copyTo = -1;  ///< this register becomes `copyFrom`, in 32 or 64 bits
  int8_t copyFrom = -1; ///< also the register that a jump goes to
  bool indexes = false; ///< adds two registers: to a result or for a jump
  uint8_t bytes = 0;    ///< 0: these bytes do not decode
  Flow flow = Flow::stop;

  uint64_t end() const { return address + bytes; }
  bool valid() const { return bytes != 0; }
};

constexpr uint32_t allRegisters = ~0U;

/// Decodes the instruction at the start of \p code, which is at \p address.
/// Covers what compilers emit for x86-64, up to AVX-512; `bytes` is 0 for
/// anything else and when \p code ends too early.
Instruction decodeX86(llvm::ArrayRef<uint8_t> code, uint64_t address);

/// The same for AArch64, where every word is 4 bytes long and valid.
Instruction decodeAArch64(uint32_t word, uint64_t address);

/// Addresses that are looked for, each list in ascending order.
struct WantedAddresses {
  std::vector<uint64_t> slots; ///< of the global offset table: data
  std::vector<uint64_t> stubs; ///< entry points of linkage stubs
  std::vector<uint64_t> paths; ///< instructions on which no branch may land
};

/// Neighbouring addresses, which are searched for together.
struct AddressSpan {
  static constexpr uint64_t maxBytes = 512;

  uint64_t first, last;
};

/// Adds \p addresses, in ascending order, to \p spans.
void addSpans(std::vector<AddressSpan> &spans,
              llvm::ArrayRef<uint64_t> addresses);

/// Whether \p address is in \p sorted.
bool containsAddress(llvm::ArrayRef<uint64_t> sorted, uint64_t address);

/// Bytes of code that name a wanted address, or may.
struct AddressUse {
  uint64_t address; ///< in the instruction, not always its start
  uint64_t target;
};

class MachineCode {
public:
  virtual ~MachineCode() = default;

  /// The register of the first argument, and those that a call keeps.
  virtual unsigned argumentRegister() const = 0;
  virtual uint32_t keptByCalls() const = 0;

  /// The instructions of \p piece by address. Decoding starts at its front, so
  /// on x86-64 the first few may be wrong, as what precedes them is not known.
  virtual std::vector<Instruction> decode(CodePiece piece) const = 0;

  /// Calls \p found for everything in \p piece, a window of \p memory, that
  /// names a wanted address. A match may be a coincidence.
  virtual void search(const CodeMemory &memory, CodePiece piece,
                      const WantedAddresses &wanted,
                      llvm::function_ref<void(AddressUse)> found) const = 0;

  /// The addresses at which a linkage stub may be entered, if \p use is the
  /// stub's jump through its slot; else empty. \p known: only stubs are
  /// expected there. Otherwise checks that it is not a function with the same
  /// code.
  virtual std::vector<uint64_t>
  stubEntries(const CodeMemory &memory, AddressUse use, bool known) const = 0;

  /// The call or jump to what the load at the start of \p piece has read, when
  /// nothing else can read it; 0 if there is none.
  virtual uint64_t callOfLoaded(CodePiece piece) const {
    (void)piece;
    return 0;
  }

  /// The slot through which the stub at the start of \p piece jumps, or 0.
  virtual uint64_t slotOfStub(CodePiece piece) const = 0;
};

std::unique_ptr<MachineCode> makeX86Code();
std::unique_ptr<MachineCode> makeAArch64Code();

// The register (RegisterTrace.cpp). Whether a register holds the constant 0
// when control reaches an instruction, whatever path it takes.
//
// The trace walks back from the instruction over a range of decoded code. At
// each step every path in must lead to an instruction that sets the register to
// 0: the instruction before, and each branch of the range that lands here.
// Compilers merge blocks, so `xor edi, edi; call sbrk` alone proves nothing: a
// branch may land on the call with another value. Branches from outside the
// range are not visible here; the trace lists the addresses on which none may
// land, and the caller searches the rest of the code for one.

struct RegisterTrace {
  /// The register is 0, if nothing from outside lands on `path`.
  bool isZero = false;
  /// Ascending addresses between the zeroing instructions and the end.
  std::vector<uint64_t> path;
};

/// What a trace must know about calls.
struct CallRules {
  uint32_t keptRegisters;
  llvm::function_ref<bool(const Instruction &call)> neverReturns;
};

/// Traces register number \p which back from the instruction at \p address in
/// \p code, instructions by ascending address.
RegisterTrace traceZero(llvm::ArrayRef<Instruction> code, uint64_t address,
                        unsigned which, CallRules rules);

class NoReturn {
public:
  /// \p slots are those of functions that do not return.
  NoReturn(const MachineCode &machine, const CodeMemory &memory,
           llvm::ArrayRef<uint64_t> slots)
      : machine(machine), memory(memory), slots(slots) {}

  /// Whether \p call is proven never to return.
  bool neverReturns(const Instruction &call) const {
    return !slots.empty() && endsIn(call, maxDepth);
  }

private:
  // Wrappers such as `fatal` are short and call exit or a wrapper of it.
  static constexpr unsigned maxDepth = 2, maxInstructions = 64;
  static constexpr uint64_t maxBytes = 512;

  const MachineCode &machine;
  const CodeMemory &memory;
  llvm::ArrayRef<uint64_t> slots;

  bool isSlot(uint64_t address) const;
  bool endsIn(const Instruction &transfer, unsigned depth) const;
  bool allWaysEnd(uint64_t function, unsigned depth) const;
};

} // namespace mpg
