// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The effect of one command of a script on variables, limits or the
// folder.

#include "JobScript/JobReader.h"
#include "JobScript/Launchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mpg;

static bool isDeclaration(StringRef name) {
  return name == "export" || name == "declare" || name == "typeset" ||
         name == "local" || name == "readonly";
}

void JobReader::expandInto(Command &command, StringRef raw, bool declares) {
  size_t length = declares ? shellAssignmentLength(raw) : 0;
  if (!length)
    return expander.expandWord(raw, command.line, command.values);
  // "export A=$B": $B is not split, as in an assignment.
  ShellValue value(raw.take_front(length));
  value.add(expander.expandAssigned(raw.drop_front(length), command.line));
  command.values.push_back(std::move(value));
}

JobReader::Command JobReader::expand(Range range) {
  Command command;
  command.line = tokens[range.first].line;
  size_t at = range.first;
  while (at < range.end && shellAssignmentLength(tokens[at].text))
    ++at;
  bool declares = at < range.end && isDeclaration(tokens[at].text);
  for (size_t i = range.first; i < range.end; ++i)
    readSubstitutions(tokens[i].text, tokens[i].line);
  readHidden(range.first, range.end);
  command.document = findDocument(range);
  expander.resetUncertain();
  for (size_t i = at; i < range.end; ++i) {
    size_t before = command.values.size();
    expandInto(command, tokens[i].text, declares);
    if (expander.resetUncertain())
      command.certainWords = std::min(command.certainWords, before);
  }
  // The words see the variables as they were before "A=b command".
  for (size_t i = range.first; i < at; ++i) {
    size_t length = shellAssignmentLength(tokens[i].text);
    command.assignments.push_back(
        {tokens[i].text.take_front(length).str(), ShellValue()});
    ShellValue &value = command.assignments.back().second;
    value = expander.expandAssigned(tokens[i].text.drop_front(length),
                                    command.line);
    // The next one may use it.
    StringRef name = tokens[i].text.take_front(length);
    if (at < range.end)
      command.saved.push_back(save(name.take_front(shellNameLength(name))));
    assign(name, value, command.line);
  }
  for (const ShellValue &value : command.values)
    command.words.push_back(value.word());
  return command;
}

/// \p target is "NAME=", "NAME+=" or "NAME[i]=".
void JobReader::assign(StringRef target, const ShellValue &value,
                       unsigned line) {
  StringRef name = target.take_front(shellNameLength(target));
  StringRef rest = target.drop_front(name.size());
  if (rest.starts_with("["))
    return variables.forget(name, line);
  const ShellVariable *before = variables.find(name);
  if (rest != "+=")
    return variables.setValue(name, value, line);
  ShellValue sum;
  if (!before)
    sum.addUnknown(("$" + name).str());
  else if (before->set)
    sum = before->value;
  // A sum of sums grows without end, and so do many sums.
  size_t bytes = sum.str().size() + value.str().size();
  if (bytes > (64 << 10) || bytes > copyBudget)
    return variables.forget(name, line);
  copyBudget -= bytes;
  sum.add(value);
  variables.setValue(name, std::move(sum), line);
}

void JobReader::addSetting(StringRef name, JobWord value, unsigned line,
                           StringRef how) {
  size_t bytes = name.size() + value.text.size() + value.unknown.size();
  if (bytes > copyBudget)
    return;
  copyBudget -= bytes;
  script.settings.push_back(
      {name.str(), std::move(value), line, how.str(), isConditional()});
}

void JobReader::setVariable(StringRef name, ShellValue value, unsigned line,
                            StringRef how, bool exported) {
  variables.setValue(name, value, line);
  const ShellVariable *now = variables.find(name);
  if (exported && !now->exported) {
    ShellVariable after = *now;
    after.exported = true;
    variables.store(name, std::move(after));
  }
  addSetting(name, value.word(), line, how);
}

