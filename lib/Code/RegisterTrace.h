// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a register holds the constant 0 when control reaches an instruction,
// whatever path it takes.
//
// The trace walks back from the instruction over a range of decoded code. At
// each step every path in must lead to an instruction that sets the register to
// 0: the instruction before, and each branch of the range that lands here.
// Compilers merge blocks, so `xor edi, edi; call sbrk` alone proves nothing: a
// branch may land on the call with another value. Branches from outside the
// range are not visible here; the trace lists the addresses on which none may
// land, and the caller searches the rest of the code for one.

#ifndef MPG_CODE_REGISTERTRACE_H
#define MPG_CODE_REGISTERTRACE_H

#include "Code/MachineCode.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace mpg {

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

#endif // MPG_CODE_REGISTERTRACE_H
