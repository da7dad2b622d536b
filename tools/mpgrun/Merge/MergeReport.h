// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --merge: one screen for people, a page, and JSON.

#pragma once

#include "Support/Table.h"
#include "mpgrun/Merge/MergeFold.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

// The words that text and page have in common.

/// "4,096 reports of 1,024 nodes, ranks 0 to 4095"
std::string mergeTitle(const Merge &merge);
/// "all: ...", then a line for each setting that differs.
std::vector<std::string> settingLines(const Merge &merge);
/// About a region: why most of it is on normal pages, what is not known.
std::vector<std::string> regionLines(const Merge &merge);
/// Reports that are missing, or not as they should be.
std::vector<std::string> missingLines(const Merge &merge);
/// "c17: 3 % of bss on large pages, 812 pages of 2 MiB short: no free pages"
std::string showOutlier(const Outlier &outlier);
/// "profiles: 128 of ./app": what they are of, and what has no place in the
/// table.
std::vector<std::string> profileLines(const MergedProfiles &profiles);
/// The \p maxRows largest objects.
Table profileTable(const MergedProfiles &profiles, size_t maxRows);
/// The files that are not reports, a line for each kind.
std::vector<std::string> skippedLines(const Merge &merge);
/// With a picture of the distribution of each.
Table makeRegionTable(const Merge &merge);
/// That picture, as markup.
std::string drawTenths(const MergedRegion &region);

void writeMergeText(llvm::raw_ostream &out, const Merge &merge);
/// For a browser, with the distribution of each region.
void writeMergeHtml(llvm::raw_ostream &out, const Merge &merge);
/// Schema mpgmerge-1.
void writeMergeJson(llvm::raw_ostream &out, const Merge &merge);

} // namespace mpg
