// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decision tree of docs/environment.md as a program: which variables a
// program should be started with, and why. "What to set, and why" there has
// every decision with its reason; what depends on a profile and not on the
// program or its script is left to the reader, unless there is one
// (lib/Import).

#pragma once

#include "Audit/Audit.h"
#include "Import/Measurement.h"
#include "JobScript/JobScript.h"

namespace mpg {

struct Recommendation {
  std::string name,
      value;          ///< "XOS_MMM_L_PAGING_POLICY", "demand:demand:demand"
  std::string reason; ///< with the figure behind it and its source
  std::string rule;   ///< that a measurement has fired; "": none was needed
  /// The launch has this value already.
  bool alreadySet = false;
};

struct RuleVerdict {
  std::string rule; ///< docs/howto-profile.md has the table
  std::string file, tool, text;
};

/// A line of the script that speaks against a recommendation.
struct Contradiction {
  unsigned line; ///< 0: not in the script
  std::string text;
};

struct Advice {
  /// Basis of the decisions: "target fugaku, 48 threads, 1 process a node".
  std::string context;
  /// "threads unknown: OMP_NUM_THREADS is $N; taken as ..."
  std::vector<std::string> unknown;
  std::vector<RuleVerdict> verdicts;
  std::vector<Recommendation> settings;
  /// A launcher gives the program none of the script's exports: a step says
  /// where to write the settings.
  bool isWithheld = false;
  std::vector<Contradiction> contradictions;
  /// Steps beside variables: relink, give each node a copy. Lines after the
  /// first that start with two spaces can be pasted.
  std::vector<std::string> steps;
  /// Those of the steps without which nothing is on large pages, in one line
  /// each: "start it as: mpgrun ./app ...".
  std::vector<std::string> musts;
};

/// \p script and \p launch may be null: then the program alone decides. \p
/// program needs its facts (AuditSettings::wantFacts). If it was not found or
/// is not a program, only its path and target are used. \p memoryBytes: what
/// one node has for the job, if the user gave it. \p measured: runs of this
/// program, none of them null.
Advice recommend(const FileReport &program, const JobScript *script,
                 const JobLaunch *launch,
                 std::optional<uint64_t> memoryBytes = std::nullopt,
                 llvm::ArrayRef<const Measurement *> measured = {});

/// export lines with comments, ready to be pasted into a shell script. One
/// line where there is nothing to do. \p brief: without reasons, five lines at
/// most beside what was measured.
void writeAdvice(llvm::raw_ostream &out, const Advice &advice,
                 llvm::StringRef programPath, bool brief = false);

/// One object, without a line's end; schema mpgadvice-1 has it in its list.
void writeAdviceJson(llvm::raw_ostream &out, const Advice &advice,
                     llvm::StringRef programPath);

} // namespace mpg
