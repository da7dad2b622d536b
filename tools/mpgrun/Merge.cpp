// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --merge: reads the files one after another, lets Merge/ fold them, and
// writes the report. A file that is no report is counted, never an error.

#include "Support/Files.h"
#include "Support/Format.h"
#include "mpgrun.h"
#include "mpgrun/Merge/MergeReport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace mpg;

static void mergeFile(const std::string &path, MergeFold &fold) {
  Skip skip;
  if (std::optional<RankReport> report = readRankReport(path, skip))
    fold.add(path, *report);
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

static bool reportMergeError(StringRef name, std::error_code code) {
  if (code)
    error() << printable(name) << ": " << code.message() << "\n";
  return !code;
}

/// JSON that goes to standard output has it for itself.
static bool writeMerge(const std::string &jsonFile, const Merge &merge) {
  bool isWritten = true;
  if (jsonFile == "-")
    writeMergeJson(outs(), merge);
  else if (!jsonFile.empty())
    isWritten = reportMergeError(
        jsonFile, writeOutputFile(jsonFile, [&](raw_ostream &out) {
          writeMergeJson(out, merge);
        }));
  writeMergeText(jsonFile == "-" ? errs() : outs(), merge);
  outs().flush();
  std::error_code code = outs().error();
  outs().clear_error();
  return reportMergeError("standard output", code) && isWritten;
}

int mpg::runMerge(const RunOptions &options) {
  if (!fillStandardFiles(ClosedFile::isDevNull)) {
    error() << "standard output is closed; the report would have no place\n";
    return exitOwnError;
  }
  const std::string &jsonFile = options.dataFile;
  if (!jsonFile.empty() && jsonFile != "-" &&
      !reportMergeError(jsonFile, checkOutputFile(jsonFile)))
    return exitOwnError;
  MergeFold fold;
  for (const std::string &path : options.command)
    if (sys::fs::is_directory(path))
      mergeFolder(path, fold);
    else
      mergeFile(path, fold);
  Merge merge = fold.finish();
  if (!writeMerge(jsonFile, merge))
    return exitOwnError;
  if (merge.reports)
    return 0;
  error() << "no file is a report of mpgrun --report --json=FILE: there is "
             "nothing to merge\n";
  return exitNothingMerged;
}
