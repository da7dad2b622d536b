// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of mpgrun --compare as plain data: one program, run some times in
// each of some modes. The report as text and as JSON (mpgcompare-1) and the
// verdict read them.

#pragma once

#include "Measure/Counters.h"
#include "Measure/MachineLoad.h"
#include "Measure/Statistics.h"
#include "Process/RunReport.h"
#include "mpgrun/Compare/CompareOutput.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mpg {

/// One run of the program from exec to its end.
struct RunSample {
  unsigned round = 0; ///< 0: the warm-up, which no figure counts
  int waitStatus = 0; ///< as waitpid gives it
  double wallSeconds = 0;
  /// Of the program and of the children that it waited for.
  double userSeconds = 0, systemSeconds = 0;
  uint64_t minorFaults = 0, majorFaults = 0;
  /// The largest of its processes, without pages of the pool; 0: not known,
  /// because it is less than what mpgrun had when it made the process.
  uint64_t peakRssBytes = 0;
  std::vector<CounterValue> counters;
  /// Digests (SHA-256, hexadecimal) of standard output and standard error, the
  /// latter without libmpg's own lines.
  std::string digests[2];
  std::string lastWords; ///< the end of its standard error, if it failed
  MetricReading metric;  ///< empty without --metric
  StallCounts stalls;    ///< while it ran; nothing of ranks

  double cpuSeconds() const { return userSeconds + systemSeconds; }
};

/// The program's memory in the warm-up.
struct ModeMemory {
  bool measured = false;     ///< from the kernel, in the program's last moment
  bool hasState = false;     ///< libmpg was at work
  bool fallback = false;     ///< and used normal pages instead of large ones
  uint64_t peakRssBytes = 0; ///< of the first process; 0: not known
  uint64_t peakHugetlbBytes = 0;     ///< most that came from the pool
  uint64_t bytes = 0, hugeBytes = 0; ///< writable memory at the end
  /// The same with each region at its peak, as far as that is known.
  uint64_t peakBytes = 0, peakHugeBytes = 0;
  std::string reason; ///< why not all was on large pages; libmpg's words

  /// The most of it that is known to have been on large pages.
  uint64_t maxHugeBytes() const {
    return std::max(peakHugetlbBytes, peakHugeBytes);
  }
  /// The base of that comparison: memory freed before the end counts too.
  uint64_t maxBytes() const { return std::max(peakBytes, maxHugeBytes()); }
};

struct ModeResult {
  std::string name; ///< "none", "thp", ...
  bool usesLibmpg = false;
  std::string missing; ///< reason for missing figures; empty if there are some
  std::vector<RunSample> samples; ///< with the warm-up, in order of rounds
  ModeMemory memory;
  uint64_t peakBytes = 0; ///< memory at once, with pages of the pool; median

  /// \p value of each run that counts.
  template <typename Function>
  std::vector<double> values(Function value) const {
    std::vector<double> result;
    for (const RunSample &sample : samples)
      if (sample.round > 0)
        result.push_back(double(value(sample)));
    return result;
  }
  /// Whether large pages were asked for and there were none at all.
  bool hadNone() const {
    return name != "none" && memory.measured && memory.maxHugeBytes() == 0;
  }
};

struct Comparison {
  std::vector<std::string> command; ///< the program and its arguments
  std::string version, date;        ///< of mpgrun; ISO 8601, UTC
  std::string processor, kernel;    ///< "unknown" if they are not known
  unsigned cpus = 0;
  unsigned rounds = 0;          ///< that were asked for, without the warm-up
  uint64_t seed = 0;            ///< of the order within the rounds
  std::optional<Metric> metric; ///< nothing: times are compared
  LoadBetween load;             ///< over the rounds that count
  bool isLoadKnown = false;
  /// Processes of the program outlived it: its CPU time is not all of it.
  bool leftProcesses = false;
  std::vector<ModeResult> modes;  ///< the first is what others are compared to
  std::vector<std::string> notes; ///< about the program and its input
  std::vector<std::string> outputs; ///< how outputs differ; empty: they do not
  /// Why nothing could be compared; empty: something was.
  std::string failure;
};

void writeCompareText(llvm::raw_ostream &out, const Comparison &comparison);
void writeCompareHtml(llvm::raw_ostream &out, const Comparison &comparison);
void writeCompareJson(llvm::raw_ostream &out, const Comparison &comparison);

// Verdicts. The conclusion of a comparison in one sentence.
// docs/howto-compare.md has the rules, too:
//
//   faster     all of the interval is above 1, and the gain shows in two digits
//   slower     the same below 1
//   no gain    neither, and a gain of more than 5 % is ruled out
//   undecided  the rest: the interval is too wide to tell, or there is none
//
// Compares wall time or, with --metric, the number that the program prints.
// Where other processes kept the machine busy it uses CPU time, and the
// sentence names that; where a hypervisor took time it gives no verdict.

enum class SpeedVerdict : uint8_t { faster, undecided, noGain, slower };

/// The quantity of the ratios.
enum class Basis : uint8_t { wallTime, cpuTime, metric };
Basis computeBasis(const Comparison &comparison);

/// Whether the machine was too busy for any basis that there is.
bool isTooBusy(const Comparison &comparison);

/// \p speedup is the time of the base divided by that of the mode.
SpeedVerdict judgeSpeedup(const Ratio &speedup);

/// "faster", "undecided", "no-gain", "slower", for JSON.
llvm::StringRef verdictName(SpeedVerdict verdict);

/// "1.12x faster [1.09, 1.15]", "no gain: 1.00x [0.98, 1.02]", ...; of a
/// metric "better" and "worse", since it need not be a time.
std::string describeSpeedup(const Ratio &speedup, Basis basis);

/// Of \p mode against the first one, over the rounds that count: above 1 it is
/// better. \p tail as for pairedRatio().
/// pre: both have figures.
Ratio computeSpeedup(const Comparison &comparison, const ModeResult &mode,
                     double tail = usualTail);

/// Whether more rounds would not change the verdict: it also holds with an
/// interval of 98 %, because who looks again after each few rounds sees more
/// differences than there are; or there is none for another reason.
bool isDecided(const Comparison &comparison);

/// One sentence for each mode but the base: "hugetlb: 1.12x faster ...".
std::string describeMode(const Comparison &comparison, const ModeResult &mode);

/// The last line of the report: the best mode, or why there is none.
std::string describeBest(const Comparison &comparison);

} // namespace mpg
