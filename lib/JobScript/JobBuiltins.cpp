// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobReader.h.

#include "JobScript/JobReader.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mpg;

bool mpg::isDeclaration(StringRef name) {
  return hasWord("export declare typeset local readonly", name);
}

/// Commands of spack and conda that change the environment; the others start
/// programs: "conda run".
static bool changesEnvironment(StringRef verb) {
  return hasWord("load unload activate deactivate env swap", verb);
}

bool JobBuiltins::run(const ShellCommand &command) {
  using Run = void (JobBuiltins::*)(const ShellCommand &);
  Run run =
      StringSwitch<Run>(command.name())
          .Case("unset", &JobBuiltins::runUnset)
          .Case("unsetenv", &JobBuiltins::runUnset)
          .Case("set", &JobBuiltins::runSet)
          .Case("shift", &JobBuiltins::runShift)
          .Case("module", &JobBuiltins::runModule)
          .Case("ml", &JobBuiltins::runModule)
          .Case("ulimit", &JobBuiltins::runUlimit)
          .Case("read", &JobBuiltins::runReading)
          .Case("readarray", &JobBuiltins::runReading)
          .Case("mapfile", &JobBuiltins::runReading)
          .Case("getopts", &JobBuiltins::runReading)
          .Case("printf", &JobBuiltins::runReading)
          .Case("let", &JobBuiltins::runReading)
          .Case("setenv", &JobBuiltins::runCshSetting)
          .Default(isDeclaration(command.name()) ? &JobBuiltins::runDeclaration
                                                 : nullptr);
  using Change = void (JobState::*)(const ShellCommand &);
  Change change = StringSwitch<Change>(command.name())
                      .Case("cd", &JobState::changeFolder)
                      .Case("chdir", &JobState::changeFolder)
                      .Case("pushd", &JobState::pushFolder)
                      .Case("popd", &JobState::popFolder)
                      .Case("deactivate", &JobState::forgetEnvironment)
                      .Case("use", &JobState::forgetEnvironment)
                      .Default(nullptr);
  if (hasWord("spack conda mamba micromamba", command.name()) &&
      changesEnvironment(command.word(1)))
    change = &JobState::forgetEnvironment;
  if (run)
    (this->*run)(command);
  else if (change)
    (state.*change)(command);
  else if (command.word(0).starts_with("(("))
    forgetWritten(command);
  return run || change;
}

/// "(( i++ ))": every name in it may have changed.
void JobBuiltins::forgetWritten(const ShellCommand &command) {
  StringRef text = command.words[0].text;
  for (size_t at = 0; at < text.size(); ++at)
    if (size_t length = shellNameLength(text.substr(at))) {
      variables.forget(text.substr(at, length), command.line);
      at += length;
    }
}

/// Word \p i of "export A=b C" with the letters of its options.
void JobBuiltins::declare(const ShellCommand &command, StringRef attributes,
                          size_t i) {
  StringRef text = command.values[i].str();
  StringRef name = text.take_front(shellNameLength(text));
  size_t length = shellAssignmentLength(text);
  if (name.empty() || (!length && name.size() != text.size()))
    return;
  if (locals && command.name() != "export" && command.name() != "readonly") {
    locals->push_back(state.save(name));
    if (!length) { // "local A" has no value
      ShellVariable none;
      none.set = false;
      variables.store(name, none);
    }
  }
  if (length)
    state.assign(text.take_front(length),
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
    record.addSetting(name, std::move(value), command.line,
                      stays ? "export" : "assignment");
}

void JobBuiltins::runDeclaration(const ShellCommand &command) {
  std::string attributes;
  for (size_t i = 1; i < command.values.size(); ++i) {
    StringRef text = command.values[i].str();
    if (text.starts_with("-") || text.starts_with("+"))
      attributes += text.starts_with("+") ? text : text.drop_front();
    else if (attributes.find_first_of("fFp") == std::string::npos)
      declare(command, attributes, i);
  }
}

void JobBuiltins::runUnset(const ShellCommand &command) {
  for (size_t i = 1; i < command.words.size(); ++i) {
    StringRef name = command.words[i].text;
    if (name == "-f") // functions
      return;
    if (!shellNameLength(name) || shellNameLength(name) != name.size())
      continue;
    const ShellVariable *before = variables.find(name);
    if (before && before->readOnly)
      continue;
    state.unset(name, command.line);
    record.addSetting(name, JobWord(), command.line, "unset");
  }
}

void JobBuiltins::runSet(const ShellCommand &command) {
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
      variables.certainArguments =
          JobState::certainFrom(command.certainWords, first);
      if (record.isConditional())
        variables.arguments.reset();
      return;
    }
    if (all)
      variables.setValue(JobState::exportAllName,
                         ShellValue(word[0] == '-' ? "on" : "off"),
                         command.line);
    i += named;
  }
}

