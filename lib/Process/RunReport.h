// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The large pages of a finished program. The kernel's list of mappings is the
// truth. The program's headers show which of them are .data, .bss or a stack;
// libmpg's heap is at the addresses that libmpg reserves for it. Only the
// reasons are libmpg's own words. Without that list (the program could not be
// traced, or was killed) libmpg's words are the only source, and the report
// notes it.

#pragma once

#include "Elf/HintNote.h"
#include "Node/Node.h"
#include "Process/Ranks.h"
#include "Process/RunRegions.h"
#include "Support/JsonItem.h"
#include "mpg/state.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>

namespace mpg {

// HintReport.cpp: the hints of a finished program: the note that the compiler
// passes left in its file, and whether this machine acts on it. Only the
// program itself is read; its libraries may carry other hints. Also the switch:
// the HPC tag address override of A64FX by Fujitsu's command fhetbo. It acts on
// all cores of the job on this node, not on one process, and is reset only when
// the job ends.

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

  /// Whether all that the note asks for has an effect on this machine.
  Ability acts() const;
};

/// Nothing if \p program has no hint note of any version.
std::optional<HintReport> readHintReport(const std::string &program);

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
  std::string unheard;   ///< why libmpg could not report; "" if it could
  /// The file of the program at the end, if libmpg was not in its memory then.
  /// If libmpg has reported something all the same, exec has put that program
  /// in the place of the first one: isReplaced.
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
  std::vector<ProcessUse> processes; ///< the largest first
  uint64_t processesLost = 0;        ///< that the table had no room for
  StallCounts stalls;                ///< while it ran
};

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

/// The addresses that libmpg keeps for its heap.
HeapRange getHeap(const mpg_state &state);

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
/// Adds version, host, rank and number of ranks behind the schema; what is not
/// known is absent.
void addPlace(JsonObject &document, const RankPlace &place);
/// Null where the kernel does not have them.
JsonItem stallsItem(const std::optional<MemoryStalls> &stalls);

} // namespace mpg
