// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Run.h. Operands, lists and directories first; then what a job script
// starts, also inside of containers whose image is a folder here.

#include "Run.h"
#include "Support/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

using namespace llvm;
using namespace mpg;

namespace {

class Collector {
public:
  Collector(const Options &options,
            const std::function<void(const std::string &, const std::string &)>
                &report)
      : options(options), report(report) {}

  void addOperand(const std::string &operand);
  void addList(const std::string &path, char separator);
  InputList release() { return std::move(list); }

private:
  void addPath(const std::string &path);
  void addDirectory(const std::string &path);

  const Options &options;
  const std::function<void(const std::string &, const std::string &)> &report;
  InputList list;
};

} // namespace

static Input makeInput(const std::string &path, bool fromDirectory) {
  Input input;
  input.path = path;
  input.fromDirectory = fromDirectory;
  return input;
}

void Collector::addDirectory(const std::string &path) {
  std::vector<std::string> names;
  if (int error = readNames(path, names))
    report(path, strerror(error));
  for (const std::string &name : names) {
    std::string inside = path + (path.back() == '/' ? "" : "/") + name;
    struct stat status;
    if (lstat(inside.c_str(), &status) != 0)
      report(inside, strerror(errno));
    // Links may lead in a ring, and what they name is mostly here as well.
    else if (S_ISLNK(status.st_mode))
      ++list.skippedLinks;
    else if (S_ISDIR(status.st_mode))
      addDirectory(inside);
    else if (S_ISREG(status.st_mode))
      list.files.push_back(makeInput(inside, true));
    else
      ++list.skippedSpecial;
  }
}

void Collector::addPath(const std::string &path) {
  // Not lstat: a link that the user names is meant to be followed.
  struct stat status;
  if (options.recursive && stat(path.c_str(), &status) == 0 &&
      S_ISDIR(status.st_mode))
    addDirectory(path);
  else
    list.files.push_back(makeInput(path, false));
}

void Collector::addList(const std::string &path, char separator) {
  auto buffer = readUnmapped(path);
  if (!buffer)
    return report(path, readFailure(buffer.getError()));
  StringRef rest = (*buffer)->getBuffer();
  constexpr size_t maxAtOnce = 1 << 14; // lines may be empty
  list.files.reserve(list.files.size() +
                     std::min(rest.count(separator) + 1, maxAtOnce));
  for (StringRef name : split(rest, separator)) {
    // As Windows ends lines; in a list with NUL it is part of the name.
    if (separator == '\n')
      name.consume_back("\r");
    if (!name.empty())
      addPath(name.str());
  }
}

void Collector::addOperand(const std::string &operand) {
  // "@" alone is a file of that name.
  if (operand.size() > 1 && operand[0] == '@')
    addList(operand.substr(1), '\n');
  else
    addPath(operand);
}

InputList mpg::collectInputs(
    const Options &options,
    const std::function<void(const std::string &, const std::string &)>
        &report) {
  Collector collector(options, report);
  for (const std::string &operand : options.operands)
    collector.addOperand(operand);
  for (const std::string &list : options.files0From)
    collector.addList(list, '\0');
  return collector.release();
}

/// The user's options about the start win over the script.
static std::shared_ptr<Launch> merge(const Launch &ofScript,
                                     const Launch *given) {
  auto launch = std::make_shared<Launch>(ofScript);
  if (given) {
    launch->sysroot = given->sysroot;
    for (const auto &[name, variable] : given->environment.all())
      launch->environment.set(name, variable);
  }
  return launch;
}

void mpg::addGivenSettings(JobScript &script, const Launch *given) {
  if (!given)
    return;
  for (const auto &[name, variable] : given->environment.all()) {
    JobSetting setting;
    setting.name = name;
    setting.value.text = variable.value;
    setting.line = 0;
    setting.how = "--env";
    script.settings.insert(script.settings.begin(), std::move(setting));
    for (JobLaunch &start : script.launches)
      start.launch.environment.set(name, variable);
  }
  for (JobLaunch &start : script.launches)
    if (given->environment.find("OMP_NUM_THREADS"))
      start.launch.threads = start.launch.environment.threads();
}

/// The launch of \p start for a job that starts in \p folder.
static std::shared_ptr<Launch> makeLaunch(const JobLaunch &start,
                                          const Launch *given,
                                          const std::string &folder) {
  Launch launch = start.launch;
  if (!start.libraryFolders.empty())
    if (const Variable *list = launch.environment.find("LD_LIBRARY_PATH")) {
      Variable known = *list;
      known.knownFolders = knownLibraryFolders(start, folder);
      launch.environment.set("LD_LIBRARY_PATH", std::move(known));
    }
  return merge(launch, given);
}

/// The launch that every program of \p script would get.
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

static void addStarts(const JobScript &script, const Launch *given,
                      std::vector<Input> &inputs) {
  for (Input &input : inputs) {
    input.start = findStart(script, input.path);
    input.launch = input.start ? makeLaunch(*input.start, given, ".")
                               : merge(launchOfSettings(script), given);
  }
}

/// The folder that is the image in which \p start runs, without a slash at the
/// end; "" if it is not a folder on this machine.
static std::string imageFolder(const JobLaunch &start) {
  StringRef path = StringRef(start.image.text).rtrim('/');
  bool here =
      start.image.known() && !path.empty() && sys::fs::is_directory(path);
  return here ? path.str() : "";
}