void JobReader::addCommand(const Command &command) {
  JobCommand entry;
  entry.line = command.line;
  entry.conditional = isConditional();
  size_t bytes = 0;
  for (const auto &[target, value] : command.assignments) {
    JobWord word = value.word();
    word.text = target + word.text;
    entry.words.push_back(std::move(word));
  }
  entry.words.insert(entry.words.end(), command.words.begin(),
                     command.words.end());
  for (const JobWord &word : entry.words)
    bytes += word.text.size() + word.unknown.size();
  if (bytes > copyBudget)
    return;
  copyBudget -= bytes;
  script.commands.push_back(std::move(entry));
}

void JobReader::runCommand(Command &command) {
  if (command.words.empty() && command.assignments.empty())
    return;
  addCommand(command);
  bool alone = command.words.empty();
  const ShellVariable *exportAll = variables.find(exportAllName);
  for (const auto &[target, value] : command.assignments) {
    StringRef name = StringRef(target).take_front(shellNameLength(target));
    ShellVariable now = *variables.find(name);
    bool exports = alone && exportAll && exportAll->value.str() == "on";
    if ((exports || !alone) && !now.exported) {
      now.exported = true;
      variables.store(name, now);
    }
    addSetting(name, now.value.word(), command.line,
               !alone         ? "command"
               : now.exported ? "export"
                              : "assignment");
  }
  if (alone)
    return;
  auto function = functions.find(command.name());
  if (function != functions.end())
    callFunction(function->second, command);
  else if (!runBuiltin(command))
    addLaunches(command);
  restore(command.saved);
}

bool JobReader::runBuiltin(const Command &command) {
  using Run = void (JobReader::*)(const Command &);
  Run run = StringSwitch<Run>(command.name())
                .Case("export", &JobReader::runDeclaration)
                .Case("declare", &JobReader::runDeclaration)
                .Case("typeset", &JobReader::runDeclaration)
                .Case("local", &JobReader::runDeclaration)
                .Case("readonly", &JobReader::runDeclaration)
                .Case("unset", &JobReader::runUnset)
                .Case("set", &JobReader::runSet)
                .Case("shift", &JobReader::runShift)
                .Case("module", &JobReader::runModule)
                .Case("ml", &JobReader::runModule)
                .Case("spack", &JobReader::runEnvironmentTool)
                .Case("conda", &JobReader::runEnvironmentTool)
                .Case("mamba", &JobReader::runEnvironmentTool)
                .Case("micromamba", &JobReader::runEnvironmentTool)
                .Case("deactivate", &JobReader::forgetEnvironment)
                .Case("use", &JobReader::forgetEnvironment)
                .Case("ulimit", &JobReader::runUlimit)
                .Case("cd", &JobReader::runCd)
                .Case("pushd", &JobReader::runPushd)
                .Case("popd", &JobReader::runPopd)
                .Case("read", &JobReader::runReadingBuiltin)
                .Case("readarray", &JobReader::runReadingBuiltin)
                .Case("mapfile", &JobReader::runReadingBuiltin)
                .Case("getopts", &JobReader::runReadingBuiltin)
                .Case("printf", &JobReader::runReadingBuiltin)
                .Case("let", &JobReader::runReadingBuiltin)
                .Case("source", &JobReader::notRead)
                .Case(".", &JobReader::notRead)
                .Case("eval", &JobReader::runEval)
                .Case("trap", &JobReader::runTrap)
                .Case("setenv", &JobReader::runCshSetting)
                .Case("unsetenv", &JobReader::runUnset)
                .Case("exit", &JobReader::runExit)
                .Case("return", &JobReader::runExit)
                .Case("break", &JobReader::runExit)
                .Case("continue", &JobReader::runExit)
                .Default(nullptr);
  if (run)
    (this->*run)(command);
  else if (StringRef(command.words[0].text).starts_with("(("))
    forgetWritten(command);
  return run != nullptr;
}

void JobReader::runExit(const Command &command) {
  ended = true;
  returned |= command.name() == "return";
}

