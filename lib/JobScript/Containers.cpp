// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the command of a container as the one command of a script, with the
// variables that the manifest sets. Those of the image are not known.

#include "JobScript/JobReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// "$(NAME)" is a variable that was set before, and "$$" a dollar. Kubernetes
/// adds variables of services, so that others are not known.
ShellValue JobReader::expandReferences(StringRef text) const {
  ShellValue value;
  while (!text.empty()) {
    size_t dollar = text.find('$');
    value.add(text.take_front(dollar));
    text = text.drop_front(std::min(dollar, text.size()));
    size_t end = text.starts_with("$(") ? text.find(')') : StringRef::npos;
    StringRef name = text.slice(2, end);
    if (end != StringRef::npos && shellNameLength(name) == name.size()) {
      const ShellVariable *known = variables.find(name);
      if (known && known->set)
        value.add(known->value);
      else
        value.addUnknown(text.take_front(end + 1));
      text = text.drop_front(end + 1);
    } else {
      value.add(text.take_front(1));
      text = text.drop_front(
          std::min<size_t>(text.starts_with("$$") ? 2 : 1, text.size()));
    }
  }
  return value;
}

void JobReader::setContainerVariables(const ManifestContainer &container) {
  if (container.hasEnvFrom) {
    state.forgetEnvironment(container.facts.line, "envFrom");
    record.addProblem(container.facts.line,
                      "not read: envFrom; what it sets is not known here");
  }
  for (const ManifestVariable &given : container.variables) {
    ShellVariable variable;
    variable.value = given.value ? expandReferences(*given.value)
                                 : ShellValue::notKnown("valueFrom");
    variable.exported = true;
    variable.line = given.line;
    record.addSetting(given.name, variable.value.word(), given.line, "env");
    variables.store(given.name, std::move(variable));
  }
  if (!container.folder.empty())
    state.startIn(container.folder, container.facts.line);
}

/// A name without a folder that PATH of the image leads to.
static bool isInPath(const LaunchParts &parts) {
  return parts.program && parts.program->known() && !parts.isLaunched &&
         parts.notUnderstood.empty() && parts.shellTexts.empty() &&
         !isCommonTool(sys::path::filename(parts.program->text));
}

void JobReader::startContainer(const ManifestContainer &container) {
  ShellCommand command;
  for (const ManifestText &given : container.command) {
    // Lines of a text for a shell are the file's.
    if (command.words.empty() || StringRef(given.text).contains('\n'))
      command.line = given.line;
    command.values.push_back(expandReferences(given.text));
    command.words.push_back(command.values.back().word());
  }
  if (command.words.empty() || command.words[0].text.empty())
    return record.addNotUnderstood(
        container.facts.line, "the program that the image " + container.image +
                                  " starts by itself: not in this file system");
  record.addCommand(command);
  std::vector<LaunchParts> parts = findLaunches(command.words);
  if (parts.size() == 1 && isInPath(parts[0])) {
    launches.addOperands(command, parts[0]);
    launches.addLaunch(command, parts[0]);
  } else {
    texts.startPrograms(command);
  }
}

void JobReader::runContainer(const ManifestContainer &container) {
  size_t first = record.script.launches.size();
  for (const ManifestText &given : container.command)
    callBudget += 4 * given.text.size();
  setContainerVariables(container);
  startContainer(container);
  texts.readTraps();
  readUncalled();
  for (JobLaunch &launch : drop_begin(record.script.launches, first))
    launch.container = record.script.containers.size();
  record.script.containers.push_back(container.facts);
}
