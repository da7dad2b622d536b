// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The results of a run, as plain data for text and JSON, and the sentences
// about them. Every count of a miss is modelled.

#pragma once

#include "Options.h"
#include "SimRun/SimProgram.h"
#include "Support/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace mpg {

/// From the least to the most of several maps of physical pages.
struct SimInterval {
  uint64_t min = 0, max = 0;
};

/// Lines to and from the memory of the own core group, of all of them; for each
/// of placementNames, if the machine has several groups.
struct SimLocality {
  uint64_t local = 0, moved = 0;
  double percent() const {
    return moved ? 100 * double(local) / double(moved) : 100;
  }
};
constexpr const char *placementNames[] = {"first touch", "prepage",
                                          "interleave"};

struct SimPageCounts {
  uint64_t pageBytes = 0;
  std::vector<uint64_t> tlbMisses;       ///< by level of the machine
  std::vector<SimInterval> cacheMisses;  ///< by level, with those of prefetches
  std::vector<SimInterval> demandMisses; ///< without them
  SimInterval linesRead, linesWritten;   ///< of memory
  std::vector<SimLocality> placements;   ///< with the first map of pages
};

/// The longest work with one page size: of the cores, and of the groups.
struct SimBusiest {
  uint64_t walks = 0, linesRead = 0, linesWritten = 0;
};

struct SimCounts {
  uint64_t accesses = 0;
  std::vector<SimPageCounts> pages; ///< smallest first
};

/// An array or a loop. Arrays: where it is allocated; loops: where it begins.
struct SimPart {
  std::string kind; ///< global, stack, heap, other; loop, code
  std::string name; ///< of the array, or the function; may be empty
  std::string file; ///< may be empty
  unsigned line = 0;
  uint64_t bytes = 0; ///< of an array; 0: not known
  std::string key;    ///< of a heap array: no other one has it; may be empty
  std::string distinction; ///< of a heap array: \see BlockOrigin
  unsigned blocks = 0;     ///< of a heap array: the most at one time
  SimCounts counts;
  /// Bytes that the load or store reaches which reaches fewest, of those with
  /// many misses; 0: there is none, or it is not known.
  uint64_t narrowest = 0;
  sim::PageUse use;   ///< of an array
  sim::PageHeat heat; ///< of one that large pages are for, in one run
};

/// How the program ended.
struct SimEnding {
  int waitStatus = 0;
  unsigned otherThreads = 0, otherProcesses = 0;
  uint64_t lostAccesses = 0; ///< of other threads, which are in no count
  unsigned skips = 0;        ///< of threads that the others did not wait for
};

/// The recorded part of the run.
struct SimSampled {
  SimSample what;
  unsigned regions = 0;   ///< one in another counted once
  unsigned functions = 0; ///< of that name
  unsigned loneEnds = 0;  ///< without a begin
  bool isOpen = false;    ///< at the end of the program
  /// Processor time of the regions, which recording makes longer, and of all.
  uint64_t regionNs = 0, runNs = 0;
  /// Accesses that filled caches and TLBs before regions; in no count.
  uint64_t warmUpAccesses = 0;
  double maxPercent() const;
};

/// The traffic to memory, if sector 1 may fill so many ways of the last cache
/// that has sectors.
struct SimQuota {
  unsigned ways = 0;                ///< of sector 1; 0: not divided
  std::vector<SimPageCounts> pages; ///< smallest first
};

/// The cache that is divided, and what sector 1 may get of it.
struct SimQuotas {
  size_t level = 0;
  std::vector<unsigned> ways; ///< 0 first; empty without such a cache
  std::vector<std::vector<sim::WayLimits>> limits() const;
  unsigned allWays = 0;
  bool limitsSector0 = true;
};
SimQuotas getQuotas(const sim::Machine &machine);
/// Placements that are modelled together; empty for a one-group machine.
std::vector<sim::PlacementPolicy> getPlacements(const sim::Machine &machine);

