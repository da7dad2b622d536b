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

static bool reportMergeError(StringRef name, std::error_code code) {
  if (code)
    error() << printable(name) << ": " << code.message() << "\n";
  return !code;
}

/// JSON on standard output has nothing beside it.
static bool writeMerge(const RunOptions &options, const Merge &merge) {
  const std::string &jsonFile = options.dataFile;
  bool isWritten = true;
  auto write = [&](const std::string &file, auto *writer) {
    if (!file.empty())
      isWritten &= reportMergeError(
          file,
          writeOutputFile(file, [&](raw_ostream &out) { writer(out, merge); }));
  };
  write(options.htmlFile, writeMergeHtml);
  if (jsonFile == "-")
    writeMergeJson(outs(), merge);
  else
    write(jsonFile, writeMergeJson);
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
  for (const std::string &file : {options.dataFile, options.htmlFile})
    if (!file.empty() && file != "-" &&
        !reportMergeError(file, checkOutputFile(file)))
      return exitOwnError;
  MergeFold fold;
  for (const std::string &path : options.command)
    if (sys::fs::is_directory(path))
      mergeFolder(path, fold);
    else
      mergeFile(path, fold);
  Merge merge = fold.finish();
  if (!writeMerge(options, merge))
    return exitOwnError;
  if (merge.reports || merge.profiles.profiles)
    return 0;
  error()
      << "no file is a report of mpgrun --report --json=FILE or a profile of "
         "mpgrun --profile --json=FILE: there is nothing to merge\n";
  return exitNothingMerged;
}