/// "(( i++ ))": every name in it may have changed.
void JobReader::forgetWritten(const Command &command) {
  StringRef text = command.words[0].text;
  for (size_t at = 0; at < text.size(); ++at)
    if (size_t length = shellNameLength(text.substr(at))) {
      variables.forget(text.substr(at, length), command.line);
      at += length;
    }
}

/// Word \p i of "export A=b C" with the letters of its options.
void JobReader::declare(const Command &command, StringRef attributes,
                        size_t i) {
  StringRef text = command.values[i].str();
  StringRef name = text.take_front(shellNameLength(text));
  size_t length = shellAssignmentLength(text);
  if (name.empty() || (!length && name.size() != text.size()))
    return;
  if (locals && command.name() != "export" && command.name() != "readonly") {
    locals->push_back(save(name));
    if (!length) { // "local A" has no value
      ShellVariable none;
      none.set = false;
      variables.store(name, none);
    }
  }
  if (length)
    assign(text.take_front(length),
           command.values[i].slice(length, text.size()), command.line);
  const ShellVariable *now = variables.find(name);
  ShellVariable after = now ? *now : ShellVariable();
  // Never set here: it has whatever value it came with.
  if (!now) {
    after.value = ShellValue::notKnown(("$" + name).str());
    after.certain = false;
  }
  // Numbers, cases, references: the value is not what is written.
  if (attributes.find_first_of("ilucnA") != StringRef::npos &&
      command.name() != "export")
    after.value = ShellValue::notKnown(("$" + name).str());
  bool exports = command.name() == "export" || attributes.contains('x');
  if (exports)
    after.exported = !attributes.contains('n') && !attributes.contains('+');
  after.readOnly |= command.name() == "readonly" || attributes.contains('r');
  bool stays = after.exported;
  JobWord value = after.value.word();
  if (now || exports)
    variables.store(name, std::move(after));
  if (length || (exports && now))
    addSetting(name, std::move(value), command.line,
               stays ? "export" : "assignment");
}

void JobReader::runDeclaration(const Command &command) {
  std::string attributes;
  for (size_t i = 1; i < command.values.size(); ++i) {
    StringRef text = command.values[i].str();
    if (text.starts_with("-") || text.starts_with("+"))
      attributes += text.starts_with("+") ? text : text.drop_front();
    else if (attributes.find_first_of("fFp") == std::string::npos)
      declare(command, attributes, i);
  }
}

void JobReader::runUnset(const Command &command) {
  for (size_t i = 1; i < command.words.size(); ++i) {
    StringRef name = command.words[i].text;
    if (name == "-f") // functions
      return;
    if (!shellNameLength(name) || shellNameLength(name) != name.size())
      continue;
    const ShellVariable *before = variables.find(name);
    if (before && before->readOnly)
      continue;
    unset(name, command.line);
    addSetting(name, JobWord(), command.line, "unset");
  }
}

void JobReader::unset(StringRef name, unsigned line) {
  ShellVariable none;
  none.set = false;
  none.line = line;
  variables.store(name, std::move(none));
}

size_t JobReader::certainFrom(size_t certainWords, size_t first) {
  return certainWords == SIZE_MAX
             ? SIZE_MAX
             : certainWords - std::min(certainWords, first);
}

void JobReader::runSet(const Command &command) {
  for (size_t i = 1; i < command.words.size(); ++i) {
    StringRef word = command.words[i].text;
    bool letters =
        word.size() > 1 && word != "--" && (word[0] == '-' || word[0] == '+');
    // "set -euo pipefail": the o of any group of letters has a name after it.
    bool named = letters && word.contains('o') && i + 1 < command.words.size();
    bool all = (letters && word.contains('a')) ||
               (named && command.words[i + 1].text == "allexport");
    if (word == "--" || !(word.starts_with("-") || word.starts_with("+"))) {
      // "set -- a b": the positional parameters.
      ++variables.argumentChanges;
      size_t first = i + (word == "--");
      variables.arguments.emplace(command.values.begin() + first,
                                  command.values.end());
      variables.certainArguments = certainFrom(command.certainWords, first);
      if (isConditional())
        variables.arguments.reset();
      return;
    }
    if (all)
      variables.setValue(exportAllName,
                         ShellValue(word[0] == '-' ? "on" : "off"),
                         command.line);
    i += named;
  }
}

