// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Job/JobOutput.h"
#include "Audit/Report.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static StringRef schedulerName(Scheduler scheduler) {
  switch (scheduler) {
  case Scheduler::none:
    return "script";
  case Scheduler::pjm:
    return "job script for PJM";
  case Scheduler::slurm:
    return "job script for Slurm";
  case Scheduler::pbs:
    return "job script for PBS";
  case Scheduler::gridEngine:
    return "job script for Grid Engine";
  }
  return "";
}

Severity mpg::worstOf(ArrayRef<Finding> findings) {
  Severity worst = Severity::off;
  for (const Finding &finding : findings)
    worst = std::max(worst, finding.severity);
  return worst;
}

void mpg::writeJobText(raw_ostream &out, const JobReport &job, bool colour) {
  out << printable(job.script.path) << ": "
      << schedulerName(job.script.scheduler);
  const char *separator = ", starts ";
  for (const JobLaunch &launch : job.script.launches) {
    out << separator << printable(launch.program.text);
    separator = ", ";
  }
  out << ": " << verdictText(job.findings) << "\n";
  writeFindings(out, job.script.path, job.findings, FixContext(), colour);
}

static json::Value utf8(StringRef text) {
  return json::isUTF8(text) ? json::Value(text.str())
                            : json::Value(json::fixUTF8(text));
}

void mpg::writeJobJson(raw_ostream &out, const JobReport &job) {
  json::OStream json(out);
  json.object([&] {
    json.attribute("script", utf8(job.script.path));
    json.attributeArray("settings", [&] {
      for (const JobSetting &setting : job.script.settings)
        json.object([&] {
          json.attribute("name", utf8(setting.name));
          json.attribute("value", utf8(setting.value.text));
          if (!setting.value.known())
            json.attribute("unknown", utf8(setting.value.unknown));
          json.attribute("line", setting.line);
        });
    });
    json.attributeArray("programs", [&] {
      for (const JobLaunch &launch : job.script.launches)
        json.value(utf8(launch.program.text));
    });
    writeJsonFindings(json, job.findings, FixContext());
  });
}
