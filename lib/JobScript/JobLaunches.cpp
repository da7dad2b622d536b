// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that a command starts, with the environment they get. Also those
// that the script builds or copies into place before it starts them: a file
// that is there now belongs to the job before. make and similar tools may build
// anything: every program that is named with a folder in front, outside of
// folders where only administrators write.

#include "JobScript/JobReader.h"
#include "JobScript/JobScript.h"
#include "JobScript/Launchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// Names of common tools
//===----------------------------------------------------------------------===//
//
// Commands that are not programs of the job. A missing name does little harm: a
// name without a slash and without a launcher does not count as a program of
// the job either.

// Sorted: searched by halves.
static constexpr StringLiteral commonTools[] = {
    ".",          ":",          "FCC",
    "FCCpx",      "[",          "addr2line",
    "alias",      "ar",         "arch",
    "armclang",   "armflang",   "autoconf",
    "awk",        "b2sum",      "base64",
    "basename",   "bc",         "bg",
    "bind",       "bjobs",      "break",
    "bsub",       "builtin",    "bzip2",
    "c++",        "caller",     "cat",
    "cc",         "cd",         "chgrp",
    "chmod",      "chown",      "cksum",
    "clang",      "clang++",    "clear",
    "cmake",      "cmp",        "column",
    "comm",       "command",    "compgen",
    "complete",   "conda",      "configure",
    "continue",   "cp",         "cpio",
    "csplit",     "ctest",      "curl",
    "cut",        "date",       "dd",
    "declare",    "df",         "diff",
    "dirname",    "dirs",       "disown",
    "dmesg",      "du",         "echo",
    "egrep",      "emacs",      "enable",
    "env",        "eval",       "exec",
    "exit",       "expand",     "export",
    "expr",       "false",      "fc",
    "fcc",        "fccpx",      "fg",
    "fgrep",      "find",       "flang",
    "fold",       "free",       "frt",
    "frtpx",      "g++",        "gawk",
    "gcc",        "getconf",    "getopts",
    "gfortran",   "git",        "gmake",
    "gnuplot",    "grep",       "groups",
    "gunzip",     "gzip",       "hash",
    "head",       "help",       "history",
    "host",       "hostid",     "hostname",
    "icc",        "icpc",       "icpx",
    "icx",        "id",         "ifconfig",
    "ifort",      "ifx",        "install",
    "ip",         "jobs",       "join",
    "kill",       "killall",    "ld",
    "ldd",        "less",       "let",
    "lfs",        "link",       "llio_transfer",
    "ln",         "local",      "locale",
    "logger",     "logname",    "logout",
    "lpgparm",    "ls",         "lscpu",
    "lsof",       "m4",         "make",
    "mamba",      "mapfile",    "md5sum",
    "micromamba", "mkdir",      "mkfifo",
    "mktemp",     "ml",         "module",
    "more",       "mount",      "mpiFCC",
    "mpiFCCpx",   "mpic++",     "mpicc",
    "mpicxx",     "mpif77",     "mpif90",
    "mpifcc",     "mpifccpx",   "mpifort",
    "mpifrt",     "mpifrtpx",   "mv",
    "nano",       "ninja",      "nl",
    "nm",         "nproc",      "numastat",
    "nvc",        "nvc++",      "nvfortran",
    "nvidia-smi", "objdump",    "od",
    "paste",      "patch",      "pgrep",
    "pip",        "pip3",       "pjacl",
    "pjdel",      "pjhold",     "pjstat",
    "pjsub",      "pkill",      "popd",
    "pr",         "printenv",   "printf",
    "ps",         "pushd",      "pwd",
    "qalter",     "qdel",       "qstat",
    "qsub",       "read",       "readarray",
    "readelf",    "readlink",   "readonly",
    "realpath",   "reset",      "return",
    "rm",         "rmdir",      "rsync",
    "sacct",      "salloc",     "sbatch",
    "sbcast",     "scancel",    "scontrol",
    "scp",        "screen",     "sed",
    "seq",        "set",        "sftp",
    "sha1sum",    "sha256sum",  "shift",
    "shopt",      "shred",      "shuf",
    "sinfo",      "sleep",      "sort",
    "source",     "spack",      "split",
    "sqlite3",    "squeue",     "ssh",
    "sstat",      "stat",       "strings",
    "strip",      "stty",       "sum",
    "suspend",    "sync",       "sysctl",
    "tac",        "tail",       "tar",
    "tee",        "test",       "times",
    "tmux",       "top",        "touch",
    "tput",       "tr",         "trap",
    "true",       "truncate",   "tsort",
    "tty",        "type",       "typeset",
    "ulimit",     "umask",      "unalias",
    "uname",      "unexpand",   "uniq",
    "unlink",     "unset",      "unzip",
    "uptime",     "users",      "vi",
    "vim",        "virtualenv", "vmstat",
    "w",          "wait",       "watch",
    "wc",         "wget",       "which",
    "who",        "whoami",     "xargs",
    "xospastart", "xospastop",  "xz",
    "yes",        "zcat",       "zip",
    "zstd",
};

