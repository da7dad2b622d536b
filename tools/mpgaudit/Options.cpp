// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Options.h"
#include "Audit/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <thread>
#include <unistd.h>

#include "../OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

namespace {

/// Turns parsed arguments into Options. The first error is kept: the rest
/// usually follow from it.
class OptionReader {
public:
  explicit OptionReader(const InputArgList &args) : args(args) {}

  bool read(Options &options);
  const std::string &error() const { return reason; }

private:
  bool fail(const Twine &text) {
    if (reason.empty())
      reason = text.str();
    return false;
  }
  /// An option that takes one word of a list.
  template <typename T>
  bool readWord(OptionId id, StringRef name, T &value,
                ArrayRef<std::pair<StringRef, T>> words);
  bool readBytes(OptionId id, StringRef name, std::optional<uint64_t> &bytes);
  bool readPageSizes(AuditSettings &settings);
  bool readChecks(AuditSettings &settings);
  bool readCheckWord(StringRef word, bool first, AuditSettings &settings);
  bool readJobs(unsigned &jobs);

  const InputArgList &args;
  std::string reason;
};

} // namespace

/// "; did you mean 'json'?", or all words when none is close. A word of two
/// letters is close to anything, so the distance depends on the length.
template <typename T>
static std::string listWords(StringRef typed,
                             ArrayRef<std::pair<StringRef, T>> words) {
  std::string text = "; it is one of";
  StringRef nearest;
  unsigned least = unsigned(typed.size() / 3 + 1);
  for (const auto &[word, value] : words) {
    text += " " + word.str();
    bool begun = typed.size() >= 3 && word.starts_with_insensitive(typed);
    unsigned distance =
        begun ? 0 : typed.edit_distance_insensitive(word, true, least);
    if (distance < least) {
      least = distance;
      nearest = word;
    }
  }
  return nearest.empty() ? text : "; did you mean '" + nearest.str() + "'?";
}

template <typename T>
bool OptionReader::readWord(OptionId id, StringRef name, T &value,
                            ArrayRef<std::pair<StringRef, T>> words) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return true;
  for (const auto &[word, meaning] : words)
    if (word.equals_insensitive(arg->getValue())) {
      value = meaning;
      return true;
    }
  return fail("unknown value '" + Twine(arg->getValue()) + "' of " + name +
              listWords(arg->getValue(), words));
}

bool OptionReader::readBytes(OptionId id, StringRef name,
                             std::optional<uint64_t> &bytes) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return true;
  bytes = parseBytes(arg->getValue());
  if (bytes)
    return true;
  return fail("'" + Twine(arg->getValue()) + "' of " + name +
              " is no size; write it as 512M or 2G");
}

bool OptionReader::readPageSizes(AuditSettings &settings) {
  constexpr uint64_t k = 1 << 10, m = 1 << 20, g = 1 << 30;
  const std::pair<StringRef, uint64_t> pages[] = {
      {"4K", 4 * k}, {"16K", 16 * k}, {"64K", 64 * k}};
  const std::pair<StringRef, uint64_t> huges[] = {{"2M", 2 * m},
                                                  {"32M", 32 * m},
                                                  {"512M", 512 * m},
                                                  {"1G", g},
                                                  {"16G", 16 * g}};
  uint64_t page = 0;
  if (!readWord<uint64_t>(OPT_page, "--page", page, pages) ||
      !readWord<uint64_t>(OPT_huge, "--huge", settings.hugeBytes, huges))
    return false;
  if (page)
    settings.pageBytes = page;
  return true;
}

bool OptionReader::readCheckWord(StringRef word, bool first,
                                 AuditSettings &settings) {
  char sign = word.empty() ? 0 : word.front();
  bool remove = sign == '-';
  if (sign == '+' || sign == '-')
    word = word.drop_front();
  else if (first)
    settings.checks.clear(); // a list without signs replaces the default
  std::vector<FindingId> ids;
  bool named = false;
  unsigned number = 0;
  if (std::optional<FindingGroup> group = parseGroup(word)) {
    for (const FindingInfo &info : allFindings())
      if (info.group == *group && defaultChecks().contains(info.id))
        ids.push_back(info.id);
  } else if (word.starts_with_insensitive("MPG") &&
             !word.drop_front(3).getAsInteger(10, number) && findInfo(number)) {
    ids.push_back(FindingId(number));
    named = true;
  } else {
    return fail("unknown check '" + word +
                "' in --checks; give a group (layout loader heap tags hygiene "
                "malformed) or a finding such as MPG103");
  }
  for (FindingId id : ids) {
    settings.named.erase(id);
    if (remove)
      settings.checks.erase(id);
    else
      (named ? settings.named : settings.checks).insert(id);
  }
  return true;
}

/// Several --checks are one list: the second does not undo the first.
bool OptionReader::readChecks(AuditSettings &settings) {
  bool first = true;
  for (const std::string &list : args.getAllArgValues(OPT_checks)) {
    SmallVector<StringRef, 8> words;
    StringRef(list).split(words, ',');
    for (StringRef word : words) {
      if (!readCheckWord(word, first, settings))
        return false;
      first = false;
    }
  }
  return true;
}

