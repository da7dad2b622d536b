// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of a compared program: started in a new process group, with its input
// and outputs redirected, measured from exec to its end. Does not use the
// Supervisor, which is invisible and passes signals on; here a signal to mpgrun
// ends the run.

#pragma once

#include "Process/RunReport.h"
#include "Process/TextPages.h"
#include "mpgrun/Compare/CompareOutput.h"
#include "mpgrun/Compare/CompareRanks.h"
#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace mpg {

constexpr llvm::StringLiteral defaultCompareModes = "none,thp,hugetlb";

/// "none,thp,hugetlb" as a list. \p error names what is wrong with it: an
/// unknown, repeated or empty mode, or less than two; empty if nothing is.
std::vector<std::string> parseCompareModes(llvm::StringRef text,
                                           std::string &error);

struct RunCommand {
  std::string path;
  std::vector<std::string> arguments;   ///< from argv[0] on
  std::vector<std::string> environment; ///< "NAME=VALUE"
  /// Memory comes from these NUMA nodes in turn; empty: as the system does it.
  std::vector<unsigned> interleaveNodes;
  int input = -1, output = -1, messages = -1; ///< become 0, 1 and 2
  /// Called with the process id in the program's last moment; null: it is not
  /// traced. That costs time.
  llvm::function_ref<void(pid_t)> atExit = nullptr;
};

struct RunOutcome {
  std::string error;     ///< the system refused something else than exec
  int execError = 0;     ///< errno of exec if the program never started
  int interruptedBy = 0; ///< a signal that this process got; the run was ended
  bool leftProcesses = false; ///< some that it started are still there
  RunSample sample;
};

/// Times, faults and memory of \p usage.
void fillUsage(RunSample &sample, const rusage &usage);

/// While it lives, signals that would end or stop this process wait until a run
/// takes them.
class SignalGate {
public:
  SignalGate();
  ~SignalGate();
  /// As they were before; programs get these.
  const sigset_t &before() const { return saved; }
  const sigset_t &waiting() const { return blocked; }

private:
  sigset_t saved, blocked;
};

/// Runs \p command to its end.
/// pre: one thread; nothing else of this process waits for children.
RunOutcome runOnce(const RunCommand &command, const SignalGate &gate);

// All runs of a comparison (CompareDriver.cpp). Carries out a comparison:
// rounds of runs.

/// How the program is run in one mode.
struct ModePlan {
  std::string name;
  bool usesLibmpg = false;
  /// The pages that code gets before each run; nothing: left as it is.
  std::optional<CodePages> code;
  std::vector<std::string> environment; ///< "NAME=VALUE"
  std::vector<unsigned> interleaveNodes;
  std::string missing; ///< why it cannot be run; empty: it can
};

struct ComparePlan {
  std::string path; ///< of the program
  std::vector<ModePlan> modes;
  bool trace = true;         ///< look at the program's memory in the warm-up
  bool showsProgress = true; ///< on standard error
  bool isRanked = false;     ///< the ranks measure: CompareRanks.h
  unsigned maxRounds = 0;    ///< more are added until it is decided; 0: none
};

/// A condition that ends a comparison.
struct CompareEnd {
  std::string error;      ///< the system refused something
  int execError = 0;      ///< the program cannot be run: errno of exec
  int interruptedBy = 0;  ///< a signal
  bool hasReport = false; ///< after a signal of the rounds before it
};

/// Fills in what is measured; \p comparison holds the command, the metric,
/// the number of rounds (the first ones, if more may be added) and the seed.
/// pre: one thread; nothing else of this process waits for children.
CompareEnd driveComparison(const ComparePlan &plan, Comparison &comparison);

// CompareRound.cpp: the verdict on a round of a comparison: which modes failed
// and are left out, and how the outputs of the others differ.

/// Standard output and standard error of one run.
using OutputFiles = std::array<OwnedFd, 2>;

/// Takes out what failed in the round that has ended.
void judgeRound(Comparison &comparison);

/// Says in the failure of \p comparison why no two modes are left, if so.
void checkModesLeft(Comparison &comparison);

/// Adds a sentence to \p comparison for each difference.
/// \p firstOutputs: of each mode's warm-up.
void compareOutputs(Comparison &comparison,
                    llvm::ArrayRef<OutputFiles> firstOutputs);

/// "status 1", "signal 11 (Segmentation fault)".
std::string describeStatus(int waitStatus);

// CompareMemory.cpp: the memory of a mode, which the warm-up of a comparison
// reads.

/// Memory of a run out of \p report.
void fillMemory(ModeMemory &memory, const RunReport &report);

/// The largest RSS that the kernel saw of the process itself; unlike that of
/// wait4 it does not begin with mpgrun's. 0: not known.
uint64_t readPeakRss(pid_t pid);

/// Notes that code was on large pages although \p mode has normal ones: another
/// process that maps the file keeps its pages as they are.
void noteCodePages(Comparison &comparison, const RunReport &report,
                   const ModeResult &mode);

} // namespace mpg
