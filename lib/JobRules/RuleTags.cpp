// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What A64FX has beside large pages. MPG173: a script that lets malloc tag
// pointers that carry HPC tags; MPG231: one that switches the tags off with
// fhetbo. MPG232: variables of the sector cache that cannot do what they say;
// their spelling and ranges are the business of MPG220 and MPG221.

#include "Elf/Image.h"
#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

namespace {
/// One "fhetbo enable" or "fhetbo disable", by itself or after mpiexec.
struct Switch {
  unsigned line;
  bool enables, conditional;
  std::string text;
};
} // namespace

static std::vector<Switch> findSwitches(const JobScript &script) {
  std::vector<Switch> switches;
  for (const JobCommand &command : script.commands) {
    ArrayRef<JobWord> words = command.words;
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      StringRef action = words[i + 1].text;
      if (baseName(words[i].text) == "fhetbo" &&
          (action == "enable" || action == "disable"))
        switches.push_back({command.line, action == "enable",
                            command.conditional, commandText(words)});
    }
  }
  return switches;
}

/// The switch that is in force in \p line; null: none.
static const Switch *inForce(ArrayRef<Switch> switches, unsigned line) {
  auto *after = partition_point(
      switches, [&](const Switch &one) { return one.line < line; });
  return after == switches.begin() ? nullptr : after - 1;
}

/// Of the hint note of the file; 0 if there is none, or no such file.
static unsigned taggedAccesses(const std::string &path) {
  unsigned accesses = 0;
  // The file's own report has its defects.
  consumeError(readImages(path, [&](Image &image) {
    if (Notes notes = readOwnNotes(image); notes.hints)
      accesses += notes.hints->taggedAccesses;
  }));
  return accesses;
}

/// "5 tagged accesses in its hint note"; "" if that is not known.
static std::string makeNote(const JobContext &job, const JobLaunch &launch,
                            std::map<std::string, unsigned> &read) {
  const FileReport *report = job.findReport(launch);
  if (!report)
    return "";
  auto [known, isNew] = read.insert({report->path, 0});
  if (isNew)
    known->second = taggedAccesses(report->path);
  return known->second == 0 ? ""
                            : std::to_string(known->second) +
                                  " tagged accesses in its hint note";
}

/// The evidence that the program has tags; "" without any.
static std::string signOfTags(const JobContext &job, const JobLaunch &launch,
                              std::map<std::string, unsigned> &read) {
  for (const char *name : {"FLIB_L2_SECTOR_NWAYS_INIT", "FLIB_SCCR_CNTL"}) {
    JobValue value = job.getValue(launch, name);
    if (value.set && value.known && value.text != "FALSE")
      return (Twine(name) + "=" + value.text).str();
  }
  return makeNote(job, launch, read);
}

static void checkHeapTags(JobContext &job,
                          std::map<std::string, unsigned> &read) {
  if (!job.wants(FindingId::mpg173))
    return;
  constexpr char variable[] = "GLIBC_TUNABLES";
  for (const JobLaunch *launch : job.launches) {
    JobValue value = job.getValue(*launch, variable);
    if (!value.known || !tagsHeap(value.text))
      continue;
    std::string sign = makeNote(job, *launch, read);
    if (sign.empty())
      continue;
    Finding &finding =
        job.add(FindingId::mpg173, launch->line, launch->conditional,
                launch->program.text +
                    " has tags on addresses, and malloc is to use them, too");
    finding.where.symbol = variable;
    finding.evidence =
        (Twine(variable) + "=" + shortened(value.text) + "; " + sign).str();
  }
}

static void checkSwitches(JobContext &job,
                          std::map<std::string, unsigned> &read) {
  if (!job.wants(FindingId::mpg231))
    return;
  std::vector<Switch> switches = findSwitches(job.script);
  if (switches.empty())
    return;
  for (const JobLaunch *launch : job.launches) {
    const Switch *last = inForce(switches, launch->line);
    if (!last || last->enables)
      continue;
    std::string sign = signOfTags(job, *launch, read);
    if (sign.empty())
      continue;
    Finding &finding =
        job.add(FindingId::mpg231, launch->line,
                launch->conditional || last->conditional,
                launch->program.text + " uses tags on addresses, which line " +
                    std::to_string(last->line) + " switches off");
    finding.where.symbol = "fhetbo";
    finding.evidence = last->text + "; " + sign;
    finding.setFix("Take the line out, or switch the tags on again in front "
                   "of this program:\n  " +
                   StringRef(last->text).rsplit(' ').first.str() + " enable");
  }
}

void mpg::checkTagOverride(JobContext &job) {
  std::map<std::string, unsigned> read; // each file once
  checkHeapTags(job, read);
  checkSwitches(job, read);
}

/// HW:a64fx-l2-ways-job
static constexpr uint64_t l2Ways = 14;

static constexpr const char *waysName = "FLIB_L2_SECTOR_NWAYS_INIT";

static void checkSum(JobContext &job, const JobValue &ways) {
  auto [first, second] = ways.text.split(',');
  uint64_t sum =
      parseEnvNumber(first).value_or(0) + parseEnvNumber(second).value_or(0);
  if (sum == l2Ways)
    return;
  const JobSetting *setting = job.settingAt(waysName, ways.line);
  Finding &finding =
      job.add(FindingId::mpg232, ways.line, setting && setting->conditional,
              Twine(waysName) + "=" + ways.text + " divides " + Twine(sum) +
                  " ways of L2, a job has 14");
  finding.sub = "sum";
  finding.where.symbol = waysName;
  finding.evidence = job.settingText(waysName, ways.line);
  uint64_t kept = std::min(parseEnvNumber(second).value_or(0), l2Ways);
  if (sum < l2Ways) {
    finding.severity = Severity::note;
    finding.cost = "The ways that neither sector has stay unused.";
  }
  if (setting)
    finding.setFix(writeInstead(writeSetting(*setting, waysName,
                                             std::to_string(l2Ways - kept) +
                                                 "," + std::to_string(kept))));
}

/// The ways of L2 belong to all processes of a core memory group.
static void checkSharing(JobContext &job, const JobLaunch &launch,
                         StringRef name, const JobValue &value) {
  std::optional<unsigned> ranks = launch.launch.ranksPerNode;
  if (!ranks)
    ranks = job.script.ranksPerNode;
  if (!ranks || *ranks <= groupsOfNode)
    return;
  const JobSetting *setting = job.settingAt(name, value.line);
  Finding &finding =
      job.add(FindingId::mpg232, value.line,
              launch.conditional || (setting && setting->conditional),
              "L2 is not divided: " + std::to_string(*ranks) +
                  " processes on a node share its 4 core memory groups");
  finding.sub = "shared";
  finding.where.symbol = name.str();
  finding.evidence =
      job.settingText(name, value.line) + "; " + launchText(launch);
}

void mpg::checkSectors(JobContext &job) {
  if (!job.wants(FindingId::mpg232))
    return;
  for (const JobLaunch *launch : job.launches) {
    JobValue ways = job.getValue(*launch, waysName);
    JobValue control = job.getValue(*launch, "FLIB_SCCR_CNTL");
    if (control.is("FALSE"))
      continue; // MPG222 if there are ways as well
    if (ways.line && ways.known) {
      checkSum(job, ways);
      checkSharing(job, *launch, waysName, ways);
    } else if (control.line && control.is("TRUE")) {
      checkSharing(job, *launch, "FLIB_SCCR_CNTL", control);
    }
  }
}
