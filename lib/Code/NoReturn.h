// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a call returns. Functions such as exit() are known by name, that is
// by the slots through which they are called; a function of the file itself
// does not return when every way through it ends in such a call.
//
// Why it matters: `mov edi, 1; call fatal; L: call sbrk` calls sbrk with what a
// branch to L brings, if fatal does not return, and else with anything.

#ifndef MPG_CODE_NORETURN_H
#define MPG_CODE_NORETURN_H

#include "Code/MachineCode.h"

namespace mpg {

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

#endif // MPG_CODE_NORETURN_H
