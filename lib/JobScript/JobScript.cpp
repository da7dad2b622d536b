// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobScript.h. Text to tokens (ShellLexer), tokens to blocks (ShellBlocks),
// comments to directives (Directives), and then the script from its first to
// its last line (JobReader).

#include "JobScript/JobScript.h"
#include "Elf/Image.h"
#include "JobScript/JobReader.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace mpg;

/// Limit of each list: a script of one million quotes must not make a report of
/// one million lines.
static constexpr size_t maxProblems = 100;

static void removeAll(std::string &text, char unwanted) {
  text.erase(std::remove(text.begin(), text.end(), unwanted), text.end());
}

/// \p text without what an editor left in it.
static std::string normalized(StringRef text, JobScript &script) {
  text.consume_front("\xEF\xBB\xBF");
  std::string result = text.str();
  size_t zero = text.find('\0');
  if (zero != StringRef::npos) {
    script.problems.push_back({unsigned(text.take_front(zero).count('\n')) + 1,
                               "a byte 0 is in the script; the shell leaves it "
                               "out, or does not run it at all"});
    removeAll(result, '\0');
  }
  if (text.contains("\r\n")) {
    script.problems.push_back(
        {1, "lines end with CR LF: the shell takes the CR for a part of the "
            "last word; write the script with LF (dos2unix)"});
    removeAll(result, '\r');
  }
  return result;
}

static bool isCsh(StringRef text) {
  StringRef first = text.take_until([](char c) { return c == '\n'; });
  return first.starts_with("#!") &&
         first.rtrim().split(' ').first.ends_with("csh");
}

/// "#!/bin/bash -l" reads profiles, which may load modules.
static bool isLoginShell(StringRef text) {
  StringRef first = text.take_until([](char c) { return c == '\n'; }).rtrim();
  if (!first.consume_front("#!"))
    return false;
  StringRef options = first.ltrim().split(' ').second.trim();
  bool isLong = options.starts_with("--");
  return isLong ? options == "--login"
                : options.starts_with("-") && options.contains('l');
}

/// "python3" of "#!/usr/bin/env python3" and of "#!/usr/bin/python3 -u". "" for
/// shells, and without such a line.
static StringRef otherLanguage(StringRef text) {
  StringRef first = text.take_until([](char c) { return c == '\n'; }).rtrim();
  if (!first.consume_front("#!"))
    return "";
  auto [program, rest] = first.ltrim().split(' ');
  StringRef name = sys::path::filename(program);
  if (name == "env") {
    rest = rest.ltrim();
    while (rest.starts_with("-")) // -S
      rest = rest.split(' ').second.ltrim();
    name = sys::path::filename(rest.split(' ').first);
  }
  return name.ends_with("sh") && name != "fish" ? "" : name;
}

static void sortProblems(JobScript &script) {
  sort(script.problems, [](const JobProblem &a, const JobProblem &b) {
    return std::tie(a.line, a.text) < std::tie(b.line, b.text);
  });
  size_t number = script.problems.size();
  if (number <= maxProblems)
    return;
  script.problems.resize(maxProblems);
  script.problems.push_back(
      {script.problems.back().line, utostr(number - maxProblems) + " more"});
}

/// csh allows some things that are errors in bash: "set a = $<".
static bool isOfBash(const JobProblem &problem) {
  return StringRef(problem.text).starts_with("no file after ");
}

/// Expanded and copied text may be a few times as large as the script.
static size_t findBudget(StringRef text) {
  return (size_t(4) << 20) + 16 * text.size();
}

JobScript mpg::readJobScript(StringRef text, const std::string &path,
                             ProgramProbe probe, TextProbe readFile) {
  JobScript script;
  script.path = path;
  std::string shell = normalized(text, script);
  StringRef language = otherLanguage(shell);
  std::vector<JobProblem> ofShell;
  ShellTokens tokens = lexShell(shell, ofShell);
  std::vector<DirectiveVariable> variables =
      readDirectives(tokens.comments, script);
  if (!language.empty()) {
    script.notUnderstood.push_back({1, ("a script for " + language +
                                        ", of which only the directives are "
                                        "read: the programs that it starts")
                                           .str()});
    sortProblems(script);
    return script;
  }
  script.problems.insert(script.problems.end(), ofShell.begin(), ofShell.end());
  bool csh = isCsh(shell);
  if (csh)
    erase_if(script.problems, isOfBash);
  ShellBlocks blocks;
  if (!csh)
    blocks = findShellBlocks(tokens.tokens, script.problems);
  JobReader reader(script, std::move(tokens), std::move(blocks),
                   findBudget(shell), std::move(probe), std::move(readFile));
  if (csh)
    reader.runCsh(variables);
  else
    reader.run(variables, isLoginShell(shell));
  findMadePrograms(script);
  sortProblems(script);
  return script;
}

