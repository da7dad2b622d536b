// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was found in a job script, as text, lines and JSON; the reports of the
// programs that it starts are printed as those of any other file.

#ifndef MPG_RENDER_JOBOUTPUT_H
#define MPG_RENDER_JOBOUTPUT_H

#include "JobRules/JobRules.h"

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// The line of the script, then its findings. \p programs: the reports of what
/// it starts; they are written before.
void writeJobText(llvm::raw_ostream &out, const JobReport &job,
                  llvm::ArrayRef<FileReport> programs, bool colour);

/// The object of the key "job" in the schema mpgaudit-1.
void writeJobJson(llvm::raw_ostream &out, const JobReport &job);

} // namespace mpg

#endif // MPG_RENDER_JOBOUTPUT_H
