// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobTexts.h.

#include "JobScript/JobTexts.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static Variable parseVariable(const JobWord &value, unsigned line) {
  return {value.text, value.known(), line};
}

/// Everything exported at this point. False if it would be too much: a script
/// of many variables and many programs has all pairs of them.
bool JobLaunches::copyEnvironment(const ShellCommand &command,
                                  JobLaunch &launch) {
  if (isFull)
    return false;
  constexpr size_t bytesPerVariable = 96;
  size_t bytes = 0;
  for (const auto &entry : state.variables.all())
    if (entry.second.exported && entry.second.set)
      bytes += bytesPerVariable + entry.first().size() +
               entry.second.value.str().size();
  if (!record.spend(bytes)) {
    record.addProblem(command.line,
                      "too many programs and variables; what is started "
                      "from here on is not looked at");
    isFull = true;
    return false;
  }
  for (const auto &entry : state.variables.all())
    if (entry.second.exported && entry.second.set)
      launch.launch.environment.set(
          entry.first(), {entry.second.value.str().str(),
                          entry.second.value.known(), entry.second.line});
  return true;
}

/// Whether the text that is being read exports \p name itself.
bool JobLaunches::isSetInText(StringRef name) const {
  auto changed = state.variables.changedSince(place.start);
  auto at = changed.find(name);
  return at != changed.end() && at->second.set && at->second.exported;
}

/// Leaves of \p environment what \p list, "A,B=c", names and, if it is taken
/// away outside of the text that is being read, what that text sets.
void JobLaunches::keepOnly(Environment &environment, StringRef list,
                           bool isOutside) const {
  Environment before = std::exchange(environment, Environment());
  for (StringRef item : split(list, ','))
    if (const Variable *variable = before.find(item.split('=').first))
      environment.set(item.split('=').first, *variable);
  if (!isOutside)
    return;
  for (const auto &entry : state.variables.changedSince(place.start))
    if (const Variable *variable = before.find(entry.first()))
      environment.set(entry.first(), *variable);
}

/// Applies the launchers' changes of it.
void JobLaunches::changeEnvironment(const LaunchParts &parts,
                                    JobLaunch &launch) {
  Environment &environment = launch.launch.environment;
  for (const LaunchVariable &change : parts.variables) {
    switch (change.change) {
    case LaunchVariable::set:
      environment.set(change.name, parseVariable(change.value, launch.line));
      record.addSetting(change.name, change.value, launch.line, change.how);
      break;
    case LaunchVariable::exported:
      if (const ShellVariable *variable = state.variables.find(change.name))
        if (variable->set)
          environment.set(change.name, parseVariable(variable->value.word(),
                                                     variable->line));
      break;
    case LaunchVariable::unset:
      if (change.isOutside && isSetInText(change.name))
        break;
      environment.unset(change.name);
      record.addSetting(change.name, JobWord(), launch.line, "unset");
      break;
    case LaunchVariable::cleared:
      keepOnly(environment, "", change.isOutside);
      launch.withheldBy = change.how;
      break;
    case LaunchVariable::bySlurm:
      if (const Variable *list = environment.find("SLURM_EXPORT_ENV"))
        if (list->known && !isSlurmAll(list->value)) {
          keepOnly(environment, list->value, change.isOutside);
          launch.withheldBy = change.how;
        }
      break;
    }
  }
}

static std::optional<unsigned> findRanksPerNode(const LaunchParts &parts,
                                                const JobScript &script) {
  if (!parts.hasMpi)
    return 1;
  if (parts.ranksPerNode)
    return parts.ranksPerNode;
  std::optional<unsigned> nodes = parts.nodes ? parts.nodes : script.nodes;
  std::optional<unsigned> perNode = script.ranksPerNode;
  if (!parts.ranks || !*parts.ranks)
    return perNode;
  // As many as asked for, on as few nodes as the job's way to fill them needs.
  if (perNode && !parts.nodes)
    return std::min(*perNode, *parts.ranks);
  if (nodes && *nodes)
    return (*parts.ranks - 1) / *nodes + 1;
  return std::nullopt;
}

