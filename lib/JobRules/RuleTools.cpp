// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of a script. MPG228, MPG229 and MPG236: what stands between a
// program and libmpg's heap, and programs that get libmpg although they were
// not meant. MPG235: compile lines whose flags do not go together. MPG233: what
// a script still has from the K computer and its kin.

#include "Audit/ClosureFacts.h"
#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

static bool isHelgrind(const JobCommand &launcher) {
  ArrayRef<JobWord> words = launcher.words;
  if (words.empty())
    return false;
  if (baseName(words[0].text) == "helgrind")
    return true;
  if (baseName(words[0].text) != "valgrind")
    return false;
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i].text == "--tool=helgrind" ||
        (words[i].text == "--tool" && i + 1 < words.size() &&
         words[i + 1].text == "helgrind"))
      return true;
  return false;
}

void mpg::checkHelgrind(JobContext &job) {
  if (!job.wants(FindingId::mpg228))
    return;
  for (const JobLaunch *launch : job.launches) {
    if (!any_of(launch->launchers, isHelgrind) || !job.largePages(*launch) ||
        !job.mayLoadLibmpg(*launch))
      continue;
    Finding &finding =
        job.add(FindingId::mpg228, launch->line, launch->conditional,
                "helgrind does not go with libmpg");
    finding.where.symbol = "helgrind";
    finding.evidence = launchText(*launch);
    // The program alone sees it.
    finding.setFix(
        writeInstead("env XOS_MMM_L_HPAGE_TYPE=none " + launchText(*launch)));
  }
}

StringRef mpg::findAllocator(StringRef preload) {
  for (StringRef file : splitPreload(preload)) {
    StringRef base = baseName(file);
    if (isLibmpgName(base)) // the first one has it
      break;
    if (isAllocatorName(base) || base.starts_with("libhoard") ||
        base.starts_with("librpmalloc") || base.starts_with("libsnmalloc"))
      return base;
  }
  return "";
}

static void checkAllocator(JobContext &job, const JobLaunch &launch,
                           const Variable &preload) {
  StringRef allocator = findAllocator(preload.value);
  const FileReport *report = job.findReport(launch);
  if (allocator.empty() || launch.launch.underMpgrun ||
      !job.largePages(launch) || !job.mayLoadLibmpg(launch) ||
      (report && report->has(FindingId::mpg113))) // it says so itself
    return;
  const JobSetting *setting = job.settingAt("LD_PRELOAD", preload.line);
  Finding &finding =
      job.add(FindingId::mpg229, preload.line ? preload.line : launch.line,
              setting && setting->conditional,
              allocator + " takes malloc from libmpg, and large pages are on");
  finding.where.symbol = allocator.str();
  finding.evidence = preload.line
                         ? job.settingText("LD_PRELOAD", preload.line)
                         : "LD_PRELOAD is set for " + launchText(launch);
}

static bool isPreloadForAll(const JobSetting &setting) {
  return setting.name == "LD_PRELOAD" && setting.how == "export" &&
         StringRef(setting.value.text).contains("libmpg.so.1");
}

/// Fujitsu's libmpg in front of every command: each one that is position
/// independent, and all of the system's are, complains.
static void checkEverywhere(JobContext &job, const JobSetting &setting) {
  auto isTool = [&](const JobCommand &command) {
    return command.line > setting.line && !command.words.empty() &&
           !hasWord("export unset cd echo module ulimit source . set exit wait",
                    command.words[0].text);
  };
  Finding *finding = nullptr;
  for (const JobCommand &command : job.script.commands)
    if (isTool(command)) {
      finding = &job.add(FindingId::mpg236, setting.line, setting.conditional,
                         "LD_PRELOAD gives libmpg to every command of the "
                         "script, " +
                             baseName(command.words[0].text) + " for one");
      break;
    }
  if (!finding)
    return;
  finding->sub = "preload";
  finding->where.symbol = "LD_PRELOAD";
  JobSetting option = setting;
  option.how = "mpiexec -x";
  finding->evidence = shortened(writeSetting(setting, setting.name));
  finding->setFix("Set it for the program alone, in front of it or, with an "
                  "MPI launcher, as its option:\n  mpiexec " +
                  writeSetting(option, option.name) + " PROGRAM");
}

