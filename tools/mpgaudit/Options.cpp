// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h. What is answered at once is here, --help and --explain, and
// what a shell offers when Tab is pressed. ConfiguredOptions puts the rest of
// the command line over the configuration file, and OptionReader gives the
// words their meaning.

#include "Options.h"
#include "Audit/Finding.h"
#include "Audit/Report.h"
#include "CommandLine.h"
#include "ConfiguredOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <climits>
#include <string>
#include <unistd.h>

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

/// Relative to this program, where they exist: a test runs a copy of it alone,
/// and a build with LLVM 19 has no ld.mpg.
static InstalledParts findParts() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0 || size_t(length) == sizeof self)
    return {};
  StringRef folder = StringRef(self, size_t(length)).rsplit('/').first;
  auto find = [](StringRef folder, StringRef name) {
    std::string path = (folder + "/" + name).str();
    return access(path.c_str(), R_OK) == 0 ? path : "";
  };
  InstalledParts parts;
  parts.linker = find(folder, "ld.mpg");
  std::string shared = folder.rsplit('/').first.str() + "/share/mpgtools";
  if (!find(shared, "ld/ld").empty())
    parts.gccFolder = shared + "/ld";
  parts.lldScript = find(shared, "mpg-2mb.lld.ld");
  parts.bfdScript = find(shared, "mpg-2mb.bfd.ld");
  std::string libraries = folder.rsplit('/').first.str() + "/lib";
  if (!find(libraries, "libmpgrt.so").empty())
    parts.libraries = libraries;
  return parts;
}

static std::string withSign(StringRef code) {
  std::string text = code.str();
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

/// \p start is what stands in front of the finding: "--suppress=".
static void addFindings(std::string &lines, StringRef start, StringRef typed) {
  for (const FindingInfo &info : allFindings())
    addCompletion(lines, start + idText(info.id), typed, info.summary);
}

/// Only the last of a list, after its sign, is completed.
static void addChecks(std::string &lines, StringRef option, StringRef typed) {
  StringRef list = typed.drop_front(option.size());
  size_t begin = list.rfind(',') == StringRef::npos ? 0 : list.rfind(',') + 1;
  if (begin < list.size() && (list[begin] == '+' || list[begin] == '-'))
    ++begin;
  StringRef start = typed.take_front(option.size() + begin);
  for (unsigned i = 0; i <= unsigned(FindingGroup::malformed); ++i)
    addCompletion(lines, start + groupName(FindingGroup(i)), typed,
                  "all findings of this group");
  addFindings(lines, start, typed);
}

/// Every word that \p typed may become, one a line, followed by a tab and a
/// short description where there is one. Nothing where the shell knows better:
/// for files and numbers.
static std::string completionsFor(const OptTable &table, StringRef typed) {
  std::string lines;
  size_t sign = typed.find('=');
  StringRef option = typed.take_front(sign + 1); // npos + 1 is 0
  if (option == "--checks=") {
    addChecks(lines, option, typed);
  } else if (option == "--suppress=") {
    addFindings(lines, option, typed);
  } else if (option == "--explain=") {
    addFindings(lines, option, typed);
    // --explain takes LPG-2003 too, which needs no quotes.
    for (const VendorCode &code : allVendorCodes())
      addCompletion(lines, option + withSign(code.code), typed, code.meaning);
  } else {
    lines = completeOption(table, typed);
  }
  return lines;
}

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
  ConfiguredOptions configured(table, line.args());
  if (Error error = configured.read())
    return line.usageError(toString(std::move(error)), status);
  std::string problem = readOptions(configured, options);
  if (!problem.empty())
    return line.usageError(problem, status);
  options.settings.parts = std::make_shared<InstalledParts>(findParts());
  return options;
}
