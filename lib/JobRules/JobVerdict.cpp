// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobRules.h. Audit/PageMeans.h finds what the means of a program bring;
// this turns it into a sentence and a line to write.

#include "Audit/ClosureFacts.h"
#include "JobRules/JobRules.h"
#include "JobRules/RuleContext.h"
#include "JobScript/Launchers.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

// The line to write

static std::string quoted(const JobWord &word) {
  return word.known() ? shellWord(word.text) : word.text;
}

static void addWords(ArrayRef<JobWord> words, std::string &line) {
  for (const JobWord &word : words)
    line += (line.empty() ? "" : " ") + quoted(word);
}

static StringRef launcherName(const JobCommand &launcher) {
  return launcher.words.empty() ? "" : baseName(launcher.words[0].text);
}

static bool hasLauncher(const JobLaunch &start, StringRef name) {
  return any_of(start.launchers, [&](const JobCommand &launcher) {
    return launcherName(launcher) == name;
  });
}

/// Whether the program that is started only starts workers, which need
/// mpgrun --children: other programs start threads, or copies by fork.
static bool startsWorkers(const JobLaunch &start) {
  static constexpr StringLiteral names =
      "accelerate colossalai composer dask dask-worker deepspeed horovodrun "
      "ray torchrun";
  static constexpr StringLiteral modules =
      "accelerate.commands.launch deepspeed.launcher.runner "
      "torch.distributed.launch torch.distributed.run";
  return hasWord(names, baseName(start.program.text)) ||
         any_of(start.arguments, [](const JobWord &word) {
           return hasWord(modules, word.text);
         });
}

/// Whether mpgrun serves the program, but not the workers that it starts.
static bool missesWorkers(const JobLaunch &start) {
  return start.launch.underMpgrun && startsWorkers(start) &&
         none_of(start.launchers, [](const JobCommand &launcher) {
           return any_of(launcher.words, [](const JobWord &word) {
             return word.text == "--children";
           });
         });
}

/// The start with mpgrun in front of the program, unless no library can be
/// loaded into it, and with what helps memory that malloc does not serve. None
/// with valgrind, which does not follow mpgrun to the program.
static std::string writeLine(const JobLaunch &start, const MemoryUse &memory,
                             bool hasNoLoader = false) {
  if (hasLauncher(start, "valgrind"))
    return "";
  StringRef setting = memory.setting(), option = memory.option();
  std::string line;
  for (const JobCommand &launcher :
       ArrayRef(start.launchers).drop_front(start.outerLaunchers))
    if (!is_contained({"mpgrun", "hugectl"}, launcherName(launcher)))
      addWords(launcher.words, line);
  std::string before = line.empty() ? "" : " ";
  if (!setting.empty())
    before += "env " + setting.str() + " ";
  line += before +
          (hasNoLoader            ? ""
           : startsWorkers(start) ? "mpgrun --children "
                                  : "mpgrun ") +
          quoted(start.program);
  if (!option.empty())
    line += " " + option.str();
  addWords(start.arguments, line);
  return shortened(line, copiedBytes);
}

// One program

/// mpgrun may be there, and mean another program.
static std::string nothingLoads(const JobLaunch &start) {
  return hasLauncher(start, "mpgrun")
             ? "mpgrun serves the command next to it, and no program that this "
               "starts"
             : "nothing in the job loads a large page library";
}

/// The row of MemoryOwners.def for a program that is known by its name alone.
static const MemoryOwner *ownerByName(StringRef program) {
  StringRef name = baseName(program).rtrim("0123456789.");
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"python", "python"}, {"ipython", "python"}, {"java", "jvm"},
      {"julia", "julia"},   {"node", "v8"},        {"nodejs", "v8"},
      {"ruby", "ruby"},     {"php", "php"},        {"luajit", "luajit"},
      {"mono", "mono"},     {"sbcl", "sbcl"},      {"swipl", "swipl"}};
  for (auto [word, id] : names)
    if (name == word)
      for (const MemoryOwner &owner : allMemoryOwners())
        if (owner.id == id)
          return &owner;
  return nullptr;
}

static constexpr StringLiteral vendorName = "Fujitsu's libmpg";

/// The libmpg that LD_PRELOAD has; "" if it has none.
static std::string preloadedLibmpg(const Launch &launch) {
  for (StringRef file : splitPreload(launch.environment.getValue("LD_PRELOAD")))
    if (isLibmpgName(baseName(file)))
      return baseName(file).str();
  return "";
}

