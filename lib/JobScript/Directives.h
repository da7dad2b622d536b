// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests of a script to its batch system: "#SBATCH --nodes=2".

#ifndef MPG_JOBSCRIPT_DIRECTIVES_H
#define MPG_JOBSCRIPT_DIRECTIVES_H

#include "JobScript/JobScript.h"
#include "JobScript/ShellLexer.h"

namespace mpg {

/// A variable that the batch system sets for the job.
struct DirectiveVariable {
  std::string name, value;
  unsigned line;
  /// "#PJM -x"; "" if it follows from what was asked for: SLURM_NTASKS.
  std::string how;
};

/// Fills the directives and what they ask for into \p script; problems as
/// well. Returns the variables in the order of lines.
std::vector<DirectiveVariable>
readDirectives(llvm::ArrayRef<ShellComment> comments, JobScript &script);

} // namespace mpg

#endif // MPG_JOBSCRIPT_DIRECTIVES_H