/// A program that a text in any language names; "": none of the user's.
std::string JobLaunches::findProgramIn(StringRef text) const {
  constexpr unsigned maxNames = 64;
  auto isOfName = [](char c) {
    return isAlnum(c) || StringRef("_./+-").contains(c);
  };
  for (unsigned i = 0; i < maxNames && !text.empty(); ++i) {
    text = text.drop_until(isOfName);
    StringRef name = text.take_while(isOfName);
    text = text.drop_front(name.size());
    JobLaunch start;
    start.program.text = name.str();
    if (name.contains('/') && findKind(start) == OperandKind::program)
      return name.str();
  }
  return "";
}

bool JobLaunches::noteProgramIn(StringRef text, unsigned line,
                                StringRef reader) {
  std::string program = findProgramIn(text);
  if (program.empty() || program == text)
    return false;
  record.addNotUnderstood(line,
                          program + ", which a text for " + reader + " names");
  return true;
}

/// A shell or an interpreter reads a file that is not a program. A shell's file
/// starts programs, most of the time.
void JobLaunches::noteInterpreter(const ShellCommand &command,
                                  const JobLaunch &launch) {
  StringRef name = sys::path::filename(launch.program.text);
  if (!isInterpreter(name))
    return;
  std::string texts = command.document ? command.document->text.str() : "";
  for (const JobWord &argument : launch.arguments)
    if (StringRef(argument.text).find_first_of(" '\"(") != StringRef::npos)
      texts += " " + argument.text;
  if (!isShell(name) && noteProgramIn(texts, launch.line, name))
    return;
  std::string what = "standard input";
  for (const JobWord &argument : launch.arguments) {
    StringRef text = argument.text;
    if (text == "--version" || text == "--help")
      return;
    bool isText =
        text.starts_with("-") && !text.starts_with("--") && text.ends_with("c");
    if (text.starts_with("-") && !isText)
      continue;
    what = isText ? "the text of -c" : text.str();
    break;
  }
  if (isShell(name))
    record.addNotUnderstood(launch.line,
                            what + ", which " + name +
                                " reads: the programs that it starts");
  else
    record.addProblem(launch.line, "not read: " + what + "; " + name +
                                       " is taken for the program");
}

void JobLaunches::noteBareName(const ShellCommand &command,
                               const LaunchParts &parts) {
  if (!parts.program || !parts.program->known() ||
      !parts.notUnderstood.empty() ||
      record.script.bareNames.size() >= JobRecord::maxPlaces)
    return;
  const std::string &name = parts.program->text;
  if (!name.empty() &&
      all_of(
          name,
          [](char c) { return isAlnum(c) || StringRef("_.+-").contains(c); }) &&
      !isCommonTool(name))
    record.script.bareNames.push_back({command.line, name});
}

void JobLaunches::noteSubmitted(const ShellCommand &command) {
  std::string name = sys::path::filename(command.name()).str();
  if (!hasWord("sbatch pjsub qsub oarsub", name))
    return;
  // "sbatch --wrap='srun ./app'", "qsub -b y ./app": without a script.
  for (const JobWord &word : drop_begin(command.words))
    if (noteProgramIn(" " + word.text, command.line, name))
      return;
  // Options with a value of their own are many: the last word that is none.
  auto script = std::find_if(command.words.rbegin(), command.words.rend(),
                             [](const JobWord &word) {
                               return !StringRef(word.text).starts_with("-");
                             });
  record.addProblem(
      command.line,
      "not read: the job that " + name + " submits" +
          (script->text == command.words[0].text ? "" : ", " + script->text));
}

/// "./app", "../bin/solve.x": a name that programs have.
static bool looksLikeProgram(const JobWord &word) {
  StringRef path = word.text, name = sys::path::filename(path);
  if (!word.known() || !path.starts_with(".") || !path.contains('/') ||
      path.ends_with("/") || name.empty() || name == "." || name == ".." ||
      name.find_first_of("*?[") != StringRef::npos)
    return false;
  StringRef ending = sys::path::extension(name);
  return ending.empty() || ending == ".x" || ending == ".exe" ||
         ending == ".out" || ending == ".bin" || ending == ".sh";
}