/// Its file is not here, or is a script: the launch alone decides. Fujitsu's
/// compilers link their library into every program.
static void judgeUnknown(const JobLaunch &start, bool isForVendor,
                         ProgramVerdict &verdict) {
  const Launch &launch = start.launch;
  const MemoryOwner *owner = ownerByName(start.program.text);
  MemoryUse memory;
  memory.owner = owner;
  if (owner) {
    verdict.mapped = memory.what();
    verdict.means.mapped = PageAnswer::no;
    StringRef name = owner->setting.split('=').first;
    memory.isHelped = (!name.empty() && launch.environment.find(name)) ||
                      !launch.memoryOption.empty();
  }
  bool isOff =
      !wantsLargePages(launch, isForVendor ? Target::fugaku : Target::mpg);
  bool isDisplaced =
      !launch.underMpgrun &&
      !findAllocator(launch.environment.getValue("LD_PRELOAD")).empty();
  PageAnswer heap = isDisplaced ? PageAnswer::no : PageAnswer::all;
  if (isOff) {
    verdict.means.obstacle = "the job switches large pages off";
  } else if (isForVendor) {
    verdict.means.name = vendorName.str();
    verdict.means.data = verdict.means.stacks = PageAnswer::all;
    verdict.means.heap = heap;
    return;
  } else {
    verdict.means.name =
        launch.underMpgrun ? "mpgrun" : preloadedLibmpg(launch);
  }
  if (!verdict.means.name.empty()) {
    verdict.means.heap = heap;
    verdict.means.stacks = PageAnswer::all;
    if (memory.isHelped)
      verdict.means.mapped = PageAnswer::some;
  }
  bool more = verdict.means.name.empty() || !memory.help().empty() ||
              missesWorkers(start);
  if (!isOff && more)
    verdict.write = writeLine(start, memory);
}

/// Programs for Fujitsu's machines get their library from the link.
static bool isForVendor(const FileReport &report) {
  return report.target == Target::fugaku;
}

/// A launcher whose own memory does not matter.
static void judgeReplaced(const JobLaunch &start, const MemoryUse &memory,
                          ProgramVerdict &verdict) {
  verdict.known = false;
  verdict.means = PageMeans();
  for (PageAnswer *answer : {&verdict.means.data, &verdict.means.heap,
                             &verdict.means.stacks, &verdict.means.mapped})
    *answer = PageAnswer::unknown;
  verdict.because = ("with " + memory.replacedBy +
                     "() it may start another program in its place, which was "
                     "not looked at")
                        .str();
  if (!start.launch.underMpgrun)
    verdict.write = writeLine(start, memory);
}

static void judgeKnown(const JobLaunch &start, const FileReport &report,
                       ProgramVerdict &verdict) {
  verdict.known = true;
  verdict.means = findPageMeans(report, &start.launch);
  PageMeans &means = verdict.means;
  const MemoryUse &memory = report.memory;
  if (!memory.replacedBy.empty() && means.obstacle.empty()) {
    judgeReplaced(start, memory, verdict);
    return;
  }
  if (memory.mapsItself())
    verdict.mapped = memory.what();
  // Small memory that libraries map is not worth a word of the sentence.
  if (!memory.owner && !memory.programMaps && !memory.isHelped) {
    means.mapped = PageAnswer::absent;
    verdict.mapped.clear();
  }
  if (!means.obstacle.empty())
    verdict.because = means.obstacle;
  else if (means.name.empty())
    verdict.because = isForVendor(report)
                          ? "the program does not load Fujitsu's libmpg.so.1"
                      : means.idle.empty() ? nothingLoads(start)
                                           : means.idle;
  else
    verdict.because = join(map_range(means.because, idText), ", ");
  bool hasNoLoader = isStatic(report.kind);
  if (hasNoLoader && !report.carriesLibmpg) {
    if (means.obstacle.empty())
      verdict.because = "no library can be loaded into the program";
    if (memory.isHelpedAlone() && !memory.help().empty())
      verdict.write = writeLine(start, memory, hasNoLoader);
    return;
  }
  StringRef name = means.name;
  bool byLibmpg = name.contains("mpgrun") || name.contains("libmpg");
  bool more = !byLibmpg || !memory.help().empty();
  bool allThere = means.data != PageAnswer::no &&
                  means.heap == PageAnswer::all &&
                  means.stacks == PageAnswer::all && !more;
  if (means.obstacle.empty() && !allThere && more && !isForVendor(report) &&
      start.image.text.empty() && !report.carriesLibmpg && !hasNoLoader)
    verdict.write = writeLine(start, memory);
}

