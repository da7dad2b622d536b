// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the compiler that has loaded the plugin is the one it was built for.

#ifndef MPG_PASSES_HOSTCOMPILER_H
#define MPG_PASSES_HOSTCOMPILER_H

namespace mpg {

/// Says on standard error what does not fit, and what to do, if it does not.
/// Calls nothing of LLVM's C++, which is that of another version then.
bool compilerFits();

} // namespace mpg

#endif // MPG_PASSES_HOSTCOMPILER_H
