// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "Node/HugePages.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#define MPG_OPTIONS_FILE "MpginfoOptions.inc"
#include "../OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static std::nullopt_t usageError(const Twine &text, int &status) {
  errs() << "mpginfo: error: " << text
         << "\nmpginfo --help lists the options\n";
  status = 2;
  return std::nullopt;
}

static void printHelp(const OptionTable &table) {
  table.printHelp(outs(), "mpginfo [options]",
                  "mpginfo tells what this node and this job give a program "
                  "that wants large\npages, and what to type to get more");
  outs() << "\nEXIT STATUS: 0 large pages can be had, 1 they cannot, or fewer "
            "than --need,\nor nobody knows, 2 usage error or no such "
            "DIRECTORY\n";
}

/// "64K", "2M", "28GiB", "65536", in 2 MiB pages; nothing if it is no size.
static std::optional<uint64_t> parsePages(StringRef text) {
  uint64_t number = 0;
  if (text.consumeInteger(10, number))
    return std::nullopt;
  unsigned shift = 0;
  if (!text.empty()) {
    size_t unit = StringRef("KMGT").find(toUpper(text.front()));
    if (unit == StringRef::npos)
      return std::nullopt;
    shift = 10 * unsigned(unit + 1);
    text = text.drop_front();
    text.consume_front("i");
    text.consume_front("B");
  }
  if (!text.empty() || number == 0 || number > uint64_t(INT64_MAX) >> shift)
    return std::nullopt;
  return ((number << shift) - 1) / largePageBytes + 1;
}

std::optional<InfoOptions> mpg::parseOptions(int argc, char **argv,
                                             int &status) {
  OptionTable table;
  unsigned missingIndex, missingCount;
  ArrayRef<const char *> words(argv + 1, size_t(argc - 1));
  // The parser passes over empty words.
  if (is_contained(words, StringRef()))
    return usageError("an argument is empty; is a variable not set?", status);
  InputArgList args = table.ParseArgs(words, missingIndex, missingCount);
  status = 0;
  if (const Arg *arg = args.getLastArg(OPT_UNKNOWN)) {
    std::string typed = arg->getAsString(args), nearest;
    std::string text = "unknown option '" + printable(typed) + "'";
    if (table.findNearest(typed, nearest) <= 2)
      text += "; did you mean '" + nearest + "'?";
    return usageError(text, status);
  }
  if (args.hasArg(OPT_help)) {
    printHelp(table);
    return std::nullopt;
  }
  if (args.hasArg(OPT_version)) {
    outs() << "mpginfo (mpgtools) " MPG_VERSION "\n";
    return std::nullopt;
  }
  if (const Arg *arg = args.getLastArg(OPT_INPUT))
    return usageError("'" + printable(arg->getValue()) +
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
      return usageError("'" + printable(arg->getValue()) +
                            "' of --need is no size; write it as 512M or 2G",
                        status);
    options.neededPages = *pages;
  }
  return options;
}