/// Whether \p variable may change the answer for a program: its value is not
/// known, or brings large pages with libraries of a file that was not \p seen.
static bool isDoubtful(const Variable &variable, bool seen) {
  StringRef value = variable.value;
  if (variable.known)
    return !seen && (value.contains("libhugetlbfs") ||
                     (value.contains("malloc.hugetlb=") &&
                      !value.ends_with("malloc.hugetlb=0")));
  // No report counts what the job inherits: "x.so:$LD_PRELOAD". The variable
  // alone is one that a branch sets.
  return variable.line &&
         (value == "$LD_PRELOAD" ||
          (!value.contains("$LD_PRELOAD") && !value.contains("${LD_PRELOAD")));
}

/// See ProgramVerdict::unless. Other variables do not change all of it.
static std::string findDoubt(const JobLaunch &start,
                             const ProgramVerdict &verdict) {
  const PageMeans &means = verdict.means;
  bool hasLibmpg = StringRef(means.name).contains("libmpg") ||
                   StringRef(means.name).contains("mpgrun");
  SmallVector<StringRef, 2> names;
  if (hasLibmpg)
    names = {"XOS_MMM_L_HPAGE_TYPE",
             means.name == vendorName ? "" : "MPG_MODE"};
  else if (!means.givesAny() && means.obstacle.empty())
    names = {"LD_PRELOAD", "GLIBC_TUNABLES"};
  for (StringRef name : names) {
    const Variable *variable = start.launch.environment.find(name);
    if (!variable || !isDoubtful(*variable, verdict.known))
      continue;
    std::string place = name.str(); // of --env
    if (variable->line)
      place = ("line " + Twine(variable->line) + " (" + name + ")").str();
    return place + (hasLibmpg ? " switches them off" : " brings some");
  }
  return "";
}

// The sentence

