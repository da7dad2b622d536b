// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard files that mpgrun was started without. The next file to be opened
// would take such a number, and what is printed would end in it.

#ifndef MPG_MPGRUN_STANDARDFILES_H
#define MPG_MPGRUN_STANDARDFILES_H

namespace mpg {

/// What a program that mpgrun starts finds in the place of a closed one.
enum class ClosedFile { staysClosed, isDevNull };

/// Opens /dev/null for those of the descriptors 0 to 2 that are closed. False
/// if standard output was.
bool fillStandardFiles(ClosedFile inProgram);

} // namespace mpg

#endif // MPG_MPGRUN_STANDARDFILES_H
