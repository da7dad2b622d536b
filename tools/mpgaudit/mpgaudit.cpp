// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgaudit: tells before the run whether a program gets large pages. Here are
// only the command line, the order of output and the exit status; what is
// looked for is in lib/Audit/Checks.h.

#include "CommandLine.h"
#include "Run.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

/// The report of the one ELF file at \p path; nothing after a message.
static std::optional<FileReport> auditOne(const AuditSettings &settings,
                                          const std::string &path) {
  std::vector<FileReport> reports;
  std::string reason;
  Error error = readImages(path, [&](Image &image) {
    reports.push_back(auditImage(image, settings));
  });
  if (error)
    reason = toString(std::move(error));
  else if (reports.size() != 1)
    reason = "an archive; --diff compares two files";
  else if (reports.front().kind == ElfKind::notElf)
    reason = reports.front().notElfReason;
  else if (reports.front().unusable())
    reason = "damaged; audit it alone for details";
  if (reason.empty())
    return std::move(reports.front());
  errs() << errorLine(path, reason);
  return std::nullopt;
}

/// 1: something became worse.
static int compareBuilds(const Options &options) {
  AuditSettings settings = options.settings;
  openLibraries(options, settings);
  std::optional<FileReport> before = auditOne(settings, options.operands[0]);
  std::optional<FileReport> after = auditOne(settings, options.operands[1]);
  if (!before || !after)
    return 2;
  ProjectPolicy policy(options);
  policy.apply(before->findings, before->path);
  policy.apply(after->findings, after->path);
  return writeDiff(outs(), *before, *after) ? 1 : 0;
}

int main(int argc, char **argv) {
  int status = 0;
  if (std::optional<Options> options = parseOptions(argc, argv, status))
    status = options->mode == RunMode::diff ? compareBuilds(*options)
                                            : Run(*options).execute();
  return endOutput("mpgaudit", status);
}