/// In an image names without a slash are looked up in its own folders; a path
/// that begins elsewhere is the job's folder, which images see as well.
static std::string findInImage(const JobLaunch &start,
                               const std::string &image) {
  StringRef program = start.program.text;
  if (!start.program.known())
    return "";
  if (program.starts_with("/"))
    return sys::fs::exists(image + program) ? image + program.str() : "";
  if (program.contains('/'))
    return findLaunched(start, ".");
  for (StringRef folder : {"/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/",
                           "/usr/bin/", "/sbin/", "/bin/"})
    if (sys::fs::exists(image + folder + program))
      return (image + folder + program).str();
  return "";
}

void mpg::noteImages(JobScript &script) {
  for (const JobLaunch &start : script.launches) {
    if (start.image.text.empty())
      continue;
    std::string folder = imageFolder(start);
    const char *what = folder.empty() ? ", which is not a folder here"
                       : findInImage(start, folder).empty()
                           ? ", where it was not found"
                           : nullptr;
    if (what)
      script.notUnderstood.push_back(
          {start.line,
           start.program.text + " in the image " + start.image.text + what});
  }
}

/// Adds the program that \p start runs in an image.
static void addStartInImage(const JobLaunch &start, const Launch *given,
                            std::vector<Input> &inputs) {
  std::string image = imageFolder(start);
  Input input;
  input.path = image.empty() ? "" : findInImage(start, image);
  if (input.path.empty())
    return;
  input.start = &start;
  input.fromScript = true;
  std::shared_ptr<Launch> launch = makeLaunch(start, given, ".");
  launch->sysroot = image;
  // Variables of the job come with it, those that the image sets are not known.
  launch->uncertain = true;
  input.launch = std::move(launch);
  inputs.push_back(std::move(input));
}

/// "./app" and "../app", and not "././app" and "./../app".
static std::string findIn(const JobLaunch &start, const std::string &folder) {
  std::string path = findLaunched(start, folder);
  bool twice = StringRef(path).starts_with("././") ||
               StringRef(path).starts_with("./../");
  return twice ? path.substr(2) : path;
}

/// A name that PATH decides about where PATH is not known.
static bool mayBeAnother(const JobLaunch &start) {
  return !StringRef(start.program.text).contains('/') &&
         start.launch.mayChange("PATH");
}

/// MPG238 reports the others.
static void noteMissing(JobScript &script, JobLaunch &start) {
  const char *why =
      start.isInImage ? ", which is not in this file system: not audited"
      : hasUnknownName(start) ? ", a program whose name only the job knows"
      : hasScriptName(start)  ? ", a script that is not here: the programs "
                                "that it starts"
                              : nullptr;
  if (!why)
    return;
  start.notUnderstood = true;
  script.notUnderstood.push_back({start.line, start.program.text + why});
}

/// In the folder that the job starts in, which is the one of its submission;
/// a user who looks at the script from elsewhere has the program beside it.
static void addStart(JobScript &script, JobLaunch &start, const Launch *given,
                     std::vector<Input> &inputs) {
  if (start.madeLine)
    return; // the file of now will not run; MPG238 says so
  if (!start.image.text.empty())
    return addStartInImage(start, given, inputs);
  if (start.isInImage)
    return noteMissing(script, start);
  std::string folder = ".";
  std::string path = findIn(start, folder);
  if (path.empty()) {
    folder = sys::path::parent_path(script.path).str();
    path = folder.empty() ? "" : findIn(start, folder);
  }
  if (path.empty())
    return noteMissing(script, start);
  Input input;
  input.path = path;
  input.start = &start;
  input.fromScript = true;
  std::shared_ptr<Launch> launch = makeLaunch(start, given, folder);
  launch->uncertain |= mayBeAnother(start);
  input.launch = std::move(launch);
  inputs.push_back(std::move(input));
}

/// A script that starts more in different ways was made to take time.
static constexpr size_t maxStarts = 2048;

/// The words of \p start but for the program's own, which no verdict asks
/// about: what starts alike has the same.
static std::string joinWords(const JobLaunch &start) {
  std::string words = start.program.text;
  auto add = [&](ArrayRef<JobWord> more) {
    for (const JobWord &word : more)
      words += '\0' + word.text;
  };
  for (const JobCommand &launcher : start.launchers)
    add(launcher.words);
  return words;
}

/// True if the report of a program is the same for both starts.
/// pre: joinWords() is.
static bool isAlike(const JobLaunch &a, const JobLaunch &b) {
  return a.program == b.program && a.image == b.image && a.folder == b.folder &&
         a.container == b.container && a.conditional == b.conditional &&
         !a.madeLine == !b.madeLine && a.libraryFolders == b.libraryFolders &&
         a.launch == b.launch;
}

void mpg::addJobInputs(JobScript &script, const Launch *given,
                       std::vector<Input> &inputs) {
  if (!inputs.empty())
    return addStarts(script, given, inputs);
  struct Last {
    const JobLaunch *start;
    std::optional<size_t> input; ///< nothing: its program is not here
  };
  StringMap<Last> lastByWords;
  for (JobLaunch &start : script.launches) {
    Last &last = lastByWords[joinWords(start)];
    if (last.start && isAlike(*last.start, start)) {
      if (last.input)
        inputs[*last.input].alike.push_back(&start);
      start.notUnderstood = last.start->notUnderstood;
      continue;
    }
    size_t before = inputs.size();
    if (before == maxStarts) {
      script.notUnderstood.push_back(
          {start.line, "what is started from here on, after " +
                           std::to_string(maxStarts) + " different starts"});
      return;
    }
    addStart(script, start, given, inputs);
    last = {&start, std::nullopt};
    if (inputs.size() != before)
      last.input = before;
  }
}
