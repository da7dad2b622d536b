// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where mpgrun writes: one line on standard error, and the file of a report. A
// report is about a program and must not harm its run: mpgrun does not wait for
// a process that might read it, and how the program ended counts, not what came
// of the file.

#ifndef MPG_TOOLS_MPGRUN_OUTPUT_H
#define MPG_TOOLS_MPGRUN_OUTPUT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <sys/types.h>

namespace mpg {

//===----------------------------------------------------------------------===//
// Standard error and standard files
//===----------------------------------------------------------------------===//
//
// mpgrun may be started without standard files: the next file to be opened
// would take such a number, and what is printed would end in it.

inline llvm::raw_ostream &error() { return llvm::errs() << "mpgrun: error: "; }
inline llvm::raw_ostream &note() { return llvm::errs() << "mpgrun: note: "; }

/// What a program that mpgrun starts finds in the place of a closed one.
enum class ClosedFile { staysClosed, isDevNull };

/// Opens /dev/null for those of the descriptors 0 to 2 that are closed. False
/// if standard output was.
bool fillStandardFiles(ClosedFile inProgram);

//===----------------------------------------------------------------------===//
// The file of a report
//===----------------------------------------------------------------------===//

/// Says in one line if a file of the name could not be written now. Leaves no
/// file behind.
void warnIfNotWritable(llvm::StringRef pattern);

/// \p write gives what is in it. A pipe without a reader is an error. Says what
/// went wrong.
void writeReportFile(const std::string &name,
                     llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_OUTPUT_H
