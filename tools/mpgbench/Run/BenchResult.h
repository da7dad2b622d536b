// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of mpgbench as plain data: an experiment fills them in; text, JSON
// (mpgbench-1), CSV, HTML and --compare read them.

#pragma once

#include "Measure/Counters.h"
#include "Measure/MachineLoad.h"
#include "Measure/Statistics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

/// Name and value, in the order in which they are shown: {"pages", "2M"}.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// The value of \p name; "" if there is none.
llvm::StringRef parameter(const Parameters &parameters, llvm::StringRef name);

/// The actual pages under the arrays of a measurement.
struct Backing {
  uint64_t normalBytes = 0, thpBytes = 0, hugetlbBytes = 0;
};

/// The result of one worker process: one repetition of one point.
struct WorkerResult {
  double value = 0;  ///< in the experiment's unit; above 0
  std::string error; ///< why there is no value: "no free 2 MiB pages ..."
  Backing backing;
  std::vector<CounterValue> counters;
  uint64_t involuntarySwitches = 0; ///< in the measured part
  /// Further figures with their units in the name, such as "conflicting_sets"
  /// or "first_touch_ms".
  std::map<std::string, double> figures;
};

/// One point: one set of parameters, measured some times.
struct PointResult {
  std::string name; ///< "triad/pages=2M/threads=1"; unique in a run
  Parameters parameters;
  /// How it is measured; not in files. libmpg is preloaded if it is needed.
  bool needsRuntime = false;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<WorkerResult> samples; ///< that have a value, in order of rounds
  std::vector<unsigned> rounds;      ///< in which round each sample was taken
  std::string missing;               ///< why there are none
  Summary summary;                   ///< of the values
  bool isBusy = false;               ///< others used the machine meanwhile
};

/// A figure that the guide gives for another machine, for comparison only.
struct GuideFigure {
  std::string label;  ///< "A64FX, 1 thread, 2 MiB pages"
  double value;       ///< in the experiment's unit
  std::string source; ///< "guide 7.1; bytes counted with write-allocate"
  /// The point that it belongs to, as the value of the parameter on the plot's
  /// x axis; "": a line across all.
  std::string at;
};

/// A sentence about the results.
struct Conclusion {
  enum class Kind : uint8_t { yes, no, undecided, notMeasured };
  Kind kind = Kind::undecided;
  std::string text; ///< "first touch of 1 GiB: 9.1x cheaper on 2M ..."
  Ratio ratio;      ///< what the sentence rests on; no interval: none
  /// Whether its points were in the plan. If not, because others were named on
  /// the command line, there is nothing to say.
  bool isPlanned = true;
};

std::vector<double> getValues(const PointResult &point);
/// The figure or counter \p name of \p point, the median over the samples that
/// have it; nothing if none has.
std::optional<double> findFigure(const PointResult &point,
                                 const std::string &name);
/// The pages under the arrays of all its samples together.
Backing getBacking(const PointResult &point);

/// The description of an experiment: of the plan and of the results.
struct ExperimentInfo {
  std::string name;  ///< "triad"
  std::string title; ///< one line for `mpgbench list`
  std::string unit;  ///< "GB/s", "ns", "ms"
  bool higherIsBetter = false;
  std::string accounting; ///< how bytes or accesses are counted
  /// Names of the parameters that a plot has on its x axis and as its series;
  /// the others become separate plots. xIsNumber: x is a size ("16K", "1G") or
  /// a number, on a logarithmic axis.
  std::string xParameter, seriesParameter;
  bool xIsNumber = false;
};

struct ExperimentResult : ExperimentInfo {
  std::vector<PointResult> points; ///< in order of the plan
  std::vector<GuideFigure> guide;
  std::vector<Conclusion> conclusions;
};

struct BenchRun {
  std::string version, date; ///< of mpgbench; ISO 8601, UTC
  /// Processor, kernel, memory, pool, transparent huge pages, ...
  Parameters machine;
  bool quick = false;
  unsigned repetitions = 0;
  uint64_t seed = 0; ///< of the order in which points were measured
  LoadBetween load;  ///< over the whole run
  std::vector<ExperimentResult> experiments;
};

// JSON (BenchJson.cpp), schema mpgbench-1

void writeBenchJson(llvm::raw_ostream &out, const BenchRun &run);
/// \p text as writeBenchJson wrote it; the error names what is wrong and where.
/// \p name: the file, for the error.
llvm::Expected<BenchRun> readBenchJson(llvm::StringRef text,
                                       llvm::StringRef name);

/// One repetition as a worker process prints it, on one line.
void writeWorkerResult(llvm::raw_ostream &out, const WorkerResult &result);
llvm::Expected<WorkerResult> readWorkerResult(llvm::StringRef line);

} // namespace mpg