/// A tool of the system that loads libmpg through its libraries.
static void checkSystemProgram(JobContext &job, const JobLaunch &launch) {
  const FileReport *report = job.findReport(launch);
  if (!report || job.target != Target::fugaku)
    return;
  StringRef path = report->path;
  bool ofSystem = path.starts_with("/usr/bin/") || path.starts_with("/bin/");
  if (!ofSystem || !report->has(FindingId::mpg102) || !report->closure ||
      !job.mayLoadLibmpg(launch))
    return;
  Finding &finding =
      job.add(FindingId::mpg236, launch.line, launch.conditional,
              path + " is position independent and loads libmpg: it prints "
                     "LPG 2002");
  finding.sub = "system-tool";
  finding.where.symbol = path.str();
  finding.evidence = launchText(launch);
  finding.setFix("If the message disturbs, let the tool find the system's "
                 "libraries first:\n  env LD_LIBRARY_PATH=/lib64:"
                 "$LD_LIBRARY_PATH " +
                 launchText(launch));
}

void mpg::checkPreloads(JobContext &job) {
  for (const JobLaunch *launch : job.launches) {
    const Variable *preload = launch->launch.environment.find("LD_PRELOAD");
    if (preload && job.wants(FindingId::mpg229))
      checkAllocator(job, *launch, *preload);
    if (job.wants(FindingId::mpg236))
      checkSystemProgram(job, *launch);
  }
  if (!job.wants(FindingId::mpg236) || job.target != Target::fugaku)
    return;
  // The first one tells: after the others are fewer commands.
  for (const JobSetting &setting : job.script.settings)
    if (isPreloadForAll(setting))
      return checkEverywhere(job, setting);
}

namespace {
enum class Compiler : uint8_t { none, fujitsu, other };
} // namespace

static Compiler parseCompiler(StringRef name) {
  name.consume_front("mpi");
  name.consume_back("px"); // the cross compilers of the login nodes
  if (is_contained({"fcc", "FCC", "frt"}, name))
    return Compiler::fujitsu;
  for (StringRef prefix :
       {"gcc", "g++", "gfortran", "clang", "flang", "armclang"})
    if (name == prefix || name.starts_with((prefix + "-").str()) ||
        name.ends_with(("-" + prefix).str()))
      return Compiler::other;
  return Compiler::none;
}

/// The first word of \p command that satisfies \p matches; null if none does.
static const JobWord *findWord(const JobCommand &command,
                               function_ref<bool(StringRef)> matches) {
  for (const JobWord &word : command.words)
    if (matches(word.text))
      return &word;
  return nullptr;
}

static bool has(const JobCommand &command, StringRef flag) {
  return findWord(command, [&](StringRef word) { return word == flag; });
}

/// "-Kfast,ocl,hpctag": its parts stand between commas.
static bool hasKOption(StringRef word, StringRef part) {
  return word.consume_front("-K") && is_contained(split(word, ','), part);
}

static Finding &report(JobContext &job, const JobCommand &command,
                       const char *sub, StringRef symbol, const Twine &title) {
  Finding &finding =
      job.add(FindingId::mpg235, command.line, command.conditional, title);
  finding.sub = sub;
  finding.where.symbol = symbol.str();
  finding.evidence = commandText(command.words);
  return finding;
}

/// The last of -Klargepage and -Knolargepage counts.
static void checkLargePageOption(JobContext &job, const JobCommand &command) {
  StringRef last;
  for (const JobWord &word : command.words)
    for (StringRef option : {"largepage", "nolargepage"})
      if (hasKOption(word.text, option))
        last = option;
  // Libraries are meant to be built so.
  if (last != "nolargepage" || has(command, "-c") || has(command, "-shared"))
    return;
  Finding &finding =
      report(job, command, "nolargepage", "-Knolargepage",
             "-Knolargepage: the program is linked without large pages");
  bool expected = any_of(job.script.settings, [](const JobSetting &setting) {
    return StringRef(setting.name).starts_with("XOS_MMM_L_");
  });
  if (!expected)
    finding.severity = Severity::note;
  finding.setFix("Take it out: -Klargepage is the default.");
}

/// A library in front of -lmpg serves malloc and pthread_create.
static void checkLibraryOrder(JobContext &job, const JobCommand &command) {
  StringRef before;
  for (const JobWord &word : command.words) {
    StringRef text = word.text;
    if (text == "-lc" || text == "-lpthread")
      before = before.empty() ? text : before;
    if (text != "-lmpg" && text != "-lmpgrt")
      continue;
    if (!before.empty())
      report(job, command, "order", text,
             before + " is in front of " + text +
                 ": malloc comes from the C library")
          .setFix(("Write " + text + " in front of -lc and -lpthread.").str());
    return;
  }
}

