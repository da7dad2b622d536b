// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of the job script itself, as text and as JSON.

#include "Audit/Launch.h"
#include "Audit/Report.h"
#include "Render/RunResult.h"
#include "Support/Format.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

/// "./app, ./post": what a script starts twice is one program.
static std::string programList(const JobReport &job) {
  std::string text;
  StringSet<> named;
  for (const JobLaunch &launch : job.script.launches) {
    if (!named.insert(launch.program.text).second)
      continue;
    text +=
        (text.empty() ? ", starts " : ", ") + printable(launch.program.text);
  }
  return text;
}

/// Nothing of a job is clean while one of its programs is not.
static std::string jobVerdict(const JobReport &job,
                              ArrayRef<FileReport> programs) {
  Severity worst = Severity::note;
  std::string path;
  for (const FileReport &program : programs)
    if (program.worst() > worst) {
      worst = program.worst();
      path = program.path;
    }
  std::string own = verdictText(job.findings);
  if (path.empty())
    return own;
  return (job.findings.empty() ? "nothing in the script itself" : own) +
         ", but " + (worst == Severity::error ? "an error" : "a warning") +
         " about " + printable(path);
}

/// What the pool has to hold when the programs start: not to be learned
/// from a full one. Heap and stacks are known only when the program runs.
static void writePages(raw_ostream &out, const JobReport &job,
                       ArrayRef<FileReport> programs) {
  StringMap<const FileReport *> reports;
  for (const FileReport &file : programs)
    if (file.facts.layout)
      reports.try_emplace(file.path, &file);
  StringSet<> written;
  for (const JobLaunch &launch : job.script.launches) {
    StringRef name = launch.program.text;
    const FileReport *report = reports.lookup(name);
    if (!report || !wantsLargePages(launch.launch) ||
        !written.insert(name).second)
      continue;
    uint64_t pages = report->facts.layout->hugeBytes >> 21;
    std::optional<unsigned> ranks = launch.launch.ranksPerNode;
    if (!ranks)
      ranks = job.script.ranksPerNode;
    if (pages <= 2)
      continue; // any pool has them
    out << "  pages: " << printable(name) << " needs " << pages << " a process";
    if (ranks && *ranks > 1)
      out << ", " << SaturatingMultiply<uint64_t>(pages, *ranks) << " a node";
    out << ", of 2 MiB, for its static data; heap and stacks come on top\n";
  }
}

void mpg::writeJobText(raw_ostream &out, const JobReport &job,
                       ArrayRef<FileReport> programs, bool colour) {
  out << printable(job.script.path) << ": ";
  if (job.script.scheduler == Scheduler::none)
    out << "script";
  else
    out << "job script for " << wordsOf(job.script.scheduler).name;
  out << programList(job) << ": " << jobVerdict(job, programs) << "\n";
  writePages(out, job, programs);
  writeFindings(out, job.script.path, job.findings, FixContext(), colour);
}

void mpg::writeJobJson(raw_ostream &out, const JobReport &job) {
  json::OStream json(out);
  json.object([&] {
    json.attribute("script", validUtf8(job.script.path));
    json.attributeArray("settings", [&] {
      for (const JobSetting &setting : job.script.settings)
        json.object([&] {
          json.attribute("name", validUtf8(setting.name));
          json.attribute("value", validUtf8(setting.value.text));
          if (!setting.value.known())
            json.attribute("unknown", validUtf8(setting.value.unknown));
          json.attribute("line", setting.line);
        });
    });
    json.attributeArray("programs", [&] {
      for (const JobLaunch &launch : job.script.launches)
        json.value(validUtf8(launch.program.text));
    });
    writeJsonFindings(json, job.findings, FixContext());
  });
}
