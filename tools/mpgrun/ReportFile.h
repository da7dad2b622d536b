// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of a report: its name, and whether it can be written. A report
// is about a program and must not harm its run: mpgrun does not wait for a
// process that might read it, and how the program ended counts, not what came
// of the file.

#ifndef MPG_TOOLS_MPGRUN_REPORTFILE_H
#define MPG_TOOLS_MPGRUN_REPORTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <sys/types.h>

namespace mpg {

/// Says in one line if a file of the name could not be written now. Leaves no
/// file behind.
void warnIfNotWritable(llvm::StringRef pattern);

/// \p write gives what is in it. A pipe without a reader is an error. Says what
/// went wrong.
void writeReportFile(const std::string &name,
                     llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_REPORTFILE_H
