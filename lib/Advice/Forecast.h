// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many large pages of the pool, and how much memory, a node must have for a
// job: from the files of its programs, its settings, and the peaks of an
// earlier run. Sizes are upper bounds; the output names the sizes that no file
// has.

#pragma once

#include "Audit/Audit.h"
#include "JobScript/JobScript.h"

namespace mpg {

/// Peaks of earlier runs, as mpgrun --report --json=FILE wrote them. The
/// largest of several reports counts.
struct RunPeaks {
  std::string path; ///< of the last one
  uint64_t heapPages = 0, threadStackPages = 0;
  uint64_t normalBytes = 0; ///< on base pages, files included
};

/// Takes over what the report at \p path says. The error's text is the reason
/// alone.
llvm::Error addRunPeaks(const std::string &path, RunPeaks &peaks);

/// A part of the pool's pages, for one process.
struct ForecastPart {
  std::string name;              ///< "data and bss"
  std::optional<uint64_t> pages; ///< nothing: not known
  std::string reason;            ///< "79 MiB in the file"
};

struct Forecast {
  std::string program;
  unsigned ranks = 1;
  bool areRanksKnown = false;
  std::vector<ForecastPart> parts;
  uint64_t dataPages = 0;   ///< of one process, those that it takes for certain
  uint64_t normalBytes = 0; ///< on base pages; without a report the files alone
  const JobContainer *container = nullptr; ///< of a manifest
  std::vector<std::string> notes;

  uint64_t pages() const; ///< of one process, as far as they are known
  bool isWhole() const;   ///< all parts are known
};

/// pre: \p report has facts. \p start and \p script may be null: mpgrun starts
/// the program alone.
Forecast makeForecast(const FileReport &report, const JobLaunch *start,
                      const JobScript *script, const RunPeaks *peaks);

/// Each program, then what to write for the one that needs most, or for each
/// container.
void writeForecasts(llvm::raw_ostream &out, llvm::ArrayRef<Forecast> forecasts);
/// The same for programs: schema mpgforecast-1, in
/// docs/schema/mpgforecast-1.schema.json.
void writeForecastsJson(llvm::raw_ostream &out,
                        llvm::ArrayRef<Forecast> forecasts);

} // namespace mpg