static constexpr StringLiteral interpreters[] = {
    "R",       "Rscript", "bash",   "csh",    "dash", "java", "julia", "ksh",
    "lua",     "node",    "nodejs", "octave", "perl", "php",  "pypy3", "python",
    "python2", "python3", "ruby",   "sh",     "tcsh", "zsh"};

bool mpg::isCommonTool(StringRef name) {
  return binary_search(commonTools, name);
}

bool mpg::isInterpreter(StringRef name) {
  // python3.11
  if (name.starts_with("python3."))
    return true;
  return is_contained(interpreters, name);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

/// Files that the commands so far have made.
struct MadeFiles {
  unsigned anyLine = 0; ///< of make and similar tools
  StringMap<unsigned> byName;

  void add(StringRef path, unsigned line) {
    byName.try_emplace(sys::path::filename(path), line);
  }
};

} // namespace

/// "gfortran-12" and "mpif90" as well as "cc".
static bool isCompiler(StringRef name) {
  static constexpr StringLiteral names[] = {
      "cc",    "CC",      "ftn",   "gcc",   "g++",   "c++",   "gfortran",
      "icc",   "icpc",    "ifort", "icx",   "icpx",  "ifx",   "clang",
      "flang", "clang++", "nvc",   "nvc++", "nvcc",  "hipcc", "nvfortran",
      "fcc",   "FCC",     "frt",   "fccpx", "FCCpx", "frtpx", "armclang"};
  name = name.take_until([](char c) { return c == '-'; });
  return is_contained(names, name) ||
         (name.starts_with("mpi") && name.size() > 4 &&
          (name.ends_with("cc") || name.ends_with("CC") ||
           name.ends_with("cxx") || name.ends_with("c++") ||
           name.ends_with("77") || name.ends_with("90") ||
           name.ends_with("fort") || name.ends_with("frt") ||
           name.ends_with("cpx") || name.ends_with("icx") ||
           name.ends_with("ifx")));
}

static bool isFlag(const JobWord &word, StringRef flag) {
  return word.text == flag;
}

/// make, but not "make clean".
static bool buildsAnything(StringRef name, ArrayRef<JobWord> words) {
  auto has = [&](StringRef word) {
    return any_of(words, [&](const JobWord &w) { return isFlag(w, word); });
  };
  if (name == "make" || name == "gmake" || name == "ninja")
    return !(words.size() > 1 &&
             StringRef(words.back().text).contains("clean"));
  if (name == "cmake")
    return has("--build") || has("--install");
  if (name == "cargo" || name == "meson" || name == "go" || name == "bazel")
    return has("build") || has("compile") || has("install");
  return name == "scons" || name == "waf" || name == "fpm";
}

static void addCompiled(ArrayRef<JobWord> words, unsigned line,
                        MadeFiles &made) {
  if (any_of(words, [](const JobWord &w) { return isFlag(w, "-c"); }))
    return;
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef text = words[i].text;
    if (text == "-o" && i + 1 < words.size())
      return made.add(words[i + 1].text, line);
    if (text.starts_with("-o") && text.size() > 2)
      return made.add(text.drop_front(2), line);
  }
  if (words.size() > 1)
    made.add("a.out", line);
}

/// "cp /a/app .", "mv app.new app": either name may be the program's.
static void addCopied(ArrayRef<JobWord> words, unsigned line, MadeFiles &made) {
  for (const JobWord &word : words.drop_front())
    if (!StringRef(word.text).starts_with("-"))
      made.add(word.text, line);
}

