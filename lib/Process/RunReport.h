// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The large pages of a finished program. The kernel's list of mappings is the
// truth. The program's headers show which of them are .data, .bss or a stack;
// libmpg's heap is at the addresses that libmpg reserves for it. Only the
// reasons are libmpg's own words. Without that list (the program could not be
// traced, or was killed) libmpg's words are the only source, and the report
// notes it.

#ifndef MPG_PROCESS_RUNREPORT_H
#define MPG_PROCESS_RUNREPORT_H

#include "Elf/HintNote.h"
#include "Node/Node.h"
#include "Process/Ranks.h"
#include "Process/Smaps.h"
#include "Support/JsonItem.h"
#include "mpg/state.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mpg {

//===----------------------------------------------------------------------===//
// Hints of the program (HintReport.cpp)
//===----------------------------------------------------------------------===//
//
// The hints of a finished program: the note that the compiler passes left in
// its file, and whether this machine acts on it. Only the program itself is
// read; its libraries may carry other hints. Also the switch: the HPC tag
// address override of A64FX by Fujitsu's command fhetbo. It acts on all cores
// of the job on this node, not on one process, and is reset only when the job
// ends.

/// Where the vendor installs it. HW:fhetbo
constexpr const char *tagCommandPath = "/opt/FJSVxos/fhehpc/bin/fhetbo";

/// Runs `COMMAND enable|disable` and returns what it says in plain words:
/// "HPC tag override off on cores 12-59". The error names the command and its
/// status.
llvm::Expected<std::string> switchTags(const std::string &command, bool on);

/// "12-59" out of a core mask such as 0xffffffffffff000; empty if it is not
/// one.
std::string decodeCoreMask(llvm::StringRef mask);

/// The plain words for the output of fhetbo (messages FHE 1113 and FHE 1114).
std::string describeTagMessage(llvm::StringRef output);

struct HintReport {
  Notes notes; ///< only its hint notes, and what could not be read of them
  TagSupport support;

  /// Whether the hints of the note act here: the worst of what it asks for.
  Ability acts() const;
};

/// Nothing if \p program has no hint note of any version.
std::optional<HintReport> readHintReport(const std::string &program);

enum class RunRegion : uint8_t {
  data,
  bss,
  heap,
  stack,
  threadStack,
  threadHeap,
  mmap,
  library, ///< writable segments of shared libraries
  shared,
  text,        ///< the program's code
  rodata,      ///< what else of its file is not written to
  libraryText, ///< both, of libraries; with MPG_REMAP=all
};
constexpr size_t runRegionCount = size_t(RunRegion::libraryText) + 1;
llvm::StringRef regionName(RunRegion region);
/// Code and constants, whose large pages are the page cache's.
bool isOfPageCache(RunRegion region);
/// Bytes from which on memory on normal pages counts as missing: the two ends
/// of a region share large pages with others, heap and stack begin on normal
/// ones as well.
uint64_t forgivenBytes(RunRegion region);

struct RegionUse {
  RunRegion region;
  uint64_t mappedBytes = 0;  ///< addresses, in use or not
  uint64_t bytes = 0;        ///< in use
  uint64_t hugeBytes = 0;    ///< of these on large pages
  uint64_t poolBytes = 0;    ///< of these from the pool; others: transparent
  uint64_t unknownBytes = 0; ///< may be on large pages or not
  uint64_t middleBytes = 0;  ///< on transparent pages of 16 KiB to 1 MiB
  bool isMiddleKnown = true;
  uint64_t setAsideBytes = 0;  ///< reserved in the pool and not used
  uint64_t pagedInBytes = 0;   ///< touched by libmpg at the start
  uint64_t peakBytes = 0;      ///< in use at the peak, as far as it is known
  uint64_t peakHugeBytes = 0;  ///< of these on large pages then
  uint64_t pageBytes = 0;      ///< the largest page in it
  bool isCopied = false;       ///< code that is in no file (MPG_TEXT=copy)
  std::vector<uint64_t> nodes; ///< bytes on each NUMA node
  std::string reason;          ///< why not all of it; libmpg's words
  bool canMove = false; ///< library: a piece of it has a whole large page
};