/// Clang mode has other names for two options of the traditional mode.
static void checkMode(JobContext &job, const JobCommand &command) {
  const JobWord *word = findWord(command, [](StringRef text) {
    return hasKOption(text, "hpctag") || hasKOption(text, "ocl");
  });
  if (!word || !has(command, "-Nclang"))
    return;
  bool tags = hasKOption(word->text, "hpctag");
  StringRef option = tags ? "-Khpctag" : "-Kocl";
  report(job, command, "mode", option,
         option + " is an option of the traditional mode, and -Nclang is "
                  "beside it")
      .setFix(tags ? "With -Nclang write -ffj-hpctag instead of -Khpctag. The "
                     "directives of the sector cache need the traditional "
                     "mode: -Nnoclang."
                   : "Take -Nclang out: -Nnoclang reads the directives.");
}

static void checkLibmpg(JobContext &job, const JobCommand &command,
                        Compiler compiler) {
  auto isScript = [](StringRef text) { return text.contains("bss-2mb.lds"); };
  bool linksLibmpg = has(command, "-lmpg") || findWord(command, isScript);
  // FORT90L=-Wl,-T is an option at run time, not a word here.
  if (!linksLibmpg || has(command, "-c"))
    return;
  if (has(command, "-static")) {
    report(job, command, "static", "-static",
           "-static and libmpg: the library is a shared one")
        .setFix("Take -static out.");
    return;
  }
  if (compiler == Compiler::other && !has(command, "-no-pie") &&
      !has(command, "-shared"))
    report(job, command, "pie", "-no-pie",
           "the program is linked with libmpg and without -no-pie")
        .setFix("Add -no-pie: most compilers make position independent "
                "programs by default, which libmpg leaves alone (LPG 2002).");
}

void mpg::checkCompileLines(JobContext &job) {
  if (!job.wants(FindingId::mpg235))
    return;
  for (const JobCommand &command : job.script.commands) {
    if (command.words.empty())
      continue;
    Compiler compiler = parseCompiler(baseName(command.words[0].text));
    if (compiler == Compiler::none)
      continue;
    if (compiler == Compiler::fujitsu)
      checkMode(job, command);
    if (compiler == Compiler::fujitsu)
      checkLargePageOption(job, command);
    checkLibraryOrder(job, command);
    checkLibmpg(job, command, compiler);
  }
}

namespace {
struct Leftover {
  unsigned line;
  std::string what;
};
} // namespace

static std::vector<Leftover> findLeftovers(const JobScript &script) {
  std::vector<Leftover> found;
  for (const JobDirective &directive : script.directives)
    if (directive.scheduler == Scheduler::pjm &&
        StringRef(directive.option).starts_with("--stg")) // for K's file system
      found.push_back({directive.line, "#PJM " + directive.option});
  for (const JobCommand &command : script.commands)
    for (const JobWord &word : command.words) {
      if (baseName(word.text) == "lpgparm")
        found.push_back({command.line, "lpgparm"});
      else if (StringRef(word.text).starts_with("/work/system/Env_base"))
        found.push_back({command.line, word.text});
    }
  sortBy(found, &Leftover::line);
  return found;
}

void mpg::checkLeftovers(JobContext &job) {
  if (!job.wants(FindingId::mpg233))
    return;
  std::vector<Leftover> found = findLeftovers(job.script);
  if (found.empty())
    return;
  bool pages = any_of(found, [](const Leftover &leftover) {
    return leftover.what == "lpgparm";
  });
  Finding &finding = job.add(
      FindingId::mpg233, found[0].line,
      pages ? "lpgparm chose page sizes on K, FX10 and FX100; on A64FX libmpg "
              "and its variables do"
            : found[0].what + " is from the K computer and does nothing here");
  finding.where.symbol = found[0].what;
  constexpr size_t shown = 6;
  for (size_t i = 0; i < std::min(found.size(), shown); ++i)
    finding.evidence += (i ? "; line " : "line ") +
                        std::to_string(found[i].line) + ": " + found[i].what;
  if (found.size() > shown)
    finding.evidence +=
        "; and " + std::to_string(found.size() - shown) + " more";
  finding.evidence = shortened(finding.evidence);
}