static void addMade(const JobCommand &command, MadeFiles &made) {
  ArrayRef<JobWord> words = command.words;
  while (!words.empty() && StringRef(words[0].text).contains('=') &&
         !StringRef(words[0].text).contains('/'))
    words = words.drop_front(); // "CC=gcc make"
  if (words.empty() || !words[0].known())
    return;
  StringRef name = sys::path::filename(words[0].text);
  if (buildsAnything(name, words)) {
    if (!made.anyLine)
      made.anyLine = command.line;
  } else if (isCompiler(name)) {
    addCompiled(words, command.line, made);
  } else if (name == "cp" || name == "mv" || name == "ln" ||
             name == "install" || name == "rsync" || name == "scp") {
    addCopied(words, command.line, made);
  }
}

/// Only an administrator puts a program there.
static bool isInstalled(StringRef path) {
  static constexpr StringLiteral folders[] = {"/usr/", "/bin/", "/sbin/",
                                              "/opt/"};
  return any_of(folders,
                [&](StringRef folder) { return path.starts_with(folder); });
}

void mpg::findMadePrograms(JobScript &script) {
  MadeFiles made;
  size_t next = 0;
  // Commands of functions are listed where they are called, so both lists are
  // in the order of the run; a launch is one of the commands, too.
  for (JobLaunch &launch : script.launches) {
    for (; next < script.commands.size() && next < launch.commandsBefore;
         ++next)
      addMade(script.commands[next], made);
    StringRef path = launch.program.text;
    if (auto at = made.byName.find(sys::path::filename(path));
        at != made.byName.end() && !isInstalled(path))
      launch.madeLine = at->second;
    else if (path.contains('/') && !isInstalled(path))
      launch.madeLine = made.anyLine;
  }
}

