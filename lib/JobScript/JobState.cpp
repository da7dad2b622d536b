// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobState.h.

#include "JobScript/JobState.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

void JobState::assign(StringRef target, const ShellValue &value,
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
  if (bytes > (64 << 10) || !record.spend(bytes))
    return variables.forget(name, line);
  sum.add(value);
  variables.setValue(name, std::move(sum), line);
}

void JobState::exportVariable(StringRef name) {
  const ShellVariable *now = variables.find(name);
  if (now->exported)
    return;
  ShellVariable after = *now;
  after.exported = true;
  variables.store(name, std::move(after));
}

void JobState::unset(StringRef name, unsigned line) {
  ShellVariable none;
  none.set = false;
  none.line = line;
  variables.store(name, std::move(none));
}

SavedVariable JobState::save(StringRef name) const {
  const ShellVariable *variable = variables.find(name);
  return {name.str(),
          variable ? std::optional<ShellVariable>(*variable) : std::nullopt};
}

void JobState::restore(const std::vector<SavedVariable> &saved) {
  for (const SavedVariable &entry : reverse(saved))
    variables.restore(entry.first, entry.second);
}

bool JobState::exportsAll() const {
  const ShellVariable *all = variables.find(exportAllName);
  return all && all->value.str() == "on";
}

void JobState::keepExported(unsigned line) {
  static constexpr StringLiteral notVariables[] = {
      stackLimitName, exportAllName, folderName, pushedName, unknownFromName};
  std::vector<std::string> own;
  for (const auto &entry : variables.all())
    if (entry.second.set && !entry.second.exported &&
        !is_contained(notVariables, entry.first()))
      own.push_back(entry.first().str());
  for (const std::string &name : own)
    unset(name, line);
}

size_t JobState::certainFrom(size_t certainWords, size_t first) {
  return certainWords == SIZE_MAX
             ? SIZE_MAX
             : certainWords - std::min(certainWords, first);
}

void JobState::leaveShell(Place start) {
  variables.undo(start.variables);
  if (variables.argumentChanges != start.argumentChanges)
    variables.arguments.reset();
}

// Folders

bool mpg::isSubmitVariable(StringRef name) {
  return hasWord("SLURM_SUBMIT_DIR PJM_O_WORKDIR PBS_O_WORKDIR SGE_O_WORKDIR "
                 "LS_SUBCWD OAR_WORKDIR OAR_WORKING_DIRECTORY BRIDGE_MSUB_PWD",
                 name);
}

/// Whether \p folder is where the job was submitted from.
static bool isSubmitFolder(StringRef folder) {
  return folder.starts_with("$") && isSubmitVariable(folder.trim("${}"));
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

/// The entry of the folder at that level of pushd.
static std::string pushedFolder(unsigned level) {
  return (JobState::pushedName + " " + Twine(level)).str();
}

JobWord JobState::folder() const {
  const ShellVariable *folder = variables.find(folderName);
  return folder ? folder->value.word() : JobWord();
}

void JobState::setPwd(unsigned line) {
  variables.forget("OLDPWD", line);
  const ShellVariable *folder = variables.find(folderName);
  bool known = folder && folder->set && folder->certain;
  variables.setValue("PWD",
                     known ? resolveFolder(folder->value)
                           : ShellValue::notKnown("$(pwd)"),
                     line);
}

void JobState::startIn(StringRef folder, unsigned line) {
  variables.setValue(folderName, ShellValue(folder), line);
  setPwd(line);
}

void JobState::changeFolder(const ShellCommand &command) {
  setFolder(command);
  setPwd(command.line);
}

void JobState::setFolder(const ShellCommand &command) {
  size_t i = 1;
  while (command.word(i).starts_with("-") && command.word(i).size() > 1)
    ++i;
  StringRef to = i < command.words.size() ? command.word(i) : "-";
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

void JobState::forgetFolders(unsigned line) {
  variables.forget(pushedName, line);
  variables.forget(folderName, line);
  setPwd(line);
}

/// Nothing: it depends on what only the job knows.
std::optional<unsigned> JobState::pushedFolders() const {
  const ShellVariable *count = variables.find(pushedName);
  unsigned number = 0;
  if (count && (!count->set || !count->certain || !count->value.known() ||
                count->value.str().getAsInteger(10, number)))
    return std::nullopt;
  return number;
}

void JobState::pushFolder(const ShellCommand &command) {
  constexpr unsigned maxLevels = 32;
  std::optional<unsigned> level = pushedFolders();
  bool plain =
      command.words.size() == 2 && command.word(1).find_first_of("+-") != 0;
  if (!plain || !level || *level >= maxLevels) // it swaps, or turns the stack
    return forgetFolders(command.line);
  const ShellVariable *before = variables.find(folderName);
  ShellVariable kept;
  kept.value = before ? before->value : ShellValue("");
  kept.certain = !before || (before->set && before->certain);
  variables.store(pushedFolder(*level), std::move(kept));
  variables.setValue(pushedName, ShellValue(std::to_string(*level + 1)),
                     command.line);
  changeFolder(command);
}

void JobState::popFolder(const ShellCommand &command) {
  std::optional<unsigned> level = pushedFolders();
  const ShellVariable *kept =
      level && *level ? variables.find(pushedFolder(*level - 1)) : nullptr;
  if (!kept || command.words.size() > 1)
    return forgetFolders(command.line);
  variables.store(folderName, ShellVariable(*kept));
  variables.setValue(pushedName, ShellValue(std::to_string(*level - 1)),
                     command.line);
  setPwd(command.line);
}

// Unknown environments, limits

void JobState::forgetEnvironment(unsigned line, std::string what) {
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

void JobState::forgetEnvironment(const ShellCommand &command) {
  constexpr size_t shownWords = 4, longestWord = 60;
  std::string what;
  for (size_t i = 0; i < std::min(command.words.size(), shownWords); ++i)
    what += (i ? " " : "") + command.words[i].text.substr(0, longestWord);
  if (command.words.size() > shownWords)
    what += " ...";
  forgetEnvironment(command.line, std::move(what));
}

void JobState::setUnknownFrom(Launch &launch) const {
  const ShellVariable *change = variables.find(unknownFromName);
  if (!change)
    return;
  launch.unknownFromLine = change->line;
  auto what = environmentChanges.find(change->line);
  if (what != environmentChanges.end())
    launch.unknownFrom = what->second;
}

/// "unlimited", or KiB.
std::optional<uint64_t> JobState::stackBytes() const {
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
