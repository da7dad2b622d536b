// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The large objects of a program that runs under mpgrun: variables, blocks of
// the heap by where they were allocated, stacks, mappings, with how they lie on
// pages at the program's end. For a program that was killed: what was seen
// until then.

#pragma once

#include "DebugInfo/BlockOrigin.h"
#include "Measure/Counters.h"
#include "Measure/MachineLoad.h"
#include "Process/Smaps.h"
#include "Process/StateFile.h"
#include "Profile/ProfileTable.h"
#include "Support/Table.h"
#include "mpg/profile.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

// WorkingSet.cpp: the memory that a program uses from second to second, by the
// processor's accessed bits: /proc/PID/clear_refs clears them, /proc/PID/smaps
// counts them. The owner of the process may use both, on any kernel with
// CONFIG_PROC_PAGE_MONITOR. smaps counts by mapping, so libmpg makes 2 MiB
// frames of large blocks separate mappings (runtime/src/base/AllocationSites).
// Not taken: idle page tracking and DAMON, which know single pages, but are for
// root, and are in neither Debian 12's kernels nor others that were at hand.

/// Sums over intervals, to be divided by their number. Bytes are those of base
/// pages; what lies on large ones is not counted.
struct AccessCount {
  uint64_t intervals = 0;
  uint64_t bytes = 0;         ///< addresses
  uint64_t presentBytes = 0;  ///< of these with memory
  uint64_t accessedBytes = 0; ///< of these accessed
  uint64_t foreignBytes = 0;  ///< of bytes: known by their mapping's share
  /// 2 MiB frames that are known one by one and have memory, and of these those
  /// with an access: by quarters of the frame that were accessed.
  uint64_t frames = 0;
  std::array<uint64_t, 4> hotFrames = {};
  uint64_t accessedInFrames = 0; ///< bytes

  /// Adds all but the intervals, which parts have in common.
  void addSums(const AccessCount &other);
  /// Adds memory beside this one, which may have been there in fewer intervals
  /// or more.
  void addPart(AccessCount part);
  uint64_t allHotFrames() const;
  bool isOfMapping() const { return foreignBytes * 2 > bytes; }

  // In percent; nothing without frames.
  std::optional<double> hotFramePercent() const;
  /// The share of the accessed frames that was not accessed (page skew).
  std::optional<double> skewPercent() const;
  /// Memory that large pages would add to accessed bytes, in an interval.
  std::optional<uint64_t> hotBloatBytes() const;

private:
  void spreadOver(uint64_t wanted);
};

class WorkingSet {
public:
  /// \p tableFd: where libmpg writes its blocks, or below zero.
  explicit WorkingSet(int tableFd) : tableFd(tableFd) {}

  void start();
  /// Whether an interval is over.
  bool isDue() const;
  /// Ends an interval and begins the next. \p atEnd: the program's last one,
  /// which is dropped if it is too short.
  void inspect(pid_t pid, bool atEnd);

  AccessCount atSite(uint32_t site) const;
  /// Accesses to addresses outside of blocks.
  AccessCount within(uint64_t start, uint64_t end) const;
  unsigned intervals() const { return looks; }
  /// The mean length of an interval. pre: there are some.
  double meanSeconds() const { return seconds / looks; }
  /// Why nothing is known; empty: it is.
  std::string missing() const;

private:
  /// New memory counts as accessed, because something filled it: an interval in
  /// which memory grew counts only if memory grew in all of them.
  struct Sums {
    AccessCount settled, filling;
    void add(const AccessCount &interval, bool isFilling);
    const AccessCount &best() const {
      return settled.intervals ? settled : filling;
    }
  };
  /// A mapping, or its part outside of blocks.
  struct Piece {
    uint64_t end = 0;
    uint64_t presentBytes = 0; ///< at the end of the last interval
    unsigned lookedAt = 0;     ///< in which it was there
    Sums sums;
  };
  void addAreas(const std::vector<MappedArea> &areas);
  void addBlocks(const std::vector<mpg_profile_block> &blocks,
                 const std::vector<AccessCount> &counts);
  void addOther(const MappedArea &area, uint64_t bytes);

  int tableFd;
  double begin = 0, due = 0; ///< by nowSeconds()
  double seconds = 0;        ///< of all intervals
  unsigned looks = 0;
  std::string problem;
  /// Memory of blocks by their addresses, at the end of the last interval.
  std::map<uint64_t, uint64_t> presentBytes;
  std::map<uint32_t, Sums> sites;
  std::map<uint64_t, Piece> others; ///< by first address
};

// Names (ProfileSymbols.cpp). The files that are mapped into a process, and
// names of its data from their symbol tables. A stripped file has the names
// that it exports.

/// A variable.
struct DataName {
  std::string name, file;
  uint64_t start, end;
  bool isProgram; ///< in the program, not in one of its libraries
  bool isZero;    ///< of .bss
};