Expected<JobScript> mpg::readManifestJob(StringRef text,
                                         const std::string &path,
                                         const ProgramProbe &probe,
                                         const TextProbe &readFile) {
  Expected<std::vector<ManifestContainer>> containers =
      readManifest(text, path);
  if (!containers)
    return containers.takeError();
  JobScript script;
  script.path = path;
  // Nothing of one container is known in another.
  for (const ManifestContainer &container : *containers)
    JobReader(script, {}, {}, findBudget(text), probe, readFile)
        .runContainer(container);
  findMadePrograms(script);
  sortProblems(script);
  return script;
}

/// Only an administrator puts a program there.
static bool isOfSystem(StringRef path) {
  return any_of(split("/usr/ /bin/ /sbin/ /lib/ /lib64/ /opt/", ' '),
                [&](StringRef folder) { return path.starts_with(folder); });
}

static bool isElfProgram(const std::string &path) {
  bool isProgram = false;
  consumeError(
      readImages(path, [&](Image &image) { isProgram |= image.isProgram(); }));
  return isProgram;
}

namespace {

/// The probe for a script in a file: what it names is relative to the folder
/// that it is submitted from, or lies beside it.
class UserPrograms {
public:
  explicit UserPrograms(StringRef script)
      : beside(sys::path::parent_path(script).str()) {}

  OperandKind findKind(const JobLaunch &start) {
    std::string path = findPath(start);
    if (path.empty())
      return OperandKind::absent;
    auto [known, isNew] = kinds.try_emplace(path, OperandKind::other);
    SmallString<256> real;
    if (isNew && !sys::fs::real_path(path, real) && !isOfSystem(real) &&
        isElfProgram(path))
      known->second = OperandKind::program;
    return known->second;
  }

  std::optional<std::string> readText(const JobLaunch &start) const {
    constexpr uint64_t maxBytes = 1 << 20;
    std::string path = findPath(start);
    auto buffer = path.empty()
                      ? std::make_error_code(std::errc::invalid_argument)
                      : readUnmapped(path, maxBytes);
    if (!buffer || (*buffer)->getBuffer().contains('\0'))
      return std::nullopt;
    return (*buffer)->getBuffer().str();
  }

  /// PATH of an image and the folders of its system are not this machine's.
  bool isElsewhere(const JobLaunch &start) const {
    if (!StringRef(start.program.text).contains('/'))
      return true;
    std::string path = findPath(start);
    SmallString<256> real;
    return !hasUnknownName(start) &&
           (path.empty() || sys::fs::real_path(path, real) || isOfSystem(real));
  }

private:
  std::string findPath(const JobLaunch &start) const {
    std::string path = findLaunched(start, ".");
    return path.empty() && !beside.empty() ? findLaunched(start, beside) : path;
  }

  std::string beside;
  StringMap<OperandKind> kinds;
};

} // namespace

Expected<JobScript> mpg::readJobScriptFile(const std::string &path) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return createStringError(error, error.message());
  if (status.type() == sys::fs::file_type::directory_file)
    return createStringError(std::errc::is_a_directory, "it is a folder");
  auto buffer = readUnmapped(path);
  if (!buffer)
    return createStringError(buffer.getError(), readFailure(buffer.getError()));
  if ((*buffer)->getBuffer().starts_with("\x7f"
                                         "ELF"))
    return createStringError(std::errc::invalid_argument,
                             "it is a program, not a job script");
  UserPrograms programs(path);
  auto probe = [&](const JobLaunch &start) { return programs.findKind(start); };
  auto readFile = [&](const JobLaunch &start) {
    return programs.readText(start);
  };
  StringRef text = (*buffer)->getBuffer();
  if (!isManifest(text, path))
    return readJobScript(text, path, probe, readFile);
  Expected<JobScript> manifest = readManifestJob(text, path, probe, readFile);
  if (manifest)
    for (JobLaunch &start : manifest->launches)
      start.isInImage = start.image.text.empty() && programs.isElsewhere(start);
  return manifest;
}

