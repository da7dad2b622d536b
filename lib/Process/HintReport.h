// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a finished program had for hints: the note that the compiler passes left
// in its file, and whether this machine acts on it. Only the program itself is
// looked at; libraries that it loads may carry hints of their own.

#ifndef MPG_PROCESS_HINTREPORT_H
#define MPG_PROCESS_HINTREPORT_H

#include "Elf/HintNote.h"
#include "Node/TagSupport.h"

namespace mpg {

struct HintReport {
  Notes notes; ///< only its hint notes, and what could not be read of them
  TagSupport support;

  /// Whether the hints of the note act here: the worst of what it asks for.
  Ability acts() const;
};

/// Nothing if \p program has no hint note of any version.
std::optional<HintReport> readHintReport(const std::string &program);

} // namespace mpg

#endif // MPG_PROCESS_HINTREPORT_H
