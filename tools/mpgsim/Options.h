// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgsim as plain data.

#pragma once

#include "mpg/sim.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// The recorded part of the run.
struct SimSample {
  mpg_sim_sample by = MPG_SIM_ALL;
  std::string function;
  double seconds = 0, delay = 0;
  bool isCold = false; ///< nothing is recorded before a region
};

struct SimOptions {
  std::string machine = "a64fx";
  std::vector<uint64_t> pages;     ///< ascending; empty: all of the machine
  std::vector<std::string> stream; ///< arrays of sector 1
  unsigned maps = 1;
  bool json = false, csv = false; ///< not both
  std::string advise;             ///< empty: none
  std::string html;               ///< empty: none
  std::string output;             ///< empty: standard error
  std::string record;             ///< empty: none
  SimSample sample;
  bool usesQemu = false;
  std::string qemu;            ///< empty: that of the search path
  bool spreadsThreads = false; ///< over core groups
  bool merges = false;         ///< command: files of ranks
  bool isQuiet = false;        ///< no report: of the second run for advise
  std::vector<std::string> command;
};

/// mpgsim's own exit statuses, those of env and nohup.
constexpr int simOwnError = 125, simNotExecutable = 126, simNotFound = 127;

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, a usage error); \p status is then the exit status.
std::optional<SimOptions> parseOptions(int argc, char **argv, int &status);

} // namespace mpg