void JobReader::runShift(const Command &command) {
  ++variables.argumentChanges;
  bool one = command.words.size() == 1 && !isConditional() &&
             variables.certainArguments > 0;
  if (one && variables.arguments && !variables.arguments->empty())
    variables.arguments->erase(variables.arguments->begin());
  else
    variables.arguments.reset();
  if (one)
    variables.certainArguments = certainFrom(variables.certainArguments, 1);
}

/// Verbs of module that only print.
static bool isModuleQuery(StringRef verb) {
  return verb.empty() || verb == "list" || verb == "avail" || verb == "av" ||
         verb == "spider" || verb == "show" || verb == "display" ||
         verb == "whatis" || verb == "keyword" || verb == "help";
}

/// After this command the variables are unknown. Lists of folders keep the part
/// that the script itself adds.
void JobReader::forgetEnvironment(unsigned line, std::string what) {
  for (StringRef name : {"PATH", "LD_LIBRARY_PATH"}) {
    const ShellVariable *before = variables.find(name);
    if (!before || !before->set)
      continue;
    ShellVariable after = *before;
    after.value = ShellValue::notKnown(what);
    after.value.add(":");
    after.value.add(before->value);
    variables.store(name, std::move(after));
  }
  environmentChanges.try_emplace(line, std::move(what));
  variables.setValue(unknownFromName, ShellValue("yes"), line);
}

void JobReader::forgetEnvironment(const Command &command) {
  constexpr size_t shownWords = 4, longestWord = 60;
  std::string what;
  for (size_t i = 0; i < std::min(command.words.size(), shownWords); ++i)
    what += (i ? " " : "") + command.words[i].text.substr(0, longestWord);
  if (command.words.size() > shownWords)
    what += " ...";
  forgetEnvironment(command.line, std::move(what));
}

/// "module unload craype-hugepages2M", "ml -craype-hugepages2M".
static bool unloadsHugePages(ArrayRef<JobWord> words, StringRef verb) {
  static const StringRef verbs[] = {"unload", "rm", "del", "swap", "switch"};
  bool unloads = is_contained(verbs, verb);
  return verb == "purge" || any_of(words, [&](const JobWord &word) {
           StringRef text = word.text;
           return (text.consume_front("-") || unloads) &&
                  text.starts_with("craype-hugepages");
         });
}

/// "module load a b", "ml a": what it sets, only its files say.
void JobReader::runModule(const Command &command) {
  size_t first = 1;
  while (first < command.words.size() &&
         StringRef(command.words[first].text).starts_with("-"))
    ++first;
  StringRef verb =
      first < command.words.size() ? StringRef(command.words[first].text) : "";
  if (unloadsHugePages(command.words, verb))
    unsetHugePagesModule(command.line);
  if (isModuleQuery(verb))
    return;
  forgetEnvironment(command);
  static const StringRef others[] = {"purge", "unload",  "del",  "rm",
                                     "use",   "restore", "save", "unuse"};
  bool loads = verb == "load" || verb == "add" || verb == "swap" ||
               verb == "switch" || verb == "try-load";
  if (loads)
    ++first;
  else if (command.name() != "ml" || is_contained(others, verb))
    return;
  for (size_t i = first; i < command.words.size(); ++i) {
    StringRef module = command.words[i].text;
    if (module.starts_with("-"))
      continue;
    script.modules.push_back(module.str());
    if (module.starts_with("craype-hugepages"))
      setHugePagesModule(module, command.line);
  }
}

/// Takes away what the module has set, if the script has loaded it.
void JobReader::unsetHugePagesModule(unsigned line) {
  if (none_of(script.modules, [](StringRef module) {
        return module.starts_with("craype-hugepages");
      }))
    return;
  for (StringRef name :
       {"HUGETLB_DEFAULT_PAGE_SIZE", "HUGETLB_MORECORE", "HUGETLB_ELFMAP"})
    if (variables.find(name)) {
      unset(name, line);
      addSetting(name, JobWord(), line, "unset");
    }
}

