// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said when a fork() finds too few large pages, the same for segments
// and stacks.

#ifndef MPG_RUNTIME_FORKSHORTAGE_H
#define MPG_RUNTIME_FORKSHORTAGE_H

#include "Messages.h"

namespace mpg {

class ForkShortage {
public:
  /// \p needBytes could not be had. Finds the cause now, while it is there:
  /// before anything is given back.
  ForkShortage(uint64_t needBytes, size_t granuleBytes);
  /// Says \p line, which tells what and what it costs, and the cause. A
  /// shortage that was told is not told again if the fork is only slower for
  /// it.
  void say(LineBuffer &line, bool isSafe, Messages &messages) const;

private:
  LineBuffer cause;
};

} // namespace mpg

#endif // MPG_RUNTIME_FORKSHORTAGE_H
