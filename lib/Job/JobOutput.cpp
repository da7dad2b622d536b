// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Job/JobOutput.h"
#include "Audit/Report.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

void mpg::writeJobText(raw_ostream &out, const JobReport &job, bool colour) {
  out << printable(job.script.path) << ": ";
  if (job.script.scheduler == Scheduler::none)
    out << "script";
  else
    out << "job script for " << wordsOf(job.script.scheduler).name;
  const char *separator = ", starts ";
  for (const JobLaunch &launch : job.script.launches) {
    out << separator << printable(launch.program.text);
    separator = ", ";
  }
  out << ": " << verdictText(job.findings) << "\n";
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
