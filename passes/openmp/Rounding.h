// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the last bit of a result is a matter of the source alone. Where the
// compiler may choose, it chooses by what stands around: the vectors of a loop,
// the iterations that are left over, those whose numbers are known and are
// computed by the compiler. A copy of the loop that other threads enter
// elsewhere then has other last bits in some places.

#ifndef MPG_PASSES_ROUNDING_H
#define MPG_PASSES_ROUNDING_H

namespace llvm {
class Instruction;
} // namespace llvm

namespace mpg {

/// How \p instruction, with what it is computed from, may be rounded in several
/// ways, of the form "it has a sum that ..."; null if there is one way.
const char *whyRoundedInSeveralWays(const llvm::Instruction &instruction);

} // namespace mpg

#endif // MPG_PASSES_ROUNDING_H