bool OptionReader::readJobs(unsigned &jobs) {
  jobs = std::max(1u, std::thread::hardware_concurrency());
  const Arg *arg = args.getLastArg(OPT_jobs);
  if (!arg)
    return true;
  if (!StringRef(arg->getValue()).getAsInteger(10, jobs) && jobs >= 1 &&
      jobs <= 1024)
    return true;
  return fail("'" + Twine(arg->getValue()) +
              "' of -j is no number of threads from 1 to 1024");
}

bool OptionReader::read(Options &options) {
  AuditSettings &settings = options.settings;
  settings.checks = defaultChecks();
  using Words = std::pair<StringRef, std::optional<Target>>;
  const Words targets[] = {{"fugaku", Target::fugaku},
                           {"mpg", Target::mpg},
                           {"libhugetlbfs", Target::libhugetlbfs},
                           {"thp", Target::thp},
                           {"auto", std::nullopt}};
  const std::pair<StringRef, ReportFormat> formats[] = {
      {"text", ReportFormat::text},
      {"line", ReportFormat::line},
      {"json", ReportFormat::json},
      {"jsonl", ReportFormat::jsonl}};
  const std::pair<StringRef, std::optional<Severity>> levels[] = {
      {"error", Severity::error},
      {"warning", Severity::warning},
      {"note", Severity::note},
      {"never", std::nullopt}};
  std::optional<uint64_t> minBytes;
  if (!readWord<std::optional<Target>>(OPT_target, "--target", settings.target,
                                       targets) ||
      !readWord<ReportFormat>(OPT_format, "--format", options.format,
                              formats) ||
      !readWord<std::optional<Severity>>(OPT_fail_on, "--fail-on",
                                         options.failOn, levels) ||
      !readPageSizes(settings) || !readBytes(OPT_min, "--min", minBytes) ||
      !readBytes(OPT_memory, "--memory", settings.memoryBytes) ||
      !readJobs(options.jobs) || !readChecks(settings))
    return false;
  settings.minBytes = minBytes.value_or(settings.minBytes);
  settings.expectLibmpg = args.hasArg(OPT_expect_libmpg);
  settings.wantFacts = options.format != ReportFormat::line;
  options.recursive = args.hasArg(OPT_recursive);
  options.stats = args.hasArg(OPT_stats);
  options.operands = args.getAllArgValues(OPT_INPUT);
  for (const std::string &operand : args.getAllArgValues(OPT_dash_dash))
    options.operands.push_back(operand);
  for (const std::string &list : args.getAllArgValues(OPT_files0_from))
    options.files0From.push_back(list);
  if (args.hasArg(OPT_null_input))
    options.files0From.push_back("-");
  if (options.operands.empty() && options.files0From.empty())
    return fail("no file given");
  return true;
}

//===----------------------------------------------------------------------===//
// The parser
//===----------------------------------------------------------------------===//

static std::optional<Options> usageError(const Twine &text, int &status) {
  errs() << "mpgaudit: error: " << text
         << "\nmpgaudit --help lists the options\n";
  status = 2;
  return std::nullopt;
}

/// The other parts of this installation, where they exist: a test runs a copy
/// of this program alone, and a build with LLVM 19 has no ld.mpg.
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
  return parts;
}

static void printHelp(const OptionTable &table) {
  table.printHelp(outs(), "mpgaudit [options] [--] FILE...",
                  "mpgaudit tells whether a program's data, heap and stacks "
                  "can be\non large pages, why not, and how to fix it");
  outs() << "\nFILE is a program, library, object or archive; @LIST is a file "
            "that names one\npath a line; with -r a directory.\n\n"
            "EXIT STATUS: 0 clean, 1 a finding at or above --fail-on, 2 usage "
            "error or\ninput that cannot be used\n";
}

static std::optional<Options>
explainCode(StringRef code, const InstalledParts &parts, int &status) {
  std::string page = explain(code, parts);
  if (page.empty())
    return usageError("no finding and no message is called '" + code +
                          "'; they look like MPG103 and \"LPG 2003\"",
                      status);
  outs() << page;
  status = 0;
  return std::nullopt;
}

std::optional<Options> mpg::parseOptions(int argc, char **argv, int &status) {
  OptionTable table;
  unsigned missingIndex = 0, missingCount = 0;
  ArrayRef<const char *> words(argv + 1, size_t(argc - 1));
  // The parser passes over empty words: `mpgaudit "$app"` with a variable that
  // is not set would be clean as long as there is another file.
  if (is_contained(words, StringRef()))
    return usageError("an argument is empty; is a variable not set?", status);
  InputArgList args = table.ParseArgs(words, missingIndex, missingCount);
  status = 0;
  if (const Arg *arg = args.getLastArg(OPT_UNKNOWN))
    return usageError(describeUnknown(table, *arg, args), status);
  if (missingCount)
    return usageError(Twine("option '") + args.getArgString(missingIndex) +
                          "' needs a value",
                      status);
  if (args.hasArg(OPT_help)) {
    printHelp(table);
    return std::nullopt;
  }
  if (args.hasArg(OPT_version)) {
    outs() << "mpgaudit (mpgtools) " MPG_VERSION "\n";
    return std::nullopt;
  }
  if (const Arg *arg = args.getLastArg(OPT_explain))
    return explainCode(arg->getValue(), findParts(), status);
  Options options;
  OptionReader reader(args);
  if (!reader.read(options))
    return usageError(reader.error(), status);
  options.settings.parts = std::make_shared<InstalledParts>(findParts());
  return options;
}
