// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "Node/HugePages.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static const ProgramText programText = {
    "mpginfo", "mpginfo [options]",
    "mpginfo tells what this node and this job give a program that wants "
    "large\npages, and what to type to get more",
    "\nEXIT STATUS: 0 large pages can be had, 1 they cannot, or fewer than "
    "--need,\nor nobody knows, 2 usage error or no such DIRECTORY\n"};

/// A size in pages of 2 MiB; nothing if it is none.
static std::optional<uint64_t> parsePages(StringRef text) {
  std::optional<uint64_t> bytes = parseBytes(text);
  if (!bytes || *bytes == 0 || *bytes > uint64_t(INT64_MAX))
    return std::nullopt;
  return (*bytes - 1) / largePageBytes + 1;
}

std::optional<InfoOptions> mpg::parseOptions(int argc, char **argv,
                                             int &status) {
  OptionTable table;
  CommandLine line(table, programText, ArrayRef(argv + 1, size_t(argc - 1)));
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  const InputArgList &args = line.args();
  if (const Arg *arg = args.getLastArg(OPT_INPUT))
    return line.usageError(
        "'" + printable(arg->getValue()) +
            "' is too much: mpginfo is about the node; for a "
            "program there is mpgaudit",
        status);
  InfoOptions options;
  options.json = args.hasArg(OPT_json);
  if (const Arg *arg = args.getLastArg(OPT_root))
    options.root = arg->getValue();
  if (const Arg *arg = args.getLastArg(OPT_need)) {
    std::optional<uint64_t> pages = parsePages(arg->getValue());
    if (!pages)
      return line.usageError(
          "'" + printable(arg->getValue()) +
              "' of --need is no size; write it as 512M or 2G",
          status);
    options.neededPages = *pages;
  }
  return options;
}
