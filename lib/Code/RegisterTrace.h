// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a register holds the constant 0 when control reaches an instruction,
// whatever way it comes.
//
// The trace walks back from the instruction over a stretch of decoded code. At
// each step every way in must lead to an instruction that sets the register to
// 0: the instruction before, and each branch of the stretch that lands here.
// Compilers merge blocks, so `xor edi, edi; call sbrk` alone proves nothing: a
// branch may land on the call with another value. Branches from outside the
// stretch are not visible here; the trace lists the addresses on which none may
// land, and the caller searches the rest of the code for one.

#ifndef MPG_CODE_REGISTERTRACE_H
#define MPG_CODE_REGISTERTRACE_H

#include "Code/Instruction.h"
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

} // namespace mpg

#endif // MPG_CODE_REGISTERTRACE_H