static std::string listText(ArrayRef<std::string> parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

/// The words for the regions with answer yes, or those with no.
static std::vector<std::string> regionWords(const ProgramVerdict &verdict,
                                            bool yes) {
  const PageMeans &means = verdict.means;
  std::vector<std::string> words;
  auto add = [&](PageAnswer answer, const std::string &word) {
    if (answer != PageAnswer::absent && (answer != PageAnswer::no) == yes)
      words.push_back((answer == PageAnswer::some ? "a part of " : "") + word);
  };
  add(means.data, "data");
  add(means.heap, "heap");
  add(means.stacks, "stacks");
  if (!verdict.mapped.empty())
    add(means.mapped, verdict.mapped);
  return words;
}

/// "./a, ./b and 3 more".
static std::string namesText(ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  std::vector<std::string> parts(names.begin(),
                                 names.begin() + std::min(names.size(), shown));
  if (names.size() > shown)
    parts.push_back(std::to_string(names.size() - shown) + " more");
  return listText(parts);
}

/// The clause about the programs \p programs, which all have the verdict of \p
/// verdict; begins in lower case.
static std::string clauseFor(const ProgramVerdict &verdict,
                             ArrayRef<std::string> programs) {
  const PageMeans &means = verdict.means;
  std::string text, names = namesText(programs);
  const char *notSeen = programs.size() > 1
                            ? "their files, which were not looked at, are "
                            : "its file, which was not looked at, is ";
  if (is_contained({means.data, means.heap}, PageAnswer::unknown)) {
    text = "it is not known what of " + names +
           " will be on large pages: " + verdict.because;
  } else if (means.givesAny()) {
    text = listText(regionWords(verdict, true)) + " of " + names +
           " will be on large pages, by " + means.name;
    std::vector<std::string> others = regionWords(verdict, false);
    if (!others.empty())
      text += ", but not " + listText(others);
    if (!verdict.because.empty())
      text += " (" + verdict.because + ")";
    if (means.isMissing)
      text += ", if the node has that library, which was not found here";
    if (!verdict.known)
      text += std::string(", if ") + notSeen +
              (means.name == vendorName ? "linked with Fujitsu's compiler"
               : programs.size() > 1    ? "dynamic programs"
                                        : "a dynamic program");
  } else if (!verdict.known && means.obstacle.empty()) {
    text = "nothing of " + names + " will be on large pages, unless " +
           notSeen + "linked with libmpg";
  } else {
    text = "nothing of " + names + " will be on large pages: " +
           (verdict.known ? verdict.because : means.obstacle);
  }
  if (!verdict.unless.empty())
    text += (verdict.known || means.givesAny() ? ", unless " : ", or unless ") +
            verdict.unless;
  if (verdict.conditional)
    text += ", if the job comes to it";
  return text;
}

static std::string withoutPrograms(const JobScript &script) {
  auto unknown = [](unsigned line, const std::string &text) {
    return "it is not known what will be on large pages: line " +
           std::to_string(line) + ", " + text;
  };
  if (!script.notUnderstood.empty())
    return unknown(script.notUnderstood[0].line,
                   shortened(script.notUnderstood[0].text, 120) +
                       ": not looked at");
  if (!script.bareNames.empty())
    return unknown(script.bareNames[0].line,
                   script.bareNames[0].text +
                       ", may be a program of the job and was not looked at");
  if (!script.unread.empty())
    return unknown(script.unread[0].line,
                   shortened(script.unread[0].text, 120) +
                       ", may start programs and was not read");
  return "the script starts no program that large pages matter for";
}

/// Programs with the same verdict share a clause.
static std::string makeSentence(const JobScript &script,
                                ArrayRef<ProgramVerdict> programs) {
  struct Group {
    const ProgramVerdict *first;
    std::vector<std::string> names;
  };
  constexpr size_t maxClauses = 3;
  std::vector<std::pair<std::string, Group>> groups;
  for (const ProgramVerdict &verdict : programs) {
    std::string key = clauseFor(verdict, {});
    auto at = find_if(groups, [&](auto &pair) { return pair.first == key; });
    if (at == groups.end())
      at = groups.insert(at, {key, {&verdict, {}}});
    if (!is_contained(at->second.names, verdict.program))
      at->second.names.push_back(verdict.program);
  }
  std::string text = programs.empty() ? withoutPrograms(script) : "";
  for (size_t i = 0; i < std::min(groups.size(), maxClauses); ++i) {
    const Group &group = groups[i].second;
    text += (i ? "; " : "") + clauseFor(*group.first, group.names);
    const std::string &place = group.first->writeIn;
    if (!group.first->write.empty())
      text += "; write" + (place.empty() ? "" : " in " + place) + ": " +
              group.first->write;
  }
  if (groups.size() > maxClauses)
    text += "; and " + std::to_string(groups.size() - maxClauses) +
            " more verdicts about other programs";
  text[0] = toUpper(text[0]);
  return text;
}

bool JobVerdict::givesAny() const {
  return any_of(programs, [](const ProgramVerdict &verdict) {
    return verdict.means.givesAny();
  });
}

JobVerdict mpg::judgeJob(const JobScript &script,
                         ArrayRef<LaunchedProgram> programs, bool isForVendor) {
  JobVerdict verdict;
  for (const LaunchedProgram &program : programs) {
    const JobLaunch &start = *program.launch;
    if (isSystemTool(start.program.text) ||
        isShell(baseName(start.program.text)) ||
        (!program.report && hasScriptName(start)))
      continue;
    ProgramVerdict one;
    one.program = shortened(start.program.text, copiedBytes);
    one.line = start.line;
    one.conditional = start.conditional;
    one.writeIn = shortened(start.writtenIn, copiedBytes);
    if (program.report && program.report->readsAsProgram())
      judgeKnown(start, *program.report, one);
    else
      judgeUnknown(start, isForVendor, one);
    one.unless = findDoubt(start, one);
    verdict.programs.push_back(std::move(one));
  }
  verdict.startsNothing = verdict.programs.empty() &&
                          script.notUnderstood.empty() &&
                          script.bareNames.empty() && script.unread.empty();
  verdict.sentence = makeSentence(script, verdict.programs);
  return verdict;
}

// Variables that launchers set

static bool hasOption(ArrayRef<JobWord> words, StringRef name) {
  return any_of(words, [&](const JobWord &word) {
    StringRef text = word.text;
    return text.consume_front("--") && text.consume_front(name) &&
           (text.empty() || text[0] == '=');
  });
}

/// hugectl preloads libhugetlbfs and sets its variables (its manual page,
/// read).
static void applyHugectl(ArrayRef<JobWord> words, unsigned line,
                         Environment &environment) {
  auto set = [&](StringRef name, StringRef value) {
    environment.set(name, {value.str(), true, line});
  };
  if (!hasOption(words, "no-preload"))
    set("LD_PRELOAD", (environment.getValue("LD_PRELOAD").empty()
                           ? ""
                           : environment.getValue("LD_PRELOAD").str() + ":") +
                          "libhugetlbfs.so");
  if (hasOption(words, "heap"))
    set("HUGETLB_MORECORE", hasOption(words, "thp") ? "thp" : "yes");
  std::string segments;
  if (hasOption(words, "text"))
    segments += "R";
  if (hasOption(words, "data") || hasOption(words, "bss"))
    segments += "W";
  if (!segments.empty())
    set("HUGETLB_ELFMAP", segments);
}

void mpg::applyLaunchers(JobScript &script) {
  for (JobLaunch &start : script.launches) {
    Environment &environment = start.launch.environment;
    for (const JobCommand &launcher : start.launchers)
      if (launcherName(launcher) == "hugectl")
        applyHugectl(launcher.words, start.line, environment);
    for (const JobWord &word : start.arguments)
      if (isMemoryOption(word.text))
        start.launch.memoryOption = word.text;
  }
}