/// What Cray's module sets for libhugetlbfs, with which it links (the
/// modulefile craype-hugepages2M and intro_hugepages(1), by what sites quote of
/// them).
void JobReader::setHugePagesModule(StringRef module, unsigned line) {
  auto set = [&](StringRef name, StringRef value) {
    setVariable(name, ShellValue(value), line, "module load",
                /*exported=*/true);
  };
  StringRef size = module.drop_front(strlen("craype-hugepages"));
  set("HUGETLB_DEFAULT_PAGE_SIZE",
      size.take_until([](char c) { return c == '/'; }));
  set("HUGETLB_MORECORE", "yes");
  set("HUGETLB_ELFMAP", "W");
}

/// "spack load a", "conda activate b": functions of the shell, most of the
/// time, that change it as a module does.
void JobReader::runEnvironmentTool(const Command &command) {
  StringRef verb =
      command.words.size() > 1 ? StringRef(command.words[1].text) : "";
  if (verb == "load" || verb == "unload" || verb == "activate" ||
      verb == "deactivate" || verb == "env" || verb == "swap")
    forgetEnvironment(command);
  else
    addLaunches(command); // "conda run"
}

/// "ulimit -s 8192", "ulimit -Ss unlimited".
void JobReader::runUlimit(const Command &command) {
  for (size_t i = 1; i + 1 < command.words.size(); ++i) {
    StringRef option = command.words[i].text;
    if (!option.starts_with("-") || !option.contains('s'))
      continue;
    // -H alone leaves the limit that counts.
    if (!option.contains('H') || option.contains('S'))
      variables.setValue(stackLimitName, command.values[i + 1], command.line);
    return;
  }
}

/// Whether \p folder is where the job was submitted from.
static bool isSubmitFolder(StringRef folder) {
  if (folder.consume_front("${"))
    folder.consume_back("}");
  else
    folder.consume_front("$");
  return StringSwitch<bool>(folder)
      .Case("SLURM_SUBMIT_DIR", true)
      .Case("PJM_O_WORKDIR", true)
      .Case("PBS_O_WORKDIR", true)
      .Case("SGE_O_WORKDIR", true)
      .Default(false);
}

/// $PWD in \p folder, which is relative to where the job starts, where $PWD is
/// not set here.
static ShellValue resolveFolder(const ShellValue &folder) {
  if (folder.str().starts_with("/"))
    return folder;
  ShellValue pwd;
  pwd.addUnknown("$PWD");
  if (!folder.str().empty())
    pwd.add("/");
  pwd.add(folder);
  return folder.known() ? pwd : ShellValue::notKnown("$(pwd)");
}

void JobReader::setPwd(unsigned line) {
  variables.forget("OLDPWD", line);
  const ShellVariable *folder = variables.find(folderName);
  bool known = folder && folder->set && folder->certain;
  variables.setValue("PWD",
                     known ? resolveFolder(folder->value)
                           : ShellValue::notKnown("$(pwd)"),
                     line);
}

void JobReader::runCd(const Command &command) {
  changeFolder(command);
  setPwd(command.line);
}

/// "#SBATCH --chdir=FOLDER"
void JobReader::startIn(StringRef folder, unsigned line) {
  variables.setValue(folderName, ShellValue(folder), line);
  setPwd(line);
}

/// Where the folder of that level of pushd is kept.
std::string JobReader::pushedFolder(unsigned level) const {
  return (pushedName + " " + Twine(level)).str();
}

/// Nothing: it depends on what only the job knows.
std::optional<unsigned> JobReader::pushedFolders() const {
  const ShellVariable *count = variables.find(pushedName);
  unsigned number = 0;
  if (count && (!count->set || !count->certain || !count->value.known() ||
                count->value.str().getAsInteger(10, number)))
    return std::nullopt;
  return number;
}