class ProfileSymbols {
public:
  /// \p program: as /proc/PID/exe has it.
  ProfileSymbols(const std::vector<MappedArea> &areas, std::string program);

  /// Without a known file it is the address alone.
  CallAddress call(uint64_t address);
  /// Variables of at least \p min bytes, by address.
  std::vector<DataName> data(uint64_t min);

private:
  struct File {
    std::string path;
    uint64_t start = 0, end = 0; ///< addresses from the first to the last
    bool hasCode = false;
    std::optional<uint64_t> first; ///< address in the file of its start
  };
  void addData(const File &file, uint64_t min,
               std::vector<DataName> &result) const;
  std::string getName(const File &file) const;

  std::vector<File> files; ///< by address
  std::string program;
};

struct ProfileObject {
  RunRegion region = RunRegion::mmap;
  /// The variable, the function that allocates, or what it is in words.
  std::string name;
  std::string file;                 ///< program or library of it; may be empty
  std::vector<std::string> callers; ///< of a site: from the inside out
  uint64_t bytes = 0;               ///< at the end
  uint64_t peakBytes = 0;           ///< the most at one time
  uint64_t blocks = 0;              ///< of a site: allocated until now
  /// How \p lookedBytes of it lie; nothing where it could not be read. Of a
  /// site all of whose blocks were given back: one of them, just before.
  std::optional<PageUse> pages;
  uint64_t lookedBytes = 0;
  bool isHugeKnown = true; ///< hugeBytes of \p pages is known
  FaultCount faults;
  uint64_t tlbMisses = 0;   ///< samples
  uint64_t codeSamples = 0; ///< of code: of its instructions, in user time
  AccessCount accesses;     ///< of no interval if it is not known
};

/// The request to WorkingSet, and whether it could answer.
struct WorkingSetFacts {
  unsigned intervals = 0;
  double meanSeconds = 0; ///< of an interval
  std::string missing;    ///< why nothing is known; empty: it is
};

struct Profile {
  std::string program;
  RankPlace place;
  int waitStatus = 0;
  double seconds = 0;
  bool isMeasured = false; ///< the memory was looked at in the end
  std::string problem;     ///< why something is missing; empty if nothing is
  uint64_t blocksLost = 0; ///< more than the tables can hold
  uint64_t sites = 0;
  uint32_t firstThread = 0;
  uint64_t faults = 0; ///< page faults of all of it, and its children
  uint64_t faultsLost = 0;
  std::string faultsMissing; ///< why they are not known; empty: they are
  bool isUserFaults = false; ///< without those that the kernel caused
  FaultCosts faultCosts;
  std::string tlbMissesMissing; ///< empty if there are samples
  uint64_t tlbMisses = 0;       ///< samples
  std::string codeMissing;      ///< empty if there are samples of code
  uint64_t codeSamples = 0;     ///< of all code that ran
  /// Work that other processes did for it, which no row has; empty: none.
  std::string otherProcesses;
  std::vector<CounterValue> counters;        ///< of all of it, and its children
  std::optional<MemoryStalls> stalls;        ///< of the machine in that time
  std::string defrag;                        ///< the kernel's word; empty: none
  std::optional<WorkingSetFacts> workingSet; ///< nothing: not asked for
  std::vector<ProfileObject> objects;        ///< the largest peak first
};

/// Smaller objects get no row.
constexpr uint64_t minObjectBytes = MPG_PROFILE_LEAST;
/// Code gets a row from the size of a large page on: any program has a C
/// library.
constexpr uint64_t minCodeBytes = hugeFrameBytes;

/// Looks at a program while it runs and at its end.
class ProfileRecorder {
public:
  /// \p stateFd: of makeStateFile(), or below zero; \p hasTable: what
  /// addProfileTable() said.
  ProfileRecorder(int stateFd, bool hasTable, bool wantsWorkingSet)
      : tableFd(hasTable ? stateFd : -1) {
    if (wantsWorkingSet)
      workingSet.emplace(tableFd);
  }

  bool hasTable() const { return tableFd >= 0; }

  /// Before it calls exec.
  void start(pid_t pid);
  /// From time to time while it runs.
  void inspect(pid_t pid);
  /// While the program stands still in its last moment; \p memory: what it has
  /// then.
  void inspectAtEnd(pid_t pid, ProgramMemory memory);
  /// After it. \p profile: program, status and time are there.
  void finish(Profile &profile);

private:
  struct Range {
    uint64_t start, end;
    size_t object;
  };
  void inspectCode(pid_t pid);
  void inspectFiles(pid_t pid);
  void addFilesOfBefore();
  void readFaults();
  void drainInto(AddressSampler &from, ProfileFaults &into);
  void addFaults();
  void addLostFaults();
  void addAccesses(Profile &profile);
  void addVariables();
  void addBlocks();
  void addRest(const std::vector<ProgramSegment> &segments, HeapRange heap);
  void addCode();
  void countCode(Profile &profile);
  void addGap(size_t area, uint64_t start, uint64_t end, RunRegion region);
  void measure(pid_t pid);
  void nameSites();

