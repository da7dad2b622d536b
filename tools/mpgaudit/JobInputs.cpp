// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "JobInputs.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static std::shared_ptr<const Launch> merge(const Launch &ofScript,
                                           const Launch *given) {
  auto launch = std::make_shared<Launch>(ofScript);
  if (given) {
    launch->sysroot = given->sysroot;
    for (const auto &[name, variable] : given->environment.all())
      launch->environment.set(name, variable);
  }
  return launch;
}

/// What every program of \p script would get, whichever it is.
static Launch launchOfSettings(const JobScript &script) {
  Launch launch;
  launch.ranksPerNode = script.ranksPerNode;
  for (const JobSetting &setting : script.settings) {
    if (setting.how == "unset")
      launch.environment.unset(setting.name);
    else
      launch.environment.set(setting.name,
                             {setting.value.text,
                              setting.value.known() && !setting.conditional,
                              setting.line});
  }
  return launch;
}

/// The start that \p path is meant for: the one of the same name, or the only
/// one. Null: none is.
static const JobLaunch *findStart(const JobScript &script, StringRef path) {
  for (const JobLaunch &start : script.launches)
    if (sys::path::filename(start.program.text) == sys::path::filename(path))
      return &start;
  return script.launches.size() == 1 ? &script.launches.front() : nullptr;
}

static void giveStarts(const JobScript &script, const Launch *given,
                       std::vector<Input> &inputs) {
  for (Input &input : inputs) {
    input.start = findStart(script, input.path);
    input.launch = merge(
        input.start ? input.start->launch : launchOfSettings(script), given);
  }
}

/// "./app", and not "././app".
static std::string findIn(const JobLaunch &start, const std::string &folder) {
  std::string path = findLaunched(start, folder);
  return StringRef(path).starts_with("././") ? path.substr(2) : path;
}

/// In the folder that the job starts in, which is the one of its submission;
/// who looks at the script from elsewhere has the program beside it.
static std::string findProgram(const JobScript &script,
                               const JobLaunch &start) {
  std::string path = findIn(start, ".");
  if (!path.empty())
    return path;
  StringRef folder = sys::path::parent_path(script.path);
  return folder.empty() ? "" : findIn(start, folder.str());
}

void mpg::addJobInputs(const JobScript &script, const Launch *given,
                       std::vector<Input> &inputs) {
  if (!inputs.empty())
    return giveStarts(script, given, inputs);
  for (const JobLaunch &start : script.launches) {
    std::string path = findProgram(script, start);
    if (path.empty())
      continue; // the rules say so
    Input input;
    input.path = path;
    input.start = &start;
    input.launch = merge(start.launch, given);
    inputs.push_back(std::move(input));
  }
}
