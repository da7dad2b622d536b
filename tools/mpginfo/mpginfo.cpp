// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpginfo: tells what this node and this job give a program that wants large
// pages. Here are only the command line and the exit status; what is looked at
// is in lib/Node/Node.h, what it comes to in lib/Node/Verdict.h.

#include "Node/HugePages.h"
#include "Node/Node.h"
#include "Support/Format.h"
#include "mpginfo/Fold/Fold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <unistd.h>

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

namespace {

enum class ReportFormat : uint8_t { text, json, prometheus }; ///< formatWords

struct InfoOptions {
  ReportFormat format = ReportFormat::text;
  uint64_t neededPages = 0; ///< of 2 MiB; 0: not asked
  std::string root = "/";
  const ProductAdvice *product = nullptr; ///< --for
  bool hasFold = false;
  std::vector<std::string> files;    ///< of --fold
  std::vector<std::string> expected; ///< nodes that --fold shall find
};

} // namespace

static const ProgramText programText = {
    "mpginfo", "mpginfo [options]\n       mpginfo --fold [options] [FILE]...",
    "mpginfo tells what this node and this job give a program that wants "
    "large\npages, and what to type to get more",
    "\nEXIT STATUS: 0 large pages can be had; with --fold, all nodes are "
    "equal;\n1 none or fewer than --need, not known, not as --for asks; with "
    "--fold, nodes\ndiffer; 2 usage error, no such DIRECTORY, or nothing to "
    "fold\n"};

static constexpr StringRef formatWords[] = {"text", "json", "prometheus"};

static std::optional<ReportFormat> parseFormat(StringRef word) {
  const StringRef *found = llvm::find(formatWords, word);
  if (found == std::end(formatWords))
    return std::nullopt;
  return ReportFormat(found - formatWords);
}

/// A size in pages of 2 MiB; nothing if it is not one.
static std::optional<uint64_t> parsePages(StringRef text) {
  std::optional<uint64_t> bytes = parseBytes(text);
  if (!bytes || *bytes == 0 || *bytes > uint64_t(INT64_MAX))
    return std::nullopt;
  return (*bytes - 1) / largePageBytes + 1;
}

static std::optional<InfoOptions> parseFold(const CommandLine &line,
                                            InfoOptions options, int &status) {
  const InputArgList &args = line.args();
  if (args.hasArg(OPT_need, OPT_for_product, OPT_root) ||
      options.format == ReportFormat::prometheus)
    return line.usageError("--fold goes with none of --need, --for, --root and "
                           "--format=prometheus",
                           status);
  options.hasFold = true;
  options.files = args.getAllArgValues(OPT_INPUT);
  if (options.files.empty())
    options.files.push_back("-");
  StringRef set = args.getLastArgValue(OPT_expect);
  if (set.empty())
    return options;
  std::optional<std::vector<std::string>> names = expandNames(set);
  if (!names)
    return line.usageError("'" + printable(set) +
                               "' of --expect is no set of nodes; write it as "
                               "login,node[1-96]",
                           status);
  options.expected = std::move(*names);
  return options;
}

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, a usage error); \p status is then the exit status.
static std::optional<InfoOptions> parseOptions(int argc, char **argv,
                                               int &status) {
  OptionTable table;
  CommandLine line(table, programText, ArrayRef(argv + 1, size_t(argc - 1)));
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  const InputArgList &args = line.args();
  if (const Arg *arg = args.getLastArg(OPT_INPUT);
      arg && !args.hasArg(OPT_fold))
    return line.usageError(
        "'" + printable(arg->getValue()) +
            "' is too much: mpginfo is about the node; for a "
            "program there is mpgaudit",
        status);
  InfoOptions options;
  StringRef word = args.getLastArgValue(OPT_format, "text");
  std::optional<ReportFormat> format = parseFormat(word);
  if (!format)
    return line.usageError("'" + printable(word) + "' of --format is unknown" +
                               suggestValue(word, formatWords),
                           status);
  options.format = *format;
  if (args.hasArg(OPT_fold))
    return parseFold(line, options, status);
  if (args.hasArg(OPT_expect))
    return line.usageError("--expect goes with --fold", status);
  if (const Arg *arg = args.getLastArg(OPT_root))
    options.root = arg->getValue();
  if (const Arg *arg = args.getLastArg(OPT_for_product)) {
    options.product = findProductAdvice(arg->getValue());
    std::vector<StringRef> names;
    for (const ProductAdvice &product : allProductAdvice())
      names.push_back(product.name);
    if (!options.product)
      return line.usageError("'" + printable(arg->getValue()) +
                                 "' of --for is unknown; there are " +
                                 join(names, ", "),
                             status);
    if (args.hasArg(OPT_need) || options.format != ReportFormat::text)
      return line.usageError("--for goes with neither --need nor --format",
                             status);
  }
  if (const Arg *arg = args.getLastArg(OPT_need)) {
    std::optional<uint64_t> pages = parsePages(arg->getValue());
    if (!pages)
      return line.usageError(
          "'" + printable(arg->getValue()) +
              "' of --need is not a size; write it as 512M or 2G",
          status);
    options.neededPages = *pages;
  }
  return options;
}

static int runFold(const InfoOptions &options) {
  Folder folder;
  for (const std::string &path : options.files) {
    std::string file = path == "-" ? "" : path;
    FoldReader reader([&](const NodeAnswer &one) { folder.add(one, file); });
    if (std::error_code error = reader.read(path))
      folder.skip(SkipKind::unreadable, path, error.message());
  }
  Fold fold = folder.finish(options.expected);
  (options.format == ReportFormat::json ? writeFoldJson : writeFoldText)(outs(),
                                                                         fold);
  if (fold.nodes)
    return fold.isUniform() ? 0 : 1;
  outs().flush();
  errs() << "mpginfo: error: no answer is that of mpginfo --json or mpgbench "
            "--json: there is nothing to fold\n";
  return 2;
}

static int run(const InfoOptions &options) {
  if (options.hasFold)
    return runFold(options);
  SysTree tree(options.root);
  if (!tree.exists("/proc") && !tree.exists("/sys")) {
    errs() << "mpginfo: error: " << printable(options.root)
           << " has neither proc nor sys in it; nothing can be said about the "
              "node; --root= is the folder that holds a copy of them\n";
    return 2;
  }
  if (options.product)
    return writeProductAdvice(outs(), *options.product,
                              readTransparentFacts(tree))
               ? 0
               : 1;
  Node node = readNode(tree);
  Verdict verdict = judgeNode(node, options.neededPages);
  switch (options.format) {
  case ReportFormat::text:
    // Of a copy of another machine's files the reader is not known.
    writeNodeText(outs(), node, verdict, geteuid() == 0 || options.root != "/");
    break;
  case ReportFormat::json:
    writeNodeJson(outs(), node, verdict);
    break;
  case ReportFormat::prometheus:
    writeNodePrometheus(outs(), node, verdict);
    break;
  }
  return verdict.isGood() ? 0 : 1;
}

int main(int argc, char **argv) {
  int status = 0;
  outs().SetBuffered();
  if (std::optional<InfoOptions> options = parseOptions(argc, argv, status))
    status = run(*options);
  return endOutput("mpginfo", status);
}