/// One process of an MPI job.
struct SimRank {
  std::string number; ///< "": no launcher has said it
  uint64_t accesses = 0;
  int waitStatus = 0;
};

/// Of one run, or the sum of those of several ranks.
struct SimReport {
  std::vector<std::string> command;
  std::string build;          ///< tells one build of a program from another
  std::vector<SimRank> ranks; ///< empty: no launcher has started it
  sim::Machine machine;
  unsigned maps = 1;
  SimEnding ending;
  SimSampled sampled;
  SimCounts all;
  unsigned cores = 1, groups = 1;  ///< that threads ran on
  std::vector<SimBusiest> busiest; ///< by page size
  uint64_t accessedBytes = 0;
  /// Only those with accesses, sorted by their misses after the first cache,
  /// most first.
  std::vector<SimPart> arrays, loops;
  SimQuotas divided;
  std::vector<std::string> stream; ///< arrays of sector 1
  std::vector<SimQuota> quotas;    ///< not divided first; may be empty
  std::vector<std::pair<std::string, uint64_t>> notSeen; ///< most calls first
  uint64_t damaged = 0;                                  ///< records
};

SimReport makeReport(const sim::SimProgram &program,
                     const sim::Machine &machine, unsigned maps,
                     const SimQuotas &quotas);

/// Puts arrays, loops and calls into their order.
void sortReport(SimReport &report);

/// Larger files are none of ours.
constexpr size_t maxSimBytes = size_t(1) << 30;
/// Whether counts are of the same sizes of pages, so that they can be added.
bool isAlike(const std::vector<SimPageCounts> &a,
             const std::vector<SimPageCounts> &b);
/// Reads what writeSimJson has written. \p machine: with all its pages, that of
/// the run. \returns "" or what is wrong.
std::string readSimReport(llvm::StringRef text, const sim::Machine &machine,
                          SimReport &report);
/// Adds another rank to \p all. \returns "" or why that is none of the same
/// run; a sentence that goes on after its name, with \p first for the others.
std::string addRank(SimReport &all, const SimReport &rank,
                    const std::string &first);
/// How many, and how evenly, a sentence; "" without several.
std::string describeRanks(const SimReport &report);

/// "1234567" as "1.23 M"; an interval as "1.2 M to 1.3 M".
std::string shortCount(uint64_t count);
std::string shortCount(const SimInterval &interval);
/// Its name in a table; its own name is cut to \p max letters.
std::string arrayName(const SimPart &part, size_t max);

// Tables, for text and HTML

/// To and from memory, at most.
uint64_t trafficBytes(const SimReport &report, const SimPageCounts &page);

/// Of the TLBs or the caches of a machine.
template <typename Level>
std::vector<std::string> getNames(const std::vector<Level> &levels) {
  auto names = llvm::map_range(levels, [](auto &level) { return level.name; });
  return {names.begin(), names.end()};
}

Table pagesTable(const SimReport &report);
/// What each division of the cache misses.
Table quotasTable(const SimReport &report);

/// The arrays or the loops of a report.
struct SimParts {
  llvm::StringRef title; ///< "array"
  const std::vector<SimPart> &parts;
  std::string (*getName)(const SimPart &, size_t);
};
SimParts listArrays(const SimReport &report);
SimParts listLoops(const SimReport &report);
/// \p rows: at most. \p isWhole: with all caches and the bytes of arrays.
Table partsTable(const SimReport &report, const SimParts &shown, size_t rows,
                 size_t nameLength, bool isWhole);

