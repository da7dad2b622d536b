// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Job/JobOutput.h"
#include "Audit/Report.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

/// "./app, ./post": what a script starts twice is one program.
static std::string programList(const JobReport &job) {
  std::string text;
  std::vector<StringRef> named;
  for (const JobLaunch &launch : job.script.launches) {
    if (is_contained(named, StringRef(launch.program.text)))
      continue;
    named.push_back(launch.program.text);
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

void mpg::writeJobText(raw_ostream &out, const JobReport &job,
                       ArrayRef<FileReport> programs, bool colour) {
  out << printable(job.script.path) << ": ";
  if (job.script.scheduler == Scheduler::none)
    out << "script";
  else
    out << "job script for " << wordsOf(job.script.scheduler).name;
  out << programList(job) << ": " << jobVerdict(job, programs) << "\n";
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
