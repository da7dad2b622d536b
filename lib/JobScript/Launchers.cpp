// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Launchers.h. Goes through a command from the left to the right, by the
// table of launchers. Options that no row knows are taken to have no value,
// unless a number follows.

#include "JobScript/Launchers.h"
#include "JobScript/LaunchVariables.h"
#include "JobScript/ShellLexer.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// "$MPIRUN" and "$OPTS" say by their names what they are; nothing else does.
static bool nameHas(const JobWord &word, ArrayRef<StringRef> parts) {
  if (word.known() || word.text != word.unknown ||
      !StringRef(word.text).starts_with("$") ||
      StringRef(word.text).starts_with("$("))
    return false;
  return any_of(parts, [&](StringRef part) {
    return StringRef(word.text).contains_insensitive(part);
  });
}

/// "$(which NAME)" and what else prints the file that the shell would start for
/// NAME: the command NAME. Other words as they are.
static JobWord byName(const JobWord &word) {
  StringRef text = word.text;
  if (text != word.unknown ||
      !(text.consume_front("$(") ? text.consume_back(")")
                                 : text.consume_front("`")))
    return word;
  text = text.rtrim('`').split(" 2>").first.trim();
  for (StringRef question : {"which ", "command -v ", "type -P ", "type -p "})
    if (text.consume_front(question))
      return all_of(text.ltrim(),
                    [](char c) {
                      return isAlnum(c) || StringRef("_.+-").contains(c);
                    })
                 ? JobWord{text.ltrim().str(), ""}
                 : word;
  return word;
}

static const LauncherRow *findLauncher(const JobWord &word) {
  if (nameHas(word, {"mpirun", "mpiexec", "launch", "mpi_run", "mpicmd"}))
    return &launcherRow(Launcher::mpi);
  if (nameHas(word, {"srun"}))
    return &launcherRow(Launcher::srun);
  return findLauncher(sys::path::filename(byName(word).text));
}

namespace {

/// Takes one command apart from the left to the right.
class LaunchReader {
public:
  explicit LaunchReader(ArrayRef<JobWord> words, size_t textAt = 0)
      : words(words), textAt(textAt) {}
  LaunchParts run();

private:
  void readLauncher(const LauncherRow &row);
  void readLauncherOption(const LauncherRow &row);
  bool consumeOperand(const LauncherRow &row, unsigned &operands);
  bool consumeAssignment(const LauncherRow &row, StringRef option);
  void setOption(OptionMeaning meaning, StringRef name, const JobWord &value);
  void setPerNode(const JobWord &value);
  void setMpgrunOption(StringRef name, const JobWord &value);
  void readsText(const JobWord &text);
  void readShell();
  void readLines();
  bool consumeContainerWord(const JobWord &word, unsigned &operands);
  void decide();
  bool startsElsewhere();
  bool isOnlyName() const;
  bool endsAtDashes(Launcher key) const;
  bool isUserGiven() const;
  bool isWord(size_t i) const { return i < words.size(); }
  StringRef text(size_t i) const { return words[i].text; }
  /// "mpiexec -x"
  std::string getOption(StringRef option) const {
    return (sys::path::filename(words[first].text) + " -" + option).str();
  }

  ArrayRef<JobWord> words;
  size_t textAt;            ///< a shell reads the words from here on
  size_t at = 0, first = 0; ///< first: the name of the innermost launcher
  bool hasTool = false;
  bool isNamed = false;    ///< by "$(which NAME)"
  bool readsLine = false;  ///< the innermost launcher gives words to a shell
  bool readsLines = false; ///< and each word is a line
  bool isMultiProg = false;
  std::string containerVerb;
  LaunchParts parts;
  LaunchVariables variables{parts.variables};
};

} // namespace