  int tableFd;
  unsigned knownSites = 0, looks = 0;
  bool isMeasured = false;
  std::vector<MappedArea> areas;
  std::string image; ///< of /proc/PID/exe
  std::optional<Counters> counters;
  std::optional<MemoryStalls> stallsBefore;
  AddressSampler sampler{AddressSampler::Of::pageFaults};
  AddressSampler codeSampler{AddressSampler::Of::code};
  AddressSampler tlbSampler{AddressSampler::Of::tlbMisses};
  std::map<uint64_t, uint64_t> codeSamples; ///< by page of 4 KiB
  ProfileFaults tlbMisses;
  ProfileFaults faults;
  std::optional<WorkingSet> workingSet;
  ProfileTable table;
  std::vector<ProfileObject> objects; ///< those of the table's sites first
  std::vector<Range> ranges;          ///< by address, none over another
  /// Files that the program has shared so far: each when it was largest.
  std::map<std::string, MappedArea> files;
  double filesDue = 0; ///< by nowSeconds()
  std::string otherProcesses;
  /// Objects for memory between named ones, by their names.
  std::map<std::pair<RunRegion, std::string>, size_t> rest;
};

/// A line of what to do next.
struct AdviceLine {
  uint64_t bytes; ///< that it is about
  std::string text, command;
};

/// The next steps for a program that has run once: the most useful first, at
/// most five. \p command: the program and its arguments, as they are typed.
std::vector<AdviceLine> adviseNext(const RunReport &report,
                                   const Profile &profile,
                                   const std::string &command);

void writeAdvice(llvm::raw_ostream &out, llvm::ArrayRef<AdviceLine> lines);

void writeProfileText(llvm::raw_ostream &out, const Profile &profile);
void writeProfileHtml(llvm::raw_ostream &out, const Profile &profile);
void writeProfileJson(llvm::raw_ostream &out, const Profile &profile);

// Tables and words (ProfileText.cpp) that text and page share.

/// At most \p max rows.
Table makeObjectTable(const Profile &profile, size_t max);
/// The same of accesses. pre: there are some.
Table makeAccessTable(const Profile &profile, size_t max);

// Bars (ProfileHtml.cpp), as markup; empty where nothing is known.

/// Shows how much of \p object lay on large pages, on others, or was not in
/// use. \p max: bytes of a bar of full length.
std::string drawPages(const ProfileObject &object, uint64_t max);
/// Shows which threads touched it first.
std::string drawThreads(const FaultCount &faults, uint32_t firstThread);
/// Frames without an access, then those with one, the fullest last.
std::string drawFrames(const AccessCount &count);

/// Whether the working set of any object is known.
bool hasAccesses(const Profile &profile);

/// Whether it is known how much of it lay on large pages. pre: it has pages.
bool isHugeKnown(const ProfileObject &object);

/// "99 %"; never 100 while a byte is missing.
std::string percentText(uint64_t part, uint64_t all);
/// "99 %"; "?" of nothing.
std::string percentText(std::optional<double> percent);

/// "main", "thread 4711", "48 threads, main 60 %": who touched it first. pre:
/// there are faults.
std::string describeThreads(const FaultCount &count, uint32_t firstThread);

/// Seconds of CPU time that the faults of \p object took, estimated; nothing if
/// it is not known what one takes.
std::optional<double> faultSeconds(const ProfileObject &object,
                                   const FaultCosts &costs);
/// Names and a value, or names and why they have none: one row for each reason.
std::vector<std::pair<std::string, std::string>>
describeCounters(llvm::ArrayRef<CounterValue> counters);

/// "main+0x23 61 %, grid 30 %; of 4711 samples", or why it is not known; empty:
/// the counters' line says so.
std::string describeTlbMisses(const Profile &profile);

/// "libLLVM.so 62 % (0 of 24 MiB on large pages), other code 38 %; of 4711
/// samples", or why it is not known; empty: no code is that large.
std::string describeCode(const Profile &profile);

/// "4711, about 4000 of them in these objects; ...", or why it is not known.
std::string describeFaults(const Profile &profile);

/// The result of \p count for large pages: "cold: deserves no large pages",
/// "sparse: large pages would hold 300 MiB beside it", "dense"; "of its whole
/// mapping" if no more is known, empty if nothing is.
std::string describeAccesses(const AccessCount &count);

/// "accessed within 1.0 s, mean of 5 times", or why that is not known. pre: it
/// was asked for.
std::string describeWorkingSet(const Profile &profile);

/// Hardly any of its frames is accessed.
bool isCold(const AccessCount &count);
/// Most of a frame that is accessed is not, and that is much.
bool isSparse(const AccessCount &count);

} // namespace mpg