static Variable parseVariable(const JobWord &value, unsigned line) {
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

/// Applies the launchers' changes of it.
void JobReader::changeEnvironment(const LaunchParts &parts, JobLaunch &launch) {
  Environment &environment = launch.launch.environment;
  for (const LaunchVariable &change : parts.variables) {
    switch (change.change) {
    case LaunchVariable::set:
      environment.set(change.name, parseVariable(change.value, launch.line));
      addSetting(change.name, change.value, launch.line, change.how);
      break;
    case LaunchVariable::exported:
      if (const ShellVariable *variable = variables.find(change.name))
        if (variable->set)
          environment.set(change.name, parseVariable(variable->value.word(),
                                                     variable->line));
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
static std::optional<unsigned> readThreads(const Environment &environment) {
  StringRef value = environment.getValue("OMP_NUM_THREADS").trim();
  unsigned threads;
  if (value.split(',').first.getAsInteger(10, threads) || !threads)
    return std::nullopt;
  return threads;
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

/// A program that a text in any language names; "": none of the user's.
std::string JobReader::findProgramIn(StringRef text) const {
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

/// Notes a program in \p text, which \p reader reads and this reader cannot
/// follow: "system('./app')".
bool JobReader::noteProgramIn(StringRef text, unsigned line, StringRef reader) {
  std::string program = findProgramIn(text);
  if (program.empty() || program == text)
    return false;
  notUnderstood(line, program + ", which a text for " + reader + " names");
  return true;
}

/// A shell or an interpreter reads a file that is not a program. A shell's file
/// starts programs, most of the time.
void JobReader::noteInterpreter(const Command &command,
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
    notUnderstood(launch.line, what + ", which " + name +
                                   " reads: the programs that it starts");
  else
    problem(launch.line,
            "not read: " + what + "; " + name + " is taken for the program");
}

void JobReader::noteBareName(const Command &command, const LaunchParts &parts) {
  if (!parts.program || !parts.program->known() ||
      !parts.notUnderstood.empty() || script.bareNames.size() >= maxPlaces)
    return;
  const std::string &name = parts.program->text;
  if (!name.empty() &&
      all_of(
          name,
          [](char c) { return isAlnum(c) || StringRef("_.+-").contains(c); }) &&
      !isCommonTool(name))
    script.bareNames.push_back({command.line, name});
}

/// The submitted script is another job, and is audited as such.
void JobReader::noteSubmitted(const Command &command) {
  std::string name = sys::path::filename(command.name()).str();
  static constexpr StringLiteral submitters[] = {"sbatch", "pjsub", "qsub",
                                                 "oarsub"};
  if (!is_contained(submitters, name))
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
  problem(
      command.line,
      "not read: the job that " + name + " submits" +
          (script->text == command.words[0].text ? "" : ", " + script->text));
}

/// "x=$(python3 -c TEXT)": it computes a value for the script.
bool JobReader::isHelper(const LaunchParts &parts) const {
  if (!substitutions || !parts.launchers.empty() || !parts.program)
    return false;
  StringRef name = sys::path::filename(parts.program->text);
  return isInterpreter(name) && !isShell(name) && !parts.arguments.empty() &&
         StringRef(parts.arguments[0].text).starts_with("-");
}

void JobReader::addLaunches(const Command &command) {
  noteSubmitted(command);
  std::vector<JobWord> words = prefix;
  words.insert(words.end(), command.words.begin(), command.words.end());
  for (LaunchParts &parts : findLaunches(words)) {
    readShellTexts(parts, words, command.line);
    // "exec program" does not come back.
    if (command.name() == "exec" && parts.program && !isConditional())
      ended = true;
    if (!parts.notUnderstood.empty())
      notUnderstood(command.line, parts.notUnderstood);
    if (isHelper(parts) || readDocument(command, parts, words) ||
        readShellFile(command, parts, words))
      continue;
    addOperands(command, parts);
    if (parts.isLaunched)
      addLaunch(command, parts);
    else
      noteBareName(command, parts);
  }
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
OperandKind JobReader::findKind(JobLaunch &start) const {
  if (!StringRef(start.program.text).contains('/'))
    start.program.text.insert(0, "./");
  if (const ShellVariable *folder = variables.find(folderName))
    start.folder = folder->value.word();
  return probe ? probe(start) : OperandKind::absent;
}

bool JobReader::namesProgram(const JobWord &word) const {
  JobLaunch start;
  start.program = word;
  return looksLikeProgram(word) || findKind(start) == OperandKind::program;
}

/// Operands of a command that may start them: a program of the user among them
/// is taken for one that may run.
void JobReader::addOperands(const Command &command, const LaunchParts &parts) {
  constexpr size_t maxOperands = 64;
  StringRef name = parts.program ? sys::path::filename(parts.program->text)
                                 : StringRef(command.words[0].text);
  bool startsNone =
      isCommonTool(name) || name.starts_with("((") || name.starts_with("[[");
  if (startsNone && parts.notUnderstood.empty()) {
    static constexpr StringLiteral readers[] = {"awk", "gawk", "mawk", "nawk",
                                                "alias"};
    if (is_contained(readers, name))
      for (const JobWord &word : parts.arguments)
        noteProgramIn(word.text, command.line, name);
    return;
  }
  bool found = false;
  const JobWord *missing = nullptr;
  for (const JobWord &word :
       ArrayRef(parts.arguments).take_front(maxOperands)) {
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
    addLaunch(command, operand);
  }
  if (missing && !found && !parts.isLaunched && parts.notUnderstood.empty() &&
      parts.shellTexts.empty() && parts.program)
    notUnderstood(command.line, name + ", which may start " + missing->text);
}

void JobReader::addLaunch(const Command &command, LaunchParts &parts) {
  JobLaunch launch;
  launch.line = command.line;
  launch.conditional = isConditional() || parts.isOperand;
  launch.isOperand = parts.isOperand;
  launch.commandsBefore = script.commands.size();
  if (!copyEnvironment(command, launch))
    return;
  launch.program = std::move(*parts.program);
  launch.arguments = std::move(parts.arguments);
  launch.image = std::move(parts.image);
  if (launch.image.text.empty())
    launch.image.text = script.image;
  launch.writtenIn = writtenIn;
  size_t wordsBefore = 0;
  for (std::vector<JobWord> &words : parts.launchers) {
    launch.outerLaunchers += wordsBefore < outerWords;
    wordsBefore += words.size();
    launch.launchers.push_back(
        {std::move(words), command.line, launch.conditional});
  }
  changeEnvironment(parts, launch);
  if (const ShellVariable *folder = variables.find(folderName))
    launch.folder = folder->value.word();
  const ShellVariable *folders = variables.find("LD_LIBRARY_PATH");
  if (folders && folders->set && !folders->value.known())
    launch.libraryFolders = folders->value.split(':');
  setUnknownFrom(launch.launch);
  launch.launch.uncertain = launch.conditional;
  launch.launch.underMpgrun = parts.underMpgrun;
  launch.launch.threads = readThreads(launch.launch.environment);
  launch.launch.ranksPerNode = findRanksPerNode(parts, script);
  launch.launch.stackBytes = stackBytes();
  if (!launch.isOperand)
    noteInterpreter(command, launch);
  script.launches.push_back(std::move(launch));
}