static std::optional<unsigned> parseNumber(const JobWord &word) {
  unsigned number;
  if (!word.known() || StringRef(word.text).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// "ppr:4:node"
void LaunchReader::setPerNode(const JobWord &value) {
  StringRef text = value.text;
  unsigned number;
  if (value.known() && text.consume_front("ppr:") &&
      !text.consumeInteger(10, number) && text.starts_with(":node"))
    parts.ranksPerNode = number;
}

bool mpg::isSlurmAll(StringRef list) {
  return any_of(split(list, ','),
                [](StringRef item) { return item.equals_insensitive("ALL"); });
}

bool mpg::isSlurmImage(StringRef name) {
  const OptionRow *row = findLauncherOption(Launcher::srun, name);
  return row && row->meaning == OptionMeaning::image;
}

void LaunchReader::setMpgrunOption(StringRef name, const JobWord &value) {
  auto set = [&](const char *variable) {
    variables.add(LaunchVariable::set, variable, value,
                  ("mpgrun --" + name).str());
  };
  if (name == "mode")
    set("MPG_MODE");
  else if (name == "policy")
    set("XOS_MMM_L_PAGING_POLICY");
}

void LaunchReader::setOption(OptionMeaning meaning, StringRef name,
                             const JobWord &value) {
  auto set = [&](const char *variable) {
    variables.add(LaunchVariable::set, variable, value, "ld.so");
  };
  switch (meaning) {
  case OptionMeaning::none:
  case OptionMeaning::assign:
    return;
  case OptionMeaning::ranks:
    parts.ranks = parseNumber(value);
    return;
  case OptionMeaning::ranksPerNode:
    parts.ranksPerNode = parseNumber(value);
    return;
  case OptionMeaning::nodes:
    parts.nodes = parseNumber(value);
    return;
  case OptionMeaning::mapBy:
    return setPerNode(value);
  case OptionMeaning::variable:
    return variables.assign(value, getOption(name));
  case OptionMeaning::variableList:
    return variables.assignList(value, getOption(name));
  case OptionMeaning::exportList:
    return variables.assignList(value, "srun --export");
  case OptionMeaning::unset:
    return variables.add(LaunchVariable::unset, value.text, {},
                         getOption(name));
  case OptionMeaning::image:
    parts.image = value;
    return;
  case OptionMeaning::libraryPath:
    return set("LD_LIBRARY_PATH");
  case OptionMeaning::preload:
    return set("LD_PRELOAD");
  case OptionMeaning::programFile:
    parts.notUnderstood =
        "-" + name.str() + ": the programs that " + value.text + " names";
    return;
  case OptionMeaning::command:
    // Else the words behind the launcher's are of that text.
    return first < textAt ? void() : readsText(value);
  }
}

/// \p text is a line for a shell, which starts what is in it.
void LaunchReader::readsText(const JobWord &text) {
  if (parts.shellTexts.empty())
    parts.textAt = first;
  parts.shellTexts.push_back(text);
}

/// PALS has "--env NAME=VALUE" beside "-env NAME VALUE" of others.
bool LaunchReader::consumeAssignment(const LauncherRow &row, StringRef option) {
  if (row.family != LauncherFamily::mpi || !option.ends_with("env") ||
      !isWord(at) || !shellAssignmentLength(text(at)))
    return false;
  variables.assign(words[at++], getOption(option));
  return true;
}

/// How many letters of \p option, which has one dash, are options; the last one
/// of them has a value. 0: none has.
static size_t lettersBeforeValue(Launcher key, StringRef option) {
  constexpr size_t maxLetters = 4; // longer ones are words
  for (size_t i = 0; i < option.size(); ++i) {
    if (i && (option.size() > maxLetters || !all_of(option, isAlpha)))
      return 0;
    if (findLauncherOption(key, option.substr(i, 1)))
      return i + 1;
  }
  return 0;
}

/// The option at `at`, with its values.
void LaunchReader::readLauncherOption(const LauncherRow &row) {
  const JobWord &word = words[at++];
  StringRef option = StringRef(word.text).ltrim("-+");
  bool isLong = StringRef(word.text).starts_with("--");
  size_t equals = option.find('=');
  StringRef name = option.take_front(equals);
  if (row.family == LauncherFamily::mpgrun && isWord(at) &&
      (option == "mode" || option == "policy"))
    return setMpgrunOption(option, words[at++]);
  if (row.family == LauncherFamily::srun && option == "multi-prog") {
    isMultiProg = true; // no value: the file takes the program's place
    return;
  }
  if (row.key == Launcher::env &&
      (word.text == "-" || option == "i" || option == "ignore-environment"))
    variables.withhold(LaunchVariable::cleared, "env -i");
  if (row.key == Launcher::mpi && (option == "genvnone" || option == "envnone"))
    variables.withhold(LaunchVariable::cleared, option);
  auto valueAt = [&](StringRef name) {
    return wordAfter(word, size_t(name.end() - StringRef(word.text).begin()));
  };
  bool isMpi = row.family == LauncherFamily::mpi;
  if (equals != StringRef::npos && (isLong || isMpi)) {
    JobWord value = valueAt(option.take_front(equals + 1));
    if (row.family == LauncherFamily::mpgrun)
      return setMpgrunOption(name, value);
    const OptionRow *found = findLauncherOption(row.key, name);
    return setOption(found ? found->meaning : OptionMeaning::none, name, value);
  }
  if (consumeAssignment(row, option))
    return;
  const OptionRow *found = findLauncherOption(row.key, option);
  if (found && found->values == 2 && isWord(at + 1)) {
    if (found->meaning == OptionMeaning::assign)
      variables.add(LaunchVariable::set, text(at), words[at + 1],
                    getOption(option));
    at += 2;
  } else if (found && found->values == 1) {
    if (isWord(at))
      setOption(found->meaning, option, words[at++]);
  } else if (size_t length =
                 isLong || isMpi ? 0 : lettersBeforeValue(row.key, option)) {
    // -n4, -fo FILE
    StringRef letter = option.substr(length - 1, 1);
    JobWord value;
    if (length < option.size())
      value = valueAt(option.take_front(length));
    else if (isWord(at))
      value = words[at++];
    setOption(findLauncherOption(row.key, letter)->meaning, letter, value);
  } else if (isMpi && isWord(at + 1) && all_of(text(at), isDigit)) {
    ++at;
  }
}

/// "core:0-3", "0x0f", "all": where hwloc-bind puts the program.
static bool isPlace(StringRef word) {
  return word.contains(':') || word.starts_with("0x") || word == "all" ||
         word == "root";
}

static bool isArchitecture(const JobWord &word) {
  static constexpr StringLiteral names =
      "aarch64 arm64 i386 i586 i686 linux32 linux64 ppc64 ppc64le riscv64 "
      "s390x uname26 x86_64";
  return hasWord(names, word.text) ||
         (!word.known() && !word.text.empty() && word.text == word.unknown);
}

/// "perf mem record", "flux mini run": a verb that has verbs.
static bool isFirstVerb(Launcher key, StringRef word) {
  return key == Launcher::perf ? hasWord("c2c kmem kvm lock mem sched", word)
                               : key == Launcher::flux && word == "mini";
}

/// Whether the word at `at`, which is not an option, is the launcher's.
bool LaunchReader::consumeOperand(const LauncherRow &row, unsigned &operands) {
  auto isMerge = [](const JobWord &word) { return word.text == "--merge"; };
  if (row.family == LauncherFamily::mpgrun || row.key == Launcher::mpgsim)
    return any_of(words.slice(first, at - first), isMerge); // reads files
  StringRef launcher = sys::path::filename(text(first));
  bool namesHosts = launcher == "mpirun_rsh";
  bool setsVariables = row.family == LauncherFamily::env ||
                       row.key == Launcher::ssh || namesHosts;
  if (setsVariables && shellAssignmentLength(text(at))) {
    variables.assign(words[at], launcher);
    return true;
  }
  if (namesHosts && isWord(at + 1) && !text(at).contains('/'))
    return true;
  // "$OPTIONS srun ./app": no program has a launcher behind it.
  if (!words[at].known() && words[at].text == words[at].unknown &&
      isWord(at + 1) && findLauncher(words[at + 1]))
    return true;
  bool starter =
      row.family == LauncherFamily::mpi || row.family == LauncherFamily::srun;
  if (starter && isWord(at + 1) &&
      nameHas(words[at],
              {"opt", "flag", "arg", "bind", "param", "map", "host"}))
    return true;
  if (row.family == LauncherFamily::shell)
    return (first >= textAt || at < textAt) && !isUserGiven();
  if (row.family == LauncherFamily::places && isPlace(text(at)))
    return true;
  if (row.key == Launcher::qrsh)
    return any_of(
               words.slice(first, at - first),
               [](const JobWord &word) { return word.text == "-inherit"; }) &&
           operands-- == 1;
  if (row.family == LauncherFamily::setarch)
    return at == first + 1 && isArchitecture(words[at]);
  if (!operands) // "perf stat record ./app"
    return row.key == Launcher::perf && text(first + 1) == "stat" &&
           text(at) == "record";
  if (isFirstVerb(row.key, text(at)))
    return true;
  --operands;
  if (row.family == LauncherFamily::container)
    return consumeContainerWord(words[at], operands);
  return true;
}

/// "exec IMAGE", "run IMAGE"; other verbs start nothing.
bool LaunchReader::consumeContainerWord(const JobWord &word,
                                        unsigned &operands) {
  if (operands) { // the verb
    containerVerb = word.text;
    return true;
  }
  parts.image = word;
  if (containerVerb == "run" || containerVerb == "test")
    parts.notUnderstood = "the program that " + word.text + " starts by itself";
  return true;
}

/// "runuser -u user ./app": its operands are a command and no user.
bool LaunchReader::isUserGiven() const {
  return any_of(words.slice(first, at - first), [](const JobWord &word) {
    return word.text == "-u" || StringRef(word.text).starts_with("--user");
  });
}

/// Profilers have options with values that no row knows: "advixe-cl
/// --project-dir DIR -- ./app".
bool LaunchReader::endsAtDashes(Launcher key) const {
  return key == Launcher::rocprof ||
         (is_contained({Launcher::profiler, Launcher::gpu, Launcher::nsys},
                       key) &&
          any_of(words.drop_front(at),
                 [](const JobWord &word) { return word.text == "--"; }));
}

void LaunchReader::readLauncher(const LauncherRow &row) {
  first = at++;
  variables.begin(/*isOutside=*/first < textAt);
  unsigned operands = row.operands;
  bool untilDashes = endsAtDashes(row.key);
  while (isWord(at)) {
    StringRef word = text(at);
    if (word == "--") {
      ++at;
      break;
    }
    if (word.starts_with("-") ||
        (row.family == LauncherFamily::charm && word.starts_with("+"))) {
      readLauncherOption(row);
    } else if (untilDashes || consumeOperand(row, operands)) {
      ++at;
    } else {
      break;
    }
  }
  at = std::min(at, words.size());
  parts.launchers.push_back(words.slice(first, at - first).vec());
  variables.withholdDropped(row.key, parts.launchers.back());
  if (row.key == Launcher::su && !parts.shellTexts.empty())
    parts.textAt = at;
  parts.hasMpi |= row.family <= LauncherFamily::charm;
  hasTool |=
      row.family != LauncherFamily::env && row.family < LauncherFamily::remote;
  readsLine = row.family == LauncherFamily::remote;
  readsLines = row.key == Launcher::hyperfine;
  // It means the program next to it by default.
  if (row.family == LauncherFamily::mpgrun) {
    parts.meansChildren =
        any_of(parts.launchers.back(),
               [](const JobWord &word) { return word.text == "--children"; });
    // Else the shell is meant.
    parts.underMpgrun = parts.meansChildren || first >= textAt;
  } else {
    parts.underMpgrun &= parts.meansChildren;
  }
}

/// "bash -ec TEXT"
void LaunchReader::readShell() {
  if (!hasWord("sh bash dash ksh zsh", sys::path::filename(text(at))))
    return;
  for (size_t i = at + 1; isWord(i); ++i) {
    StringRef option = text(i);
    if (!option.starts_with("-") && !option.starts_with("+"))
      return; // a file
    if (option == "-o" || option == "+o")
      ++i;
    if (option.starts_with("--") || !option.contains('c') || !isWord(i + 1))
      continue;
    readsText(words[i + 1]);
    parts.textAt = at;
    return;
  }
}

/// Lines for shells behind the launchers: "ssh HOST LINE".
void LaunchReader::readLines() {
  if (readsLines) {
    for (; isWord(at); ++at)
      readsText(words[at]);
  } else if (isWord(at) && readsLine && text(at).contains(' ')) {
    JobWord line = words[at];
    for (size_t i = at + 1; isWord(i) && !text(i).starts_with(":::"); ++i) {
      line.text += " " + words[i].text;
      if (line.known())
        line.unknown = words[i].unknown;
    }
    readsText(line);
    parts.textAt = at;
  } else if (isWord(at)) {
    readShell();
  }
}

/// Whether what is started is not one of the words: says what it is, if it is
/// anything. parts.program may be null.
bool LaunchReader::startsElsewhere() {
  StringRef program = parts.program ? StringRef(parts.program->text) : "";
  StringRef launcher =
      parts.launchers.empty()
          ? StringRef()
          : sys::path::filename(parts.launchers.back().front().text);
  if (isMultiProg)
    parts.notUnderstood =
        ("srun --multi-prog: the programs that " + program + " names").str();
  else if (launcher == "parallel" &&
           (program.empty() || program.starts_with(":::")))
    parts.notUnderstood = "the commands that parallel reads";
  else if (!containerVerb.empty() && containerVerb != "exec") {
    if (parts.notUnderstood.empty())
      parts.program.reset(); // "build IMAGE FILE"
    return true;
  }
  return !parts.notUnderstood.empty() || !parts.shellTexts.empty();
}

/// A tool that prepares what follows, wherever it is installed: no program of
/// the job ("eval "$(/opt/conda/bin/conda shell.bash hook)"").
static bool setsUpEnvironment(StringRef name) {
  return hasWord("conda configure dir_transfer lmod mamba micromamba modulecmd "
                 "sort_libp "
                 "spack",
                 name) ||
         name.ends_with("-config");
}

/// A program of the job, or a tool of the system?
void LaunchReader::decide() {
  const JobWord &word = *parts.program;
  StringRef program = word.text;
  StringRef name = sys::path::filename(program);
  StringRef folder = sys::path::parent_path(program);
  bool systemFolder = folder.empty() || folder == "/bin" ||
                      folder == "/usr/bin" || folder == "/usr/sbin" ||
                      folder == "/sbin";
  if (name.empty() || isContainerTool(name) ||
      (systemFolder && isCommonTool(name)) || setsUpEnvironment(name) ||
      program.starts_with("((") || program.starts_with("[["))
    return;
  // "$(command)" and "$@" alone are another script's command.
  StringRef variable = program.ltrim("${");
  bool opaque = !word.known() && word.text == word.unknown &&
                (!program.starts_with("$") || !shellNameLength(variable));
  bool named =
      program.contains('/') || isInterpreter(name) || isNamed ||
      (!word.known() && !nameHas(word, {"cc", "cxx", "fc", "make", "echo",
                                        "cmd", "rm", "debug"}));
  // "${cmd[@]}", an array.
  opaque |= nameHas(word, {"cmd", "command"});
  parts.isLaunched = hasTool ? true : named && !opaque;
  if (opaque && !hasTool)
    parts.notUnderstood = "the command that " + word.text + " stands for";
}

/// "env" alone prints, "exec" alone redirects; "command -v x" asks, and most
/// verbs of flux start nothing here.
bool LaunchReader::isOnlyName() const {
  StringRef verb = isWord(at + 1) ? text(at + 1) : "";
  if (sys::path::filename(text(at)) == "flux")
    return !hasWord("alloc bulksubmit exec mini run start submit", verb);
  return text(at) == "command" && verb.starts_with("-");
}

LaunchParts LaunchReader::run() {
  while (isWord(at)) {
    const LauncherRow *row = findLauncher(words[at]);
    if (!row || isOnlyName())
      break;
    readLauncher(*row);
  }
  ArrayRef<JobWord> rest = words.drop_front(std::min(at, words.size()));
  if (std::string what = whatElsewhere(rest); !what.empty()) {
    parts.notUnderstood = std::move(what);
    if (!isElsewhere(rest)) // else they are files of an image, say
      parts.arguments = rest.drop_front().vec();
    return std::move(parts);
  }
  readLines();
  if (isWord(at)) {
    parts.program = byName(words[at]);
    isNamed = parts.program->text != words[at].text;
    parts.arguments = words.drop_front(at + 1).vec();
  }
  if (!startsElsewhere() && parts.program)
    decide();
  return std::move(parts);
}

/// "find -exec PROGRAM {} ;": one for each -exec.
static std::vector<LaunchParts> findExecs(ArrayRef<JobWord> words) {
  std::vector<LaunchParts> found;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    StringRef action = words[i].text;
    if (action != "-exec" && action != "-execdir" && action != "-ok")
      continue;
    ArrayRef<JobWord> command = words.drop_front(i + 1).take_until(
        [](const JobWord &word) { return word.text == ";"; });
    found.push_back(LaunchReader(command).run());
    if (!command.empty() && StringRef(command[0].text).contains("{}")) {
      found.back().isLaunched = false;
      found.back().notUnderstood = "the programs that find finds and starts";
    }
    i += command.size();
  }
  return found;
}

/// Where "mpiexec .. : .." names its launcher, after time or numactl; the end
/// if the words are one part.
static size_t findPartedLauncher(ArrayRef<JobWord> words) {
  constexpr size_t farthest = 64; // all of them are copied for each part
  bool parted =
      findLauncher(words[0]) &&
      any_of(words, [](const JobWord &word) { return word.text == ":"; });
  size_t end = parted ? std::min(words.size(), farthest) : 0;
  for (size_t i = 0; i < end && words[i].text != ":"; ++i)
    if (const LauncherRow *row = findLauncher(words[i]))
      if (row->family <= LauncherFamily::charm)
        return i;
  return words.size();
}

/// "jsrun --erf_input FILE": the programs are in what an option names.
static void noteNoProgram(LaunchParts &parts) {
  if (parts.program || !parts.hasMpi || !parts.notUnderstood.empty() ||
      !parts.shellTexts.empty() || parts.launchers.back().size() < 2)
    return;
  for (const JobWord &word : parts.launchers.back())
    if (StringRef(word.text).ltrim('-').starts_with_insensitive("v") ||
        StringRef(word.text).ltrim('-').starts_with("h"))
      return; // it shows its version, or its help
  parts.notUnderstood = "the program that " +
                        parts.launchers.back().front().text +
                        " starts, which is none of its words";
}

std::vector<LaunchParts> mpg::findLaunches(ArrayRef<JobWord> words,
                                           size_t textAt) {
  std::vector<LaunchParts> found;
  if (words.empty())
    return found;
  if (sys::path::filename(words[0].text) == "find")
    return findExecs(words);
  size_t launcher = findPartedLauncher(words);
  if (launcher == words.size()) {
    found.push_back(LaunchReader(words, textAt).run());
    noteNoProgram(found.back());
    return found;
  }
  std::vector<JobWord> before; // "salloc -N1 : -N2 ./app": -N1 :
  for (size_t first = launcher + 1; first <= words.size();) {
    ArrayRef<JobWord> own = words.drop_front(first).take_until(
        [](const JobWord &word) { return word.text == ":"; });
    // Every part is read as if the launchers stood before it.
    std::vector<JobWord> part(words.begin(), words.begin() + launcher + 1);
    part.insert(part.end(), own.begin(), own.end());
    size_t moved = textAt > launcher + before.size() ? before.size() : 0;
    found.push_back(LaunchReader(part, textAt - moved).run());
    LaunchParts &last = found.back();
    first += own.size() + 1;
    if (!last.program && last.shellTexts.empty() && first <= words.size()) {
      before.insert(before.end(), own.begin(), own.end());
      before.push_back(words[first - 1]);
      continue;
    }
    noteNoProgram(last);
    if (last.textAt > launcher)
      last.textAt += before.size();
    auto parted =
        find_if(last.launchers, [&](const std::vector<JobWord> &some) {
          return some.front().text == words[launcher].text;
        });
    if (parted != last.launchers.end())
      parted->insert(parted->begin() + 1, before.begin(), before.end());
    before.clear();
  }
  return found;
}
