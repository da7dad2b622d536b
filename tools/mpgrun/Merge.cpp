// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --merge: reads the files one after another, lets Merge/ fold them, and
// writes the report. A file that is no report is counted, never an error.

#include "Support/Files.h"
#include "mpgrun.h"
#include "mpgrun/Merge/MergeReport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace mpg;

static void mergeFile(const std::string &path, MergeFold &fold) {
  Skip skip;
  RankFile file = readRankFile(path, skip);
  if (file.report)
    fold.add(path, *file.report);
  else if (file.profile)
    fold.add(path, std::move(*file.profile));
  else
    fold.skip(path, skip);
}

/// The files in the folder \p path, not of folders in it.
static void mergeFolder(const std::string &path, MergeFold &fold) {
  std::vector<std::string> names;
  if (int code = readNames(path, names))
    fold.skip(path, {SkipKind::unreadable, strerror(code)});
  for (const std::string &name : names) {
    SmallString<256> file(path);
    sys::path::append(file, name);
    mergeFile(file.str().str(), fold);
  }
}

int mpg::runMerge(const RunOptions &options) {
  if (!canWriteReports(options))
    return exitOwnError;
  MergeFold fold;
  for (const std::string &path : options.command)
    if (sys::fs::is_directory(path))
      mergeFolder(path, fold);
    else
      mergeFile(path, fold);
  Merge merge = fold.finish();
  bool isAny = merge.reports || merge.profiles.profiles;
  RunOptions written = options;
  // Nothing replaces a file that is there.
  if (!isAny)
    for (std::string *file : {&written.dataFile, &written.htmlFile})
      if (*file != "-")
        file->clear();
  if (!writeReports(
          written, [&](raw_ostream &out) { writeMergeHtml(out, merge); },
          [&](raw_ostream &out) { writeMergeJson(out, merge); },
          [&](raw_ostream &out) { writeMergeText(out, merge); }))
    return exitOwnError;
  if (isAny)
    return 0;
  error()
      << "no file is a report of mpgrun --report --json=FILE or a profile of "
         "mpgrun --profile --json=FILE: there is nothing to merge\n";
  return exitNothingMerged;
}
