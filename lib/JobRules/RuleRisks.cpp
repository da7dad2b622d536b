// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings of other programs that act, and not for the better. MPG243: what
// switches transparent large pages off for a whole process and all that it
// starts (PR_SET_THP_DISABLE). MPG244: Python's arenas on the pool, of which a
// process may die after a fork. MPG242 says where such a variable is not known.

#include "Audit/PageMeans.h"
#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

// Transparent pages off

/// Linked in or loaded, in a release that has the option.
static bool hasMimallocSwitch(const FileReport &report) {
  if (report.memory.owner && report.memory.owner->id == "mimalloc")
    return true;
  return report.closure &&
         any_of(report.closure->libraries, [](const ClosureEntry &entry) {
           return baseName(entry.name).starts_with("libmimalloc") &&
                  hasText(entry.path, "allow_thp");
         });
}

static void checkMimallocSwitch(JobContext &job, const JobLaunch &launch) {
  constexpr StringLiteral name = "MIMALLOC_ALLOW_THP";
  const Variable *variable = launch.launch.environment.find(name);
  const FileReport *report = job.findReport(launch);
  if (!variable || !variable->known || !report ||
      !hasWord("0 no off false", StringRef(variable->value).lower()) ||
      !hasMimallocSwitch(*report))
    return;
  Finding &finding =
      job.add(FindingId::mpg243, launch, name, *variable, "mimalloc",
              name + "=" + variable->value +
                  " switches transparent large pages off for all memory of " +
                  launch.program.text + " and of what it starts");
  finding.setFix("Take the line out. Where mimalloc's pages cost too much "
                 "memory, write for this program alone:\n"
                 "  env MIMALLOC_PURGE_DELAY=0 " +
                 launch.program.text);
}

/// "systemd-run -p MemoryTHP=disable"
static void checkUnit(JobContext &job, const JobLaunch &launch) {
  for (const JobCommand &launcher : launch.launchers)
    for (const JobWord &word : launcher.words) {
      StringRef text = word.text;
      text.consume_front("--property=");
      text.consume_front("-p");
      if (text != "MemoryTHP=disable")
        continue;
      Finding &finding = job.add(
          FindingId::mpg243, launcher.line, launch.conditional,
          "MemoryTHP=disable switches transparent large pages off for " +
              launch.program.text);
      finding.sub = "unit";
      finding.where.symbol = "MemoryTHP";
      finding.evidence = commandText(launcher.words);
      finding.setFix("Write MemoryTHP=madvise: programs that ask for large "
                     "pages get them.");
    }
}

/// A small program in front of another one, which it starts in its place.
static void checkWrapper(JobContext &job, const JobLaunch &wrapper) {
  const FileReport *report = job.findReport(wrapper);
  if (wrapper.isOperand || !report || !report->memory.callsPrctl ||
      report->memory.replacedBy.empty())
    return;
  for (const JobLaunch *launch : job.launches) {
    if (!launch->isOperand || launch->line != wrapper.line)
      continue;
    Finding &finding = job.add(
        FindingId::mpg243, wrapper.line, wrapper.conditional,
        wrapper.program.text + " may switch transparent large pages off for " +
            launch->program.text);
    finding.sub = "wrapper";
    finding.severity = Severity::note;
    finding.where.symbol = wrapper.program.text;
    finding.evidence = ("it calls prctl() and " + report->memory.replacedBy +
                        "(): " + launchText(wrapper))
                           .str();
    finding.setFix("Ask under it what the program would get:\n  " +
                   shortened(wrapper.program.text, copiedBytes) + " mpginfo");
    return;
  }
}

// Python on the pool

/// The files that may know the variable: the interpreter and its library.
static std::vector<std::string> pythonFiles(const FileReport &report) {
  std::vector<std::string> files = {report.path};
  if (report.closure)
    for (const ClosureEntry &entry : report.closure->libraries)
      if (baseName(entry.name).starts_with("libpython"))
        files.push_back(entry.path);
  return files;
}

static void checkPython(JobContext &job, const JobLaunch &launch) {
  constexpr StringLiteral name = "PYTHON_PYMALLOC_HUGEPAGES";
  const Environment &environment = launch.launch.environment;
  const Variable *variable = environment.find(name);
  const FileReport *report = job.findReport(launch);
  bool isPython = report && report->memory.owner
                      ? report->memory.owner->id == "python"
                      : baseName(launch.program.text).starts_with("python");
  if (!variable || !variable->known || !isPython || variable->value.empty() ||
      variable->value == "0" ||
      StringRef(environment.getValue("PYTHONMALLOC")).starts_with("malloc"))
    return;
  auto knows = [&](const std::string &file) { return hasText(file, name); };
  if (report && none_of(pythonFiles(*report), knows)) {
    if (!job.wants(FindingId::mpg242))
      return;
    Finding &finding =
        job.add(FindingId::mpg242, launch, name, *variable, "python",
                name + " does nothing: " + launch.program.text +
                    " does not know it; it came with Python 3.15");
    finding.cost = "Python's objects stay on normal pages.";
    finding.setFix("Write instead:\n  export PYTHONMALLOC=malloc");
    return;
  }
  if (!job.wants(FindingId::mpg244))
    return;
  Finding &finding = job.add(
      FindingId::mpg244, launch, name, *variable, "python",
      launch.program.text + " puts its objects on the pool: if it forks "
                            "and the pool is short, SIGBUS ends it");
  if (!report)
    finding.severity = Severity::note;
}

void mpg::checkOtherRisks(JobContext &job) {
  for (const JobLaunch *launch : job.launches) {
    if (job.wants(FindingId::mpg243)) {
      checkMimallocSwitch(job, *launch);
      checkUnit(job, *launch);
      checkWrapper(job, *launch);
    }
    checkPython(job, *launch);
  }
}
