// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the memory under the stack in use, by the calling thread itself.

#ifndef MPG_RUNTIME_STACKMOVE_H
#define MPG_RUNTIME_STACKMOVE_H

#include "pages/Pages.h"

namespace mpg {

/// New memory for the stack in use, or for a part that lies below it.
struct StackMove {
  Away away;        ///< gone after success
  Range live;       ///< what is copied, whole base pages; empty: nothing
  uintptr_t target; ///< where the new memory goes
  size_t granuleBytes;
};

/// Moves; all or nothing as moveInto(). Signals wait meanwhile.
/// pre: no other thread writes to the live part; one thread at a time.
int moveStack(StackMove &move);

} // namespace mpg

#endif // MPG_RUNTIME_STACKMOVE_H
