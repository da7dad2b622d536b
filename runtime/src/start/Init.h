// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The start of libmpg where it cannot be in its constructor.

#pragma once

namespace mpg {

/// Starts libmpg if its constructor has left that for later: in a program with
/// a sanitizer. pre: all constructors are done, main has not begun.
void startIfPostponed();

} // namespace mpg