/// Of the program of \p start, in the folder of now.
OperandKind JobLaunches::findKind(JobLaunch &start) const {
  if (!StringRef(start.program.text).contains('/'))
    start.program.text.insert(0, "./");
  start.folder = state.folder();
  return probe ? probe(start) : OperandKind::absent;
}

bool JobLaunches::namesProgram(const JobWord &word) const {
  JobLaunch start;
  start.program = word;
  return looksLikeProgram(word) || findKind(start) == OperandKind::program;
}

void JobLaunches::addOperands(const ShellCommand &command,
                              const LaunchParts &parts) {
  constexpr size_t maxOperands = 64;
  StringRef name = parts.program ? sys::path::filename(parts.program->text)
                                 : StringRef(command.words[0].text);
  bool startsNone =
      isCommonTool(name) || name.starts_with("((") || name.starts_with("[[");
  if (startsNone && parts.notUnderstood.empty()) {
    if (hasWord("awk gawk mawk nawk alias", name))
      for (const JobWord &word : parts.arguments)
        noteProgramIn(word.text, command.line, name);
    return;
  }
  bool found = false;
  const JobWord *missing = nullptr;
  for (const JobWord &word :
       ArrayRef(parts.arguments).take_front(maxOperands)) {
    if (is_contained(parts.shellTexts, word))
      continue; // "bash -c ./app": read
    JobLaunch start;
    start.program = word;
    StringRef text = word.text;
    size_t equals = text.find('=');
    if (text.starts_with("-") && equals != StringRef::npos)
      start.program.text = text.drop_front(equals + 1).str(); // --exe=./app
    else if (text.starts_with("-"))
      continue;
    OperandKind kind = findKind(start);
    if (kind == OperandKind::absent && looksLikeProgram(word) && !missing)
      missing = &word;
    if (kind != OperandKind::program)
      continue;
    found = true;
    LaunchParts operand = parts;
    operand.program = start.program;
    operand.arguments.clear();
    operand.isOperand = true;
    operand.underMpgrun &= parts.meansChildren;
    addLaunch(command, operand);
  }
  if (missing && !found && !parts.isLaunched && parts.notUnderstood.empty() &&
      parts.shellTexts.empty() && parts.program)
    record.addNotUnderstood(command.line,
                            name + ", which may start " + missing->text);
}

void JobLaunches::addLaunch(const ShellCommand &command, LaunchParts &parts) {
  JobLaunch launch;
  launch.line = command.line;
  launch.conditional = record.isConditional() || parts.isOperand;
  launch.isOperand = parts.isOperand;
  launch.commandsBefore = record.script.commands.size();
  if (!copyEnvironment(command, launch))
    return;
  launch.program = std::move(*parts.program);
  launch.arguments = std::move(parts.arguments);
  launch.image = std::move(parts.image);
  if (launch.image.text.empty())
    launch.image.text = record.script.image;
  launch.writtenIn = place.writtenIn;
  size_t wordsBefore = 0;
  for (std::vector<JobWord> &words : parts.launchers) {
    launch.outerLaunchers += wordsBefore < place.outerWords;
    wordsBefore += words.size();
    launch.launchers.push_back(
        {std::move(words), command.line, launch.conditional});
  }
  changeEnvironment(parts, launch);
  launch.folder = state.folder();
  const ShellVariable *folders = state.variables.find("LD_LIBRARY_PATH");
  if (folders && folders->set && !folders->value.known())
    launch.libraryFolders = folders->value.split(':');
  state.setUnknownFrom(launch.launch);
  launch.launch.uncertain = launch.conditional;
  launch.launch.underMpgrun = parts.underMpgrun;
  launch.launch.threads = launch.launch.environment.threads();
  launch.launch.ranksPerNode = findRanksPerNode(parts, record.script);
  launch.launch.stackBytes = state.stackBytes();
  if (!launch.isOperand)
    noteInterpreter(command, launch);
  record.script.launches.push_back(std::move(launch));
}