/// A process of `mpgrun --children` that had libmpg and is not the program.
struct ProcessUse {
  uint32_t pid = 0, parent = 0;
  std::string command;
  std::string mode;
  bool hasEnded = false; ///< bytes are those of its end, else last reported
  uint64_t bytes = 0, hugeBytes = 0;
  uint64_t poolBytes = 0;    ///< known at the end only
  uint64_t unknownBytes = 0; ///< may be on large pages or not
  uint64_t heapPeakBytes = 0, heapPeakHugeBytes = 0;
  std::string reason; ///< the first message
};

struct RunReport {
  std::string program;
  RankPlace place;
  int waitStatus = 0;
  std::string mode;      ///< what libmpg used; without it what was asked for
  bool measured = false; ///< from the kernel, not from libmpg's words
  bool isTold = false;   ///< the kernel's list was read by libmpg itself
  bool hasState = false; ///< libmpg was at work in the program
  std::string library;   ///< libmpg's file; empty: it is in the program
  std::string unheard;   ///< why libmpg could not tell; "" if it could
  /// The file of the program in whose memory libmpg was not at the end. Where
  /// libmpg has told something all the same, exec put it in the first one's
  /// place: isReplaced.
  std::string endedAs;
  bool isReplaced = false;
  bool ownHeap = false; ///< malloc was libmpg's
  bool fallback = false;
  /// The larger of what libmpg counted and what was mapped at the end.
  uint64_t peakHugetlbBytes = 0;
  bool isPeakCounted = false;      ///< libmpg did count
  std::optional<HintReport> hints; ///< nothing: the program has none
  std::vector<RegionUse> regions;  ///< in the order of RunRegion, none twice
  std::vector<std::pair<unsigned, std::string>> messages;
  bool asksForOwnMaps = false;       ///< MPG_MMAP=thp was set
  bool asksForLibraries = false;     ///< MPG_REMAP=all was set
  bool hasProcesses = false;         ///< of --children
  std::vector<ProcessUse> processes; ///< who had the most first
  uint64_t processesLost = 0;        ///< for these the table was too short
  StallCounts stalls;                ///< while it ran
};

/// A writable segment of the program as it lay in memory.
struct ProgramSegment {
  uint64_t start, fileEnd, end;
};

/// The writable segments of \p path, moved to where \p areas show the program.
/// \p mappedName is its name there; "" if that is \p path.
std::vector<ProgramSegment> locateSegments(const std::string &path,
                                           const std::vector<MappedArea> &areas,
                                           llvm::StringRef mappedName = "");

/// Whether that is the name of the file of <mpg/state.h>, as /proc shows it.
bool isStateName(llvm::StringRef name);

/// Addresses that libmpg keeps for its heap; empty if malloc is not libmpg's.
struct HeapRange {
  uint64_t start = 0, end = 0;
  uint64_t tablesEnd = 0; ///< its tables lie after it
};
HeapRange getHeap(const mpg_state &state);

/// Regions of a process out of its mappings. pre: \p areas in order.
std::vector<RegionUse>
classifyAreas(const std::vector<MappedArea> &areas,
              const std::vector<ProgramSegment> &segments, HeapRange heap);

/// Code and constants of the program \p name, as \p areas have it; only what
/// has a large page and more. \p withLibraries: theirs, too, without the ends
/// that fill no large page.
std::vector<RegionUse> classifyText(const std::vector<MappedArea> &areas,
                                    llvm::StringRef name, bool withLibraries);

/// The region of mapping \p index of \p areas, if it is neither the program's
/// .data and .bss nor libmpg's heap. pre: \p areas in order.
RunRegion regionOfArea(const std::vector<MappedArea> &areas, size_t index);

/// Copies libmpg's state into the report; its regions only if the kernel's list
/// gave none. Copies nothing if the state is of another program than the one
/// whose memory was measured.
void addState(RunReport &report, const mpg_state &state);

/// Sets the peaks of thread stacks, thread heaps and other maps, which a
/// program often unmaps before its end: where \p regions, from an earlier
/// moment, have more than the report.
void addPeakMappings(RunReport &report, const std::vector<RegionUse> &regions);

