// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comparison of programs that are not children of this mpgrun, as those of a
// batch system's launcher: `mpgrun --compare srun -n 4 mpgrun ./app`. Each run
// has a folder that all nodes see; the mpgrun of each rank measures its program
// and writes a file there; the one outside merges them.

#pragma once

#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace mpg {

/// Environment of the mpgrun of a rank: "MODE:look:FOLDER" or
/// "MODE:run:FOLDER". With look it inspects the program's memory at its end.
constexpr const char *rankVariable = "MPG_COMPARE_RANK";

struct RankOrder {
  std::string mode, folder;
  bool looks = false;
};
/// The order for this process; absent if it is not such a rank.
std::optional<RankOrder> readRankOrder();
std::string rankOrderText(const RankOrder &order);

struct RankResult {
  std::string host;
  std::string cpus; ///< that it may run on, as numbers
  RunSample sample; ///< its status, times, faults and memory
  ModeMemory memory;
  double othersSeconds = 0, stealSeconds = 0; ///< CPU time on these CPUs
};
/// The reason why the file could not be written, or "".
std::string writeRankResult(const RankOrder &order, const RankResult &result);
/// Reads the results in a folder, without files that cannot be read.
std::vector<RankResult> readRankResults(const std::string &folder);

/// The sum over all ranks: the time of the slowest, the work of all.
struct MergedRanks {
  RunSample sample;
  ModeMemory memory;
  double othersSeconds = 0, stealSeconds = 0;
};
/// pre: there are some.
MergedRanks mergeRanks(llvm::ArrayRef<RankResult> ranks);

bool startsMpgrun(llvm::ArrayRef<std::string> command);
/// Why \p command cannot be compared as it stands, with the line that can;
/// "": it can. \p options: of this mpgrun, as they were typed.
std::string findForeignLauncher(llvm::ArrayRef<std::string> command,
                                llvm::ArrayRef<std::string> options);

/// A folder for the files of ranks in the current one, removed in the end.
class RankFolder {
public:
  RankFolder();
  ~RankFolder();
  RankFolder(const RankFolder &) = delete;
  /// "" if it could not be made: \c problem says why.
  const std::string &path() const { return thePath; }
  const std::string &problem() const { return theProblem; }
  /// A new folder for one run; "" if it cannot be made.
  std::string addRun();

private:
  std::string thePath, theProblem;
  unsigned runs = 0;
};

} // namespace mpg
