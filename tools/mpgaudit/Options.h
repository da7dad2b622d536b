// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgaudit as plain data.

#ifndef MPG_TOOLS_MPGAUDIT_OPTIONS_H
#define MPG_TOOLS_MPGAUDIT_OPTIONS_H

#include "Audit/Audit.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

enum class ReportFormat : uint8_t { text, line, json, jsonl };

struct Options {
  AuditSettings settings;
  ReportFormat format = ReportFormat::text;
  std::optional<Severity> failOn = Severity::error; ///< nothing: never
  bool recursive = false;
  bool stats = false;
  unsigned jobs = 1;
  std::vector<std::string> operands;
  std::vector<std::string> files0From;
};

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, --explain, a usage error); \p status is then the
/// exit status.
std::optional<Options> parseOptions(int argc, char **argv, int &status);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_OPTIONS_H