void JobReader::runPushd(const Command &command) {
  constexpr unsigned maxLevels = 32;
  std::optional<unsigned> level = pushedFolders();
  bool plain = command.words.size() == 2 &&
               StringRef(command.words[1].text).find_first_of("+-") != 0;
  if (!plain || !level || *level >= maxLevels) { // it swaps, or turns the stack
    variables.forget(pushedName, command.line);
    variables.forget(folderName, command.line);
    return setPwd(command.line);
  }
  const ShellVariable *before = variables.find(folderName);
  ShellVariable kept;
  kept.value = before ? before->value : ShellValue("");
  kept.certain = !before || (before->set && before->certain);
  variables.store(pushedFolder(*level), std::move(kept));
  variables.setValue(pushedName, ShellValue(std::to_string(*level + 1)),
                     command.line);
  runCd(command);
}

void JobReader::runPopd(const Command &command) {
  std::optional<unsigned> level = pushedFolders();
  const ShellVariable *kept =
      level && *level ? variables.find(pushedFolder(*level - 1)) : nullptr;
  if (!kept || command.words.size() > 1) {
    variables.forget(pushedName, command.line);
    variables.forget(folderName, command.line);
    return setPwd(command.line);
  }
  variables.store(folderName, ShellVariable(*kept));
  variables.setValue(pushedName, ShellValue(std::to_string(*level - 1)),
                     command.line);
  setPwd(command.line);
}

void JobReader::changeFolder(const Command &command) {
  size_t i = 1;
  while (i < command.words.size() &&
         StringRef(command.words[i].text).starts_with("-") &&
         command.words[i].text.size() > 1)
    ++i;
  bool plain = i < command.words.size();
  StringRef to = plain ? StringRef(command.words[i].text) : "-";
  if (isSubmitFolder(to))
    return variables.setValue(folderName, ShellValue(""), command.line);
  if (to == "-" || to == "~")
    return variables.forget(folderName, command.line);
  ShellValue folder;
  const ShellVariable *before = variables.find(folderName);
  // A folder that is named by a variable may be an absolute one.
  bool absolute = to.starts_with("/") || to.starts_with("$") ||
                  to.starts_with("~") || to.starts_with("`");
  if (!absolute && before && before->set && !before->value.str().empty()) {
    folder = before->value;
    folder.add("/");
  }
  folder.add(command.values[i]);
  constexpr size_t longestPath = 4096; // no folder has a longer one
  if (folder.str().size() > longestPath)
    return variables.forget(folderName, command.line);
  variables.setValue(folderName, std::move(folder), command.line);
}

/// Builtins that put into variables what only a run can tell.
void JobReader::runReadingBuiltin(const Command &command) {
  bool printed = command.name() == "printf";
  for (size_t i = 1; i < command.words.size(); ++i) {
    StringRef word = command.words[i].text;
    size_t length = shellNameLength(word);
    if (printed && command.words[i - 1].text != "-v")
      continue;
    if (length)
      variables.forget(word.take_front(length), command.line);
  }
  if (!printed)
    variables.forget("REPLY", command.line);
}

void JobReader::notRead(const Command &command) {
  if (command.words.size() < 2)
    return;
  forgetEnvironment(command);
  std::string what = command.name() == "eval" ? "eval " : "";
  what += command.words[1].text;
  problem(command.line,
          "not read: " + what + "; what it sets is not known here");
  if (command.name() != "eval")
    noteProgramIn(command.words[1].text, command.line, command.name());
  // "srun bash -c 'source steps.sh'": it is what the job is for.
  if (!prefix.empty())
    notUnderstood(command.line, command.name() + " " + what +
                                    ": the programs that it starts");
}

/// "setenv A b" of csh.
void JobReader::runCshSetting(const Command &command) {
  if (command.words.size() < 2)
    return;
  StringRef name = command.words[1].text;
  if (shellNameLength(name) != name.size() || name.empty())
    return;
  setVariable(name,
              command.values.size() > 2 ? command.values[2] : ShellValue(),
              command.line, "setenv", /*exported=*/true);
}
