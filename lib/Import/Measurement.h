// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of a program as a profiler wrote it down, as plain data: counts by
// their meaning, whatever the tool calls them, and from our own programs alone
// the large objects and the results of a model. The content of a file shows
// which tool wrote it. Nothing is judged here: lib/Advice does that.

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mpg {

/// The quantity that an event counts.
enum class Quantity : uint8_t {
  cycles,
  instructions,
  cpuNs,     ///< CPU time of all threads
  tlbMisses, ///< of data TLBs; whether a walk follows depends on the processor
  tlbWalks,  ///< misses of the last data TLB
  walkCycles,
  localAccesses, ///< to the memory of the own node
  remoteAccesses,
  pageFaults,
  l1Accesses,
  l1Misses,
  l1DemandMisses, ///< those that no prefetch has foreseen
};

/// A large object of a program, from mpgrun --profile.
struct MeasuredObject {
  std::string name;
  uint64_t peakBytes = 0, blocks = 0, faults = 0, pageBytes = 0;
  uint64_t usedBytes = 0, hugeBytes = 0; ///< when it was looked at
  bool isHugeKnown = false;
  /// Threads that had page faults in it; 0: not known.
  size_t touchingThreads = 0;
  bool isTouchedByMain = false; ///< and by no other thread
  bool isStack = false;         ///< of the first thread or another
  bool isThreadStack = false;
};

/// mpgsim's estimate of the time that large pages save.
struct ModelledGain {
  uint64_t basePageBytes = 0, pageBytes = 0;
  std::string decidedBy; ///< "walks", "bandwidth", "none"
  uint64_t minNs = 0, maxNs = 0;
};

/// Page walks that an array has with some page size, from mpgsim.
struct ModelledArray {
  std::string name; ///< as mpgrun --profile names objects
  uint64_t pageBytes = 0, walks = 0;
};

/// Lines to and from memory, and how many of them are local.
struct ModelledPlacement {
  uint64_t all = 0, firstTouch = 0, prepage = 0, interleave = 0;
};

/// Samples of time, as weights; both shares may be of the same ones.
struct SampledTime {
  uint64_t all = 0, inMalloc = 0, inFaults = 0;
  size_t samples = 0, threads = 0;
};

/// A line that could not be used: where, why, what to do.
struct MeasuredProblem {
  unsigned line; ///< the first
  std::string text;
  unsigned others = 0; ///< lines with the same
};

class Measurement {
public:
  std::string path;
  std::string tool;    ///< "perf stat", "mpgrun --profile", "mpgsim"
  std::string program; ///< as it was called; empty: the file does not say
  bool isModelled = false;
  /// Instead of it: what the threads were called, 15 bytes of it.
  std::set<std::string> commands;
  std::vector<MeasuredObject> objects;
  std::vector<ModelledGain> gains; ///< by base page
  std::vector<ModelledArray> arrays;
  std::optional<ModelledPlacement> placement;
  std::optional<SampledTime> sampled;
  std::vector<MeasuredProblem> problems;

  /// Adds \p count to that of the event \p name, which may carry a PMU and
  /// modifiers ("cpu_core/cycles/u"). Nothing happens for an event that
  /// is not asked for here; a 0 that cannot be is a problem of \p line.
  /// \p run: of counts that were taken one after the other; they are not added
  /// to those of another.
  void add(llvm::StringRef name, uint64_t count, unsigned line,
           llvm::StringRef run = "");
  void addProblem(unsigned line, std::string text);
  static bool isKnownEvent(llvm::StringRef name);
  /// One that comes with time: cycles, or time itself.
  static bool isTimeEvent(llvm::StringRef name);

  /// The file names no program, or one with the file name of \p path; of
  /// mpgsim's one more word is enough: "app.sim" is compiled from app's source.
  bool isFor(llvm::StringRef path) const;
  /// For a message.
  std::string programName() const;

  /// Nothing: not counted.
  std::optional<uint64_t> count(Quantity quantity) const;
  bool hasCounts() const { return !counts.empty(); }

private:
  struct Key {
    Quantity quantity;
    std::string part, name;
    bool operator<(const Key &other) const;
  };
  std::map<Key, uint64_t> counts;
};

/// Reads the file at \p path; "-": standard input. Errors name the file, the
/// line where there is one, and what to do. Unusable lines are in problems, and
/// the rest counts.
llvm::Expected<Measurement> readMeasurement(const std::string &path);

/// The same for \p text, which is the content of \p path.
llvm::Expected<Measurement> parseMeasurement(llvm::StringRef text,
                                             const std::string &path);

// Readers, one a format. Each gets the whole text of a file of its format.

/// mpgprofile-1 and mpgsim-1.
llvm::Error readMpgJson(llvm::StringRef text, Measurement &into);

/// XML or CSV of fapp -A.
bool isFapp(llvm::StringRef text);
llvm::Error readFapp(llvm::StringRef text, Measurement &into);

/// The output of likwid-perfctr -O.
bool isLikwid(llvm::StringRef text);
llvm::Error readLikwid(llvm::StringRef text, Measurement &into);

bool isPerfScript(llvm::StringRef text);
llvm::Error readPerfScript(llvm::StringRef text, Measurement &into);

/// The character between the fields of what perf stat -x writes; 0: it is not.
char perfStatSeparator(llvm::StringRef text);
llvm::Error readPerfStat(llvm::StringRef text, char separator,
                         Measurement &into);

/// The problem of a file with the reports of two runs.
constexpr char otherRun[] =
    "another run begins here, and its counts are added to those before, as if "
    "it were one; write each into a file of its own, and give all of them";

/// "path:line: reason"; \p line 0: of the file as a whole.
llvm::Error importError(const Measurement &of, unsigned line,
                        const llvm::Twine &reason);

/// Whether \p test(line, number) holds for one of the lines of \p text that
/// hold something; the first ends it. Numbers are from 1 on.
bool anyLine(
    llvm::StringRef text,
    llvm::function_ref<bool(llvm::StringRef line, unsigned number)> test);

/// Calls \p visit(line, number) for each of these lines.
void forEachLine(
    llvm::StringRef text,
    llvm::function_ref<void(llvm::StringRef line, unsigned number)> visit);

/// "8252", "1234.56", "1234,56", "1.5e+09"; from 0 to less than 2^63.
std::optional<double> parseDecimal(llvm::StringRef text);

/// The same, rounded.
std::optional<uint64_t> parseCount(llvm::StringRef text);

} // namespace mpg
