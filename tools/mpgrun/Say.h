// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How mpgrun speaks: one line on standard error.

#ifndef MPG_TOOLS_MPGRUN_SAY_H
#define MPG_TOOLS_MPGRUN_SAY_H

#include "llvm/Support/raw_ostream.h"

namespace mpg {

inline llvm::raw_ostream &error() { return llvm::errs() << "mpgrun: error: "; }
inline llvm::raw_ostream &note() { return llvm::errs() << "mpgrun: note: "; }

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_SAY_H
