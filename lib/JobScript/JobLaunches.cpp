// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that a command starts, with the environment they get.

#include "JobScript/JobReader.h"
#include "JobScript/Launchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static Variable variableOf(const JobWord &value, unsigned line) {
  return {value.text, value.known(), line};
}

/// Everything exported at this point. False if it would be too much: a script
/// of many variables and many programs has all pairs of them.
bool JobReader::copyEnvironment(const Command &command, JobLaunch &launch) {
  if (toldLaunches)
    return false;
  constexpr size_t bytesPerVariable = 96;
  size_t bytes = 0;
  for (const auto &entry : variables.all())
    if (entry.second.exported && entry.second.set)
      bytes += bytesPerVariable + entry.first().size() +
               entry.second.value.str().size();
  if (bytes > copyBudget) {
    problem(command.line, "too many programs and variables; what is started "
                          "from here on is not looked at");
    toldLaunches = true;
    return false;
  }
  copyBudget -= bytes;
  for (const auto &entry : variables.all())
    if (entry.second.exported && entry.second.set)
      launch.launch.environment.set(
          entry.first(), {entry.second.value.str().str(),
                          entry.second.value.known(), entry.second.line});
  return true;
}

/// What the launchers change of it.
void JobReader::changeEnvironment(const LaunchParts &parts, JobLaunch &launch) {
  Environment &environment = launch.launch.environment;
  for (const LaunchVariable &change : parts.variables) {
    switch (change.change) {
    case LaunchVariable::set:
      environment.set(change.name, variableOf(change.value, launch.line));
      addSetting(change.name, change.value, launch.line, change.how);
      break;
    case LaunchVariable::exported:
      if (const ShellVariable *variable = variables.find(change.name))
        if (variable->set)
          environment.set(change.name,
                          variableOf(variable->value.word(), variable->line));
      break;
    case LaunchVariable::unset:
      environment.unset(change.name);
      addSetting(change.name, JobWord(), launch.line, "unset");
      break;
    case LaunchVariable::cleared:
      environment = Environment();
      break;
    }
  }
}

void JobReader::setUnknownFrom(Launch &launch) const {
  const ShellVariable *change = variables.find(unknownFromName);
  if (!change)
    return;
  launch.unknownFromLine = change->line;
  auto what = environmentChanges.find(change->line);
  if (what != environmentChanges.end())
    launch.unknownFrom = what->second;
}

/// The number of threads: "48" of "48", "4" of "4,12".
static std::optional<unsigned> threadsOf(const Environment &environment) {
  StringRef value = environment.valueOf("OMP_NUM_THREADS").trim();
  unsigned threads;
  if (value.split(',').first.getAsInteger(10, threads) || !threads)
    return std::nullopt;
  return threads;
}

static std::optional<unsigned> ranksPerNodeOf(const LaunchParts &parts,
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

/// "unlimited", or KiB.
std::optional<uint64_t> JobReader::stackBytes() const {
  const ShellVariable *limit = variables.find(stackLimitName);
  if (!limit || !limit->set || !limit->value.known())
    return std::nullopt;
  if (limit->value.str() == "unlimited")
    return UINT64_MAX;
  uint64_t kibibytes;
  if (limit->value.str().getAsInteger(10, kibibytes) ||
      kibibytes > UINT64_MAX / 1024)
    return std::nullopt;
  return kibibytes * 1024;
}

static bool isShell(StringRef name) {
  return name == "sh" || name.ends_with("sh");
}

/// A shell or an interpreter reads a file that is no program. What a shell
/// reads starts programs, most of the time.
void JobReader::noteInterpreter(const JobLaunch &launch) {
  StringRef name = sys::path::filename(launch.program.text);
  if (!isInterpreter(name))
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
    notUnderstood(launch.line, what + ", which " + name +
                                   " reads: the programs that it starts");
  else
    problem(launch.line,
            "not read: " + what + "; " + name + " is taken for the program");
}

void JobReader::noteBareName(const Command &command, const LaunchParts &parts) {
  if (!parts.program || !parts.program->known() ||
      script.bareNames.size() >= mostPlaces)
    return;
  const std::string &name = parts.program->text;
  if (!name.empty() &&
      all_of(
          name,
          [](char c) { return isAlnum(c) || StringRef("_.+-").contains(c); }) &&
      !isCommonTool(name))
    script.bareNames.push_back({command.line, name});
}

/// What it submits is a job of its own, and audited as such.
void JobReader::noteSubmitted(const Command &command) {
  std::string name = sys::path::filename(command.name()).str();
  static constexpr StringLiteral submitters[] = {"sbatch", "pjsub", "qsub",
                                                 "oarsub"};
  if (!is_contained(submitters, name))
    return;
  // Options with a value of their own are many: the last word that is none.
  auto script = std::find_if(command.words.rbegin(), command.words.rend(),
                             [](const JobWord &word) {
                               return !StringRef(word.text).starts_with("-");
                             });
  problem(
      command.line,
      "not read: the job that " + name + " submits" +
          (script->text == command.words[0].text ? "" : ", " + script->text));
}

void JobReader::addLaunches(const Command &command) {
  noteSubmitted(command);
  for (LaunchParts &parts : findLaunches(command.words)) {
    // "exec program" does not come back.
    if (command.name() == "exec" && parts.program && !isConditional())
      ended = true;
    if (!parts.notUnderstood.empty())
      notUnderstood(command.line, parts.notUnderstood);
    if (!parts.isLaunched) {
      noteBareName(command, parts);
      continue;
    }
    JobLaunch launch;
    launch.line = command.line;
    launch.conditional = isConditional();
    launch.commandsBefore = script.commands.size();
    if (!copyEnvironment(command, launch))
      return;
    launch.program = std::move(*parts.program);
    launch.arguments = std::move(parts.arguments);
    launch.image = std::move(parts.image);
    for (std::vector<JobWord> &words : parts.launchers)
      launch.launchers.push_back(
          {std::move(words), command.line, launch.conditional});
    changeEnvironment(parts, launch);
    if (const ShellVariable *folder = variables.find(folderName))
      launch.folder = folder->value.word();
    const ShellVariable *folders = variables.find("LD_LIBRARY_PATH");
    if (folders && folders->set && !folders->value.known())
      launch.libraryFolders = folders->value.split(':');
    setUnknownFrom(launch.launch);
    launch.launch.uncertain = launch.conditional;
    launch.launch.underMpgrun = parts.underMpgrun;
    launch.launch.threads = threadsOf(launch.launch.environment);
    launch.launch.ranksPerNode = ranksPerNodeOf(parts, script);
    launch.launch.stackBytes = stackBytes();
    noteInterpreter(launch);
    script.launches.push_back(std::move(launch));
  }
}
