// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How mpgrun speaks, one line on standard error, and standard files that it was
// started without: the next file to be opened would take such a number, and
// what is printed would end in it.

#ifndef MPG_MPGRUN_STANDARDFILES_H
#define MPG_MPGRUN_STANDARDFILES_H

#include "llvm/Support/raw_ostream.h"

namespace mpg {

/// What a program that mpgrun starts finds in the place of a closed one.
enum class ClosedFile { staysClosed, isDevNull };

/// Opens /dev/null for those of the descriptors 0 to 2 that are closed. False
/// if standard output was.
bool fillStandardFiles(ClosedFile inProgram);

inline llvm::raw_ostream &error() { return llvm::errs() << "mpgrun: error: "; }
inline llvm::raw_ostream &note() { return llvm::errs() << "mpgrun: note: "; }

} // namespace mpg

#endif // MPG_MPGRUN_STANDARDFILES_H
