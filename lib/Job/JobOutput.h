// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was found in a job script, as text, lines and JSON; the reports of the
// programs that it starts are printed as those of any other file.

#ifndef MPG_JOB_JOBOUTPUT_H
#define MPG_JOB_JOBOUTPUT_H

#include "Job/Rules/JobRules.h"

namespace llvm {
class raw_ostream;
}

namespace mpg {

void writeJobText(llvm::raw_ostream &out, const JobReport &job, bool colour);

/// The object of the key "job" in the schema mpgaudit-1.
void writeJobJson(llvm::raw_ostream &out, const JobReport &job);

} // namespace mpg

#endif // MPG_JOB_JOBOUTPUT_H
