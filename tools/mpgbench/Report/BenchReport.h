// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reports of a run, and what the tables of several of them share: short
// names of points, what lay under them, and numbers with as many digits as mean
// something.

#pragma once

#include "Support/Table.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

void writeBenchText(llvm::raw_ostream &out, const BenchRun &run);
void writeBenchCsv(llvm::raw_ostream &out, const BenchRun &run);
void writeBenchHtml(llvm::raw_ostream &out, const BenchRun &run);

/// "7", or "2 of 7" where time was up before the rest of the rounds.
std::string describeRounds(const BenchRun &run);

/// A table of the points that both runs have: ratio after / before with its
/// interval, and whether the difference is real; then what only one has.
/// Returns how many points became worse for real.
unsigned writeComparison(llvm::raw_ostream &out, const BenchRun &before,
                         const BenchRun &after);

// Results that may be given to anybody (BenchAnonymous.cpp). Nothing in them
// names the machine, its owner or a place in its file system.

/// Names of this machine and of the user, as they may occur in messages of the
/// system.
std::vector<std::string> namesOfThisPlace();

/// \p text with "(path)" for each absolute path and "(name)" for each word out
/// of \p names.
std::string anonymised(llvm::StringRef text,
                       const std::vector<std::string> &names);

/// Does that to all texts of \p run that are not the program's own, leaves the
/// day of its date, adds the versions of C library and compiler, and takes out
/// what every sample repeats about counters that the machine does not have.
void anonymise(BenchRun &run, const std::vector<std::string> &names);

// Cells of tables

/// The points with samples: parameters that tell them apart, what was measured,
/// \p figures, and on which pages.
Table makePointTable(const BenchRun &run, const ExperimentResult &result,
                     llvm::ArrayRef<std::string> figures = {});
/// The guide's figures.
Table makeGuideTable(const ExperimentResult &result);
/// Points without samples, "pages=1G, 12 points: no such pages"; a line for
/// each reason.
std::vector<std::string> describeUnmeasured(const ExperimentResult &result);

struct PointCounts {
  size_t all = 0, measured = 0, busy = 0;
  size_t rounds = 0; ///< of the point with most samples
};
PointCounts countPoints(const BenchRun &run);

// Names of points. Of their parameters only those that tell them apart.

/// "yes", "no", "undecided", "not measured".
llvm::StringRef kindWord(Conclusion::Kind kind);

/// "pages 2M, threads 1": all but those with the names \p without.
std::string describeOthers(const Parameters &parameters,
                           llvm::ArrayRef<llvm::StringRef> without);

/// "all with pages=2M, threads=1": what all points share, of which there are
/// two at least; empty: nothing.
std::string describeShared(const ExperimentResult &result);

/// "pages=2M threads=1": without what all points share; the whole name if that
/// leaves nothing.
std::string pointLabel(const ExperimentResult &result,
                       const PointResult &point);

} // namespace mpg