void JobBuiltins::runShift(const ShellCommand &command) {
  ++variables.argumentChanges;
  bool one = command.words.size() == 1 && !record.isConditional() &&
             variables.certainArguments > 0;
  if (one && variables.arguments && !variables.arguments->empty())
    variables.arguments->erase(variables.arguments->begin());
  else
    variables.arguments.reset();
  if (one)
    variables.certainArguments =
        JobState::certainFrom(variables.certainArguments, 1);
}

/// Verbs of module that only print.
static bool isModuleQuery(StringRef verb) {
  return verb.empty() ||
         hasWord("list avail av spider show display whatis keyword help", verb);
}

/// "module unload craype-hugepages2M", "ml -craype-hugepages2M".
static bool unloadsHugePages(ArrayRef<JobWord> words, StringRef verb) {
  bool unloads = hasWord("unload rm del swap switch", verb);
  return verb == "purge" || any_of(words, [&](const JobWord &word) {
           StringRef text = word.text;
           return (text.consume_front("-") || unloads) &&
                  text.starts_with("craype-hugepages");
         });
}

/// "module load a b", "ml a": what it sets, only its files say.
void JobBuiltins::runModule(const ShellCommand &command) {
  size_t first = 1;
  while (command.word(first).starts_with("-"))
    ++first;
  StringRef verb = command.word(first);
  if (unloadsHugePages(command.words, verb))
    unsetHugePagesModule(command.line);
  if (isModuleQuery(verb))
    return;
  state.forgetEnvironment(command);
  if (hasWord("load add swap switch try-load", verb))
    ++first;
  else if (command.name() != "ml" ||
           hasWord("purge unload del rm use restore save unuse", verb))
    return;
  for (size_t i = first; i < command.words.size(); ++i) {
    StringRef module = command.words[i].text;
    if (module.starts_with("-"))
      continue;
    record.script.modules.push_back(module.str());
    if (module.starts_with("craype-hugepages"))
      setHugePagesModule(module, command.line);
  }
}

/// Takes away what the module has set, if the script has loaded it.
void JobBuiltins::unsetHugePagesModule(unsigned line) {
  if (none_of(record.script.modules, [](StringRef module) {
        return module.starts_with("craype-hugepages");
      }))
    return;
  for (StringRef name :
       {"HUGETLB_DEFAULT_PAGE_SIZE", "HUGETLB_MORECORE", "HUGETLB_ELFMAP"})
    if (variables.find(name)) {
      state.unset(name, line);
      record.addSetting(name, JobWord(), line, "unset");
    }
}

/// What Cray's module sets for libhugetlbfs, with which it links (the
/// modulefile craype-hugepages2M and intro_hugepages(1), by what sites quote of
/// them).
void JobBuiltins::setHugePagesModule(StringRef module, unsigned line) {
  auto set = [&](StringRef name, StringRef value) {
    setExported(name, ShellValue(value), line, "module load");
  };
  StringRef size = module.drop_front(strlen("craype-hugepages"));
  set("HUGETLB_DEFAULT_PAGE_SIZE",
      size.take_until([](char c) { return c == '/'; }));
  set("HUGETLB_MORECORE", "yes");
  set("HUGETLB_ELFMAP", "W");
}

/// "ulimit -s 8192", "ulimit -Ss unlimited".
void JobBuiltins::runUlimit(const ShellCommand &command) {
  for (size_t i = 1; i + 1 < command.words.size(); ++i) {
    StringRef option = command.words[i].text;
    if (!option.starts_with("-") || !option.contains('s'))
      continue;
    // -H alone leaves the limit that counts.
    if (!option.contains('H') || option.contains('S'))
      variables.setValue(JobState::stackLimitName, command.values[i + 1],
                         command.line);
    return;
  }
}

/// Builtins that put into variables what only a run can tell.
void JobBuiltins::runReading(const ShellCommand &command) {
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

void JobBuiltins::setExported(StringRef name, ShellValue value, unsigned line,
                              StringRef how) {
  variables.setValue(name, value, line);
  state.exportVariable(name);
  record.addSetting(name, value.word(), line, how);
}

/// "setenv A b" of csh.
void JobBuiltins::runCshSetting(const ShellCommand &command) {
  if (command.words.size() < 2)
    return;
  StringRef name = command.words[1].text;
  if (shellNameLength(name) != name.size() || name.empty())
    return;
  setExported(name,
              command.values.size() > 2 ? command.values[2] : ShellValue(),
              command.line, "setenv");
}