/// Seconds, as a band.
struct SimTime {
  double min = 0, max = 0;
};
/// Of page walks of the core that has most, by the machine's cost of one; 0 if
/// that is not known. \p page: of report.all.
SimTime walkTime(const SimReport &report, const SimPageCounts &page);
/// The least time for what goes to and from memory; 0 if not known.
double trafficTime(const SimReport &report, const SimPageCounts &page);
/// The value of larger pages to a kernel with base pages of one size.
struct SimGain {
  enum Kind { walks, bandwidth, none, noOther };
  Kind kind = noOther;
  const SimPageCounts *small = nullptr, *large = nullptr;
  SimTime saved; ///< 0: not known
};
/// One for each base page of the machine, the smallest first.
std::vector<SimGain> findGains(const SimReport &report);
/// "walks", "bandwidth", "none"
const char *gainKind(const SimGain &gain);
/// The quota that saves most of the traffic, with the smallest large pages;
/// null: none saves 2 % of it.
const SimQuota *bestQuota(const SimReport &report);
/// The value of dividing the cache, a sentence; "" if none was modelled.
std::string describeQuotaVerdict(const SimReport &report);
/// The page size of the whole for which sectors and placement are advised: the
/// smallest large one.
const SimPageCounts &advisedPage(const std::vector<SimPageCounts> &pages);
/// "8 cores in 2 core groups"
std::string describeCores(const SimReport &report);
/// How far the model was from counters of such machines.
std::string describeBands(const SimReport &report);
/// Of one counter, a name of a cache, a TLB or "memory"; "-": it has none.
std::string describeBand(const SimReport &report, llvm::StringRef counter);
/// How much of the traffic is local by placement, a sentence; "" if all threads
/// ran on one group.
std::string describePlacementVerdict(const SimReport &report);
/// A sentence, or one for each base page.
std::string describeVerdict(const SimReport &report);
/// The part of its 2 MiB pages that an array uses, if that is less than half of
/// at least 8 MiB a process; "" if not. A sentence without its array.
std::string describeSparseUse(const SimReport &report, const SimPart &array);
/// The threads whose accesses are in no count, a sentence; "": all are counted.
std::string describeMissingPart(const SimReport &report);
/// A function as in the source, without its parameters.
std::string shownFunction(llvm::StringRef name);
/// "ended with status 3", "was ended by signal 9 (Killed)"
std::string describeEnding(const SimEnding &ending);
/// The part of the run that was recorded, a sentence; "" if it is all of it.
std::string describeSample(const SimReport &report);
/// Parts of the run that were not seen, a line for each reason.
std::vector<std::string> findGaps(const SimReport &report);

void writeSimText(llvm::raw_ostream &out, const SimReport &report);
void writeSimCsv(llvm::raw_ostream &out, const SimReport &report);
void writeSimHtml(llvm::raw_ostream &out, const SimReport &report);
void writeSimJson(llvm::raw_ostream &out, const SimReport &report);

/// Arrays, and loads and stores, with fewer of the misses than one in so many
/// do not count for advice.
constexpr uint64_t minMissesShare = 50;

/// Which arrays to put into sector 1.
struct StreamChoice {
  std::vector<SimPart> arrays; ///< empty: see reason
  std::string reason;

  /// For --stream.
  std::vector<std::string> names() const;
};
/// Describes how the source puts \p choice into sector 1: "MPG_STREAM in front
/// of ..."
std::string describeMarking(const StreamChoice &choice);
/// Whether a side file can name one of \p choice.
bool hasHint(const SimReport &report, const StreamChoice &choice);

/// Rows with many misses that may be several arrays, as a sentence; "": there
/// are none.
std::string describeMergedArrays(const SimReport &report);

/// From a run without sectors.
StreamChoice chooseStream(const SimReport &report);

/// The side file that says so. pre: \p report is of a run with \p choice, and
/// has a best quota.
void writeAdvice(llvm::raw_ostream &out, const SimReport &report,
                 const StreamChoice &choice);

/// Standard error, with the begin of a line of an error on it.
llvm::raw_ostream &simError();

/// The files that the user has named for a report.
class SimOutput {
public:
  explicit SimOutput(const SimOptions &options) : options(options) {}
  /// Before the program runs: it would be in vain. Both say what is wrong.
  bool open();
  bool write(const SimReport &report);
  /// Null: none is wanted, or there can be none. The first call empties the
  /// file.
  llvm::raw_fd_ostream *record();

private:
  const SimOptions &options;
  std::unique_ptr<llvm::raw_fd_ostream> recordFile;
  std::error_code recordError;
};

} // namespace mpg
