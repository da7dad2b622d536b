// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h. What is answered at once is here; ConfiguredOptions puts the
// rest of the command line over the configuration file, and OptionReader gives
// the words their meaning.

#include "Options.h"
#include "Audit/Report.h"
#include "Completion.h"
#include "ConfiguredOptions.h"
#include "FindParts.h"
#include "llvm/Support/raw_ostream.h"

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static const ProgramText programText = {
    "mpgaudit", "mpgaudit [options] [--] FILE...",
    "mpgaudit tells whether a program's data, heap and stacks can be\non large "
    "pages, why not, and how to fix it",
    "\nFILE is a program, library, object or archive; @LIST is a file that "
    "names one\npath a line; with -r a directory.\n\n"
    "EXIT STATUS: 0 clean, 1 a finding at or above --fail-on, 2 usage error "
    "or\ninput that cannot be used, 3 none of these, but a job script starts "
    "programs in\na way that is not understood\n"};

static std::nullopt_t explainCode(StringRef code, const CommandLine &line,
                                  int &status) {
  std::string page = explain(code, findParts());
  if (page.empty())
    return line.usageError("no finding and no message is called '" + code +
                               "'; they look like MPG103 and \"LPG 2003\"",
                           status);
  outs() << page;
  return std::nullopt;
}

std::optional<Options> mpg::parseOptions(int argc, char **argv, int &status) {
  OptionTable table;
  ArrayRef<const char *> words(argv + 1, size_t(argc - 1));
  // The last word may be anything.
  if (words.size() == 1 &&
      StringRef(words.front()).starts_with("--autocomplete=")) {
    outs() << completionsFor(table, StringRef(words.front()).split('=').second);
    status = 0;
    return std::nullopt;
  }
  CommandLine line(table, programText, words);
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  if (const Arg *arg = line.args().getLastArg(OPT_explain))
    return explainCode(arg->getValue(), line, status);
  Options options;
  std::string problem =
      readConfiguredOptions(table, line.args(), words, options);
  if (!problem.empty())
    return line.usageError(problem, status);
  options.settings.parts = std::make_shared<InstalledParts>(findParts());
  return options;
}
