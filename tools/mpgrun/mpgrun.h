// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interfaces between the parts of mpgrun. It writes one line on standard
// error, and the file of a report. A report is about a program and must not
// harm its run: mpgrun does not wait for a process that might read it, and the
// program's end decides the exit status, even if the file cannot be written.

#pragma once

#include "Options.h"
#include "Process/Program.h"
#include "mpgrun/Compare/CompareRanks.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <sys/types.h>

namespace mpg {

// Standard error and standard files. mpgrun may be started without standard
// files: the next file to be opened would take such a number, and what is
// printed would end in it.

inline llvm::raw_ostream &error() { return llvm::errs() << "mpgrun: error: "; }
inline llvm::raw_ostream &note() { return llvm::errs() << "mpgrun: note: "; }

/// The replacement of a closed descriptor in a program that mpgrun starts.
enum class ClosedFile { staysClosed, isDevNull };

/// Opens /dev/null for those of the descriptors 0 to 2 that are closed. False
/// if standard output was.
bool fillStandardFiles(ClosedFile inProgram);

using ReportWriter = llvm::function_ref<void(llvm::raw_ostream &)>;

// The file of a report

/// Prints a line if a file of that name cannot be written now. Makes no file,
/// but its folder if the name of that depends on the job.
void warnIfNotWritable(llvm::StringRef pattern);

/// Writes the file that \p pattern names for the program \p pid, with what \p
/// write prints. A pipe without a reader is an error. Prints errors and returns
/// false.
bool writeReportFile(llvm::StringRef pattern, pid_t pid, ReportWriter write);

// Reports on standard output and in the files of the options

/// True if standard output is open and each of the files can be written. Prints
/// why not.
bool canWriteReports(const RunOptions &options);

/// JSON on standard output has nothing beside it. Files come first: a pipe that
/// is not read any more ends mpgrun. Prints errors and returns false.
bool writeReports(const RunOptions &options, ReportWriter html,
                  ReportWriter json, ReportWriter text);

// Notes about a program (ProgramNotes.cpp). mpgrun's notes about a program
// before it runs it: why it cannot be run, and what keeps a preloaded library
// from working in it.

struct Obstacle {
  std::string text;     ///< empty: there is none
  bool isWhole = false; ///< no mode changes anything in the program
};

/// The large pages that \p program cannot have.
Obstacle findObstacle(const RunOptions &options, const Program &program);

/// The reason why a program with tags dies on a processor with memory tagging;
/// "" without one.
std::string findTagConflict(const Program &program);

/// Why the kernel will not move pages at their next touch; "" if it will.
std::string findMoveObstacle();

/// True if \p program can be tried at all. If not it prints why, and \p status
/// is the exit status for that.
bool canBeTried(const RunOptions &options, const Program &program, int &status);

/// Prints why exec failed with \p code. Returns the exit status for that.
int refuseProgram(const RunOptions &options, const Program &program, int code);

// Comparisons (Compare.cpp, CompareRank.cpp). mpgrun --compare: makes the plan
// out of the options, lets Compare/ carry it out, and writes the report.

/// The exit status of mpgrun.
/// pre: \p options ask for a comparison; \p program can be tried.
int runComparison(const RunOptions &options, const Program &program,
                  const std::string &libraryPath);

/// Runs the program as one rank of a comparison and ends as it did.
/// pre: \p program can be tried.
int runComparedRank(const RankOrder &order, const RunOptions &options,
                    const Program &program, const std::string &libraryPath);

/// mpgrun --merge (Merge.cpp): the exit status.
int runMerge(const RunOptions &options);

} // namespace mpg