/// \p word with the folders in front replaced that this machine has as well:
/// the one of the job, and the user's.
static std::optional<std::string> resolved(const JobWord &word,
                                           const std::string &folder) {
  if (word.known())
    return word.text;
  StringRef text = word.text;
  if (!text.consume_front(word.unknown) ||
      !(text.empty() || text.starts_with("/")))
    return std::nullopt;
  StringRef name = StringRef(word.unknown).trim("${}");
  if (name == "PWD" || isSubmitVariable(name))
    return folder + text.str();
  if (name == "HOME" || name == "~")
    if (auto home = sys::Process::GetEnv("HOME"))
      return *home + text.str();
  return std::nullopt;
}

std::string mpg::knownLibraryFolders(const JobLaunch &launch,
                                     const std::string &folder) {
  std::string list;
  for (const JobWord &entry : launch.libraryFolders)
    if (std::optional<std::string> known = resolved(entry, folder))
      if (!known->empty())
        list += (list.empty() ? "" : ":") + *known;
  return list;
}

bool mpg::hasUnknownName(const JobLaunch &launch) {
  const JobWord &program = launch.program;
  StringRef name = sys::path::filename(program.text);
  return !program.known() &&
         (StringRef(program.text).ends_with(program.unknown) ||
          name.find_first_of("$`") != StringRef::npos);
}

bool mpg::hasScriptName(const JobLaunch &launch) {
  return hasWord(".sh .bash .csh .ksh .zsh .py .pl .R .jl .rb .lua",
                 sys::path::extension(launch.program.text));
}

static std::string existing(const Twine &path) {
  SmallString<256> text;
  path.toVector(text);
  bool isFile = sys::fs::exists(text) && !sys::fs::is_directory(text);
  return isFile ? std::string(text.str()) : "";
}

/// The folder in which \p launch starts; "" for the current one.
static std::optional<std::string> startFolder(const JobLaunch &launch,
                                              const std::string &folder) {
  std::optional<std::string> at = resolved(launch.folder, folder);
  if (at && (at->empty() || !sys::path::is_absolute(*at)))
    at = folder + (folder.empty() || at->empty() ? "" : "/") + *at;
  return at;
}

/// An entry "." or "$PWD/bin" of PATH as a folder that is here; "" if none.
static std::string jobsFolder(StringRef entry, const JobLaunch &launch,
                              const std::string &folder) {
  std::optional<std::string> found;
  if (entry.starts_with("$"))
    found = resolved(
        {entry.str(), entry.take_until([](char c) { return c == '/'; }).str()},
        folder);
  else if (entry == "." || entry.starts_with("./"))
    if ((found = startFolder(launch, folder)))
      *found += (found->empty() ? "" : "/") + entry.str();
  return found && sys::fs::is_directory(*found) ? *found : "";
}

static std::string findInPath(const JobLaunch &launch, StringRef name,
                              const std::string &folder) {
  const Variable *path = launch.launch.environment.find("PATH");
  SmallVector<StringRef, 16> folders, known;
  std::vector<std::string> own;
  if (path)
    StringRef(path->value).split(folders, ':');
  own.reserve(folders.size()); // known points into it
  // The other entries are the job's; what is found in these comes first.
  for (StringRef entry : folders) {
    if (entry.starts_with("/") && !entry.contains('$'))
      known.push_back(entry);
    else if (own.push_back(jobsFolder(entry, launch, folder));
             !own.back().empty())
      known.push_back(own.back());
  }
  // A folder that only the job's machine has may hold one that comes first.
  auto *absent = find_if_not(
      known, [](StringRef folder) { return sys::fs::is_directory(folder); });
  bool anotherMachine = absent != known.end();
  known.erase(absent, known.end());
  if (known.empty() && anotherMachine)
    return "";
  auto found = known.empty() ? sys::findProgramByName(name)
                             : sys::findProgramByName(name, known);
  if (!found && path && !path->known && !anotherMachine)
    found = sys::findProgramByName(name);
  return found ? *found : "";
}

std::string mpg::findLaunched(const JobLaunch &launch,
                              const std::string &folder) {
  std::optional<std::string> program = resolved(launch.program, folder);
  if (!program || program->empty())
    return "";
  if (!StringRef(*program).contains('/'))
    return findInPath(launch, *program, folder);
  if (sys::path::is_absolute(*program))
    return existing(*program);
  std::optional<std::string> at = startFolder(launch, folder);
  if (!at)
    return "";
  StringRef plain = sys::path::remove_leading_dotslash(*program);
  return existing(at->empty() ? plain.str() : *at + "/" + plain);
}
