// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of a job script as inputs of the run, each with what the script
// says about its start.

#ifndef MPG_TOOLS_MPGAUDIT_JOBINPUTS_H
#define MPG_TOOLS_MPGAUDIT_JOBINPUTS_H

#include "Inputs.h"
#include "JobScript/JobScript.h"

namespace mpg {

/// Without files of the user's the programs that \p script starts and that are
/// here become inputs; files of the user's get the start that fits them best.
/// \p given: what --env and --sysroot say; it wins over the script. May be
/// null.
void addJobInputs(JobScript &script, const Launch *given,
                  std::vector<Input> &inputs);

/// Says of programs in images that are no folders here that nobody looked at
/// them.
void noteImages(JobScript &script);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_JOBINPUTS_H
