// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgaudit as plain data.

#ifndef MPG_TOOLS_MPGAUDIT_OPTIONS_H
#define MPG_TOOLS_MPGAUDIT_OPTIONS_H

#include "Audit/Audit.h"
#include "Policy/Policy.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

enum class ReportFormat : uint8_t { text, line, json, jsonl, sarif, html };

/// What is printed.
enum class RunMode : uint8_t { report, tree, recommend, diff };

/// Flags of the options that a configuration file may have; see Options.td.
enum FileFlag : unsigned {
  fileKey = 1 << 4,
  fileList = 1 << 5,
  filePath = 1 << 6
};

struct Options {
  AuditSettings settings;
  RunMode mode = RunMode::report;
  ReportFormat format = ReportFormat::text;
  std::optional<Severity> failOn = Severity::error; ///< nothing: never
  bool closure = true; ///< look at the libraries of programs
  bool recursive = false;
  bool stats = false;
  bool verbose = false;
  unsigned jobs = 1;
  std::vector<std::string> operands;
  std::vector<std::string> files0From;
  std::string job;                   ///< the script's path; "": none
  std::vector<std::string> profiles; ///< for recommend
  std::optional<int> pid;
  std::vector<Suppression> suppressions;
  std::string baseline, writeBaseline; ///< paths; "": none
};

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, --explain, a usage error); \p status is then the
/// exit status.
std::optional<Options> parseOptions(int argc, char **argv, int &status);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_OPTIONS_H