/// Copies the entries of the other processes.
void addProcesses(RunReport &report, const mpg_state_table &table);

/// The state in \p bytes, which a program may have overwritten: counts are cut
/// to the arrays and texts are terminated. Null if libmpg did not write it. On
/// the heap, because 22 KiB may not fit a small stack (ulimit -s).
std::unique_ptr<mpg_state> checkedState(llvm::StringRef bytes);

/// A sentence: libmpg was not active in the program, or that is not known.
/// pre: hasState is false.
std::string describeAbsence(const RunReport &report);

/// The program's own memory that should have been on large pages and is not,
/// one sentence each; empty if all is. See forgivenBytes().
std::vector<std::string> findMissing(const RunReport &report);

/// The same for code and constants. Where none of a region of 2 MiB and more is
/// on large pages, that counts as well.
std::vector<std::string> findMissingText(const RunReport &report);

/// The node on which nearly all of a large region lies although threads ran on
/// others: stacks of threads lie there. Nothing if it is not so.
std::optional<unsigned> findCrowdedNode(const RunReport &report,
                                        const RegionUse &use);

/// "status 0", "ended by signal 9".
std::string describeEnding(int waitStatus);
/// The same as a number: a signal is below zero.
int endingNumber(int waitStatus);

/// Two columns of a report: what of \p bytes is on large pages, and the share
/// in percent, which is never 100 while a byte is missing.
std::string hugeColumns(uint64_t bytes, uint64_t hugeBytes,
                        uint64_t unknownBytes);

void writeRunText(llvm::raw_ostream &out, const RunReport &report);
void writeRunJson(llvm::raw_ostream &out, const RunReport &report);
/// Behind the schema: version, host, rank and number of ranks; what is not
/// known is absent.
void addPlace(JsonObject &document, const RankPlace &place);
/// Null where the kernel does not have them.
JsonItem stallsItem(const std::optional<MemoryStalls> &stalls);

//===----------------------------------------------------------------------===//
// Where it comes from (StateFile.cpp)
//===----------------------------------------------------------------------===//
//
// The two sources of a report about a program that mpgrun started: the memory
// file in which libmpg tells what it did, and the program's mappings in its
// last moment.

/// A file for libmpg to write to, marked as ours; it is not closed on exec.
/// Below zero, and errno, if there is none; then libmpg stays silent. \p
/// withProcesses: with a table for the processes that the program starts. \p
/// withMappings: libmpg notes the mappings before most of the memory goes back.
int makeStateFile(bool withProcesses = false, bool withMappings = false);

/// Adds the processes of that table to \p report, if there is one.
void readProcesses(int fd, RunReport &report);

/// libmpg's messages in \p fd until now; null if it did not run.
std::unique_ptr<mpg_state> readStateFile(int fd);

/// A program's memory at one moment.
struct ProgramMemory {
  std::vector<MappedArea> areas;
  /// Before most of the memory went back; empty: libmpg has not noted it.
  std::vector<MappedArea> peakAreas;
  std::string image; ///< the program's file
  /// libmpg writes to the state file; false: it is not in this program.
  bool hasState = false;
  bool isTold = false; ///< libmpg has read the list, for mpgrun may not
  std::vector<ProgramSegment> segments;
  HeapRange heap; ///< libmpg's, as far as it has told until then
};

/// Nothing if the mappings of \p pid may not be read. The kernel looks at every
/// page of it for that: it takes milliseconds for each GiB.
std::optional<ProgramMemory> readProgramMemory(pid_t pid, int stateFd);

/// For a program that may not be traced: asks libmpg to write its mappings at
/// its end.
void requestEnd(int stateFd);

/// The mappings that libmpg wrote at the end; nothing if mpgrun did not ask, or
/// the program ended by _exit or a signal, which skips libmpg's last step.
std::optional<ProgramMemory> readToldMemory(int stateFd);

/// Fills in the regions of \p report.
void addMemory(const ProgramMemory &memory, RunReport &report);

} // namespace mpg

#endif // MPG_PROCESS_RUNREPORT_H
