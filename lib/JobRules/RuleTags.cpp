// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs with tags on addresses. MPG173: a script that lets malloc tag them
// as well; MPG231: one that switches them off with fhetbo.

#include "Elf/ImageNotes.h"
#include "JobRules/RuleContext.h"
#include "Support/HeapTags.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

namespace {
/// One "fhetbo enable" or "fhetbo disable", by itself or behind mpiexec.
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
  auto *behind = partition_point(
      switches, [&](const Switch &one) { return one.line < line; });
  return behind == switches.begin() ? nullptr : behind - 1;
}

/// Of the hint note of the file; 0 if there is none, or no such file.
static unsigned taggedAccesses(const std::string &path) {
  unsigned accesses = 0;
  // What is wrong with the file stands in its own report.
  consumeError(readImages(path, [&](Image &image) {
    if (!image.fullyRead())
      return;
    if (Notes notes = readOwnNotes(image); notes.hints)
      accesses += notes.hints->taggedAccesses;
  }));
  return accesses;
}

/// "5 tagged accesses in its hint note"; "" if that is not known.
static std::string noteOf(const JobContext &job, const JobLaunch &launch,
                          std::map<std::string, unsigned> &read) {
  const FileReport *report = job.reportOf(launch);
  if (!report)
    return "";
  auto [known, isNew] = read.insert({report->path, 0});
  if (isNew)
    known->second = taggedAccesses(report->path);
  return known->second == 0 ? ""
                            : std::to_string(known->second) +
                                  " tagged accesses in its hint note";
}

/// What shows that the program has tags; "" if nothing does.
static std::string signOfTags(const JobContext &job, const JobLaunch &launch,
                              std::map<std::string, unsigned> &read) {
  for (const char *name : {"FLIB_L2_SECTOR_NWAYS_INIT", "FLIB_SCCR_CNTL"}) {
    JobValue value = job.valueOf(launch, name);
    if (value.set && value.known && value.text != "FALSE")
      return (Twine(name) + "=" + value.text).str();
  }
  return noteOf(job, launch, read);
}

static void checkHeapTags(JobContext &job,
                          std::map<std::string, unsigned> &read) {
  if (!job.wants(FindingId::mpg173))
    return;
  constexpr char variable[] = "GLIBC_TUNABLES";
  for (const JobLaunch *launch : job.launches) {
    JobValue value = job.valueOf(*launch, variable);
    if (!value.known || !tagsHeap(value.text))
      continue;
    std::string sign = noteOf(job, *launch, read);
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
