// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hints of a finished program: the note that the compiler passes left in
// its file, and whether this machine acts on it. Only the program itself is
// read; its libraries may carry other hints. Also the switch: the HPC tag
// address override of A64FX by Fujitsu's command fhetbo. It acts on all cores
// of the job on this node, not on one process, and is reset only when the job
// ends.

#ifndef MPG_PROCESS_HINTREPORT_H
#define MPG_PROCESS_HINTREPORT_H

#include "Elf/HintNote.h"
#include "Node/Node.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mpg {

/// Where the vendor installs it. HW:fhetbo
constexpr const char *tagCommandPath = "/opt/FJSVxos/fhehpc/bin/fhetbo";

/// Runs `COMMAND enable|disable` and returns what it says in plain words:
/// "HPC tag override off on cores 12-59". The error names the command and its
/// status.
llvm::Expected<std::string> switchTags(const std::string &command, bool on);

/// "12-59" out of a core mask such as 0xffffffffffff000; empty if it is not
/// one.
std::string decodeCoreMask(llvm::StringRef mask);

/// The plain words for the output of fhetbo (messages FHE 1113 and FHE 1114).
std::string describeTagMessage(llvm::StringRef output);

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
