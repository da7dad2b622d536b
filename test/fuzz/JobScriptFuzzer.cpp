// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of job scripts and of manifests (text that begins with "kind:" or
// "apiVersion:") on any bytes, then the rules on its result,
// including the parser of the variables' values. Beyond not crashing: every
// fact and every finding has a line within the script, text reported as unknown
// is a part of the word, and the output is not much larger than the input.

#include "Advice/Recommend.h"
#include "JobRules/JobRules.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

static size_t check(const JobWord &word) {
  StringRef first = StringRef(word.unknown).split(", ").first;
  if (!word.known() && !StringRef(word.text).contains(first))
    abort();
  return word.text.size() + word.unknown.size();
}

static size_t check(ArrayRef<JobWord> words) {
  size_t bytes = 0;
  for (const JobWord &word : words)
    bytes += check(word);
  return bytes;
}

static void check(const JobScript &script, StringRef text) {
  unsigned lines = unsigned(text.count('\n')) + 1;
  auto checkLine = [lines](unsigned line) {
    if (line < 1 || line > lines)
      abort();
  };
  size_t bytes = 0;
  for (const JobDirective &directive : script.directives)
    checkLine(directive.line);
  for (const JobProblem &problem : script.problems)
    checkLine(problem.line);
  for (const JobSetting &setting : script.settings) {
    checkLine(setting.line);
    bytes += check(setting.value);
  }
  for (const JobCommand &command : script.commands) {
    checkLine(command.line);
    bytes += check(command.words);
  }
  for (const JobLaunch &launch : script.launches) {
    checkLine(launch.line);
    bytes += check(launch.program) + check(launch.arguments);
    for (const auto &[name, variable] : launch.launch.environment.all()) {
      bytes += variable.value.size();
      if (variable.line)
        checkLine(variable.line);
    }
    findLaunched(launch, "/nonexistent");
    FileReport none = {};
    none.kind = ElfKind::notElf;
    recommend(none, &script, &launch, std::nullopt);
  }
  JobSettings settings;
  settings.checks = defaultChecks();
  JobVerdict verdict = judgeJob(script, {}, /*isForVendor=*/true);
  for (const Finding &finding : auditJob(script, {}, verdict, settings))
    if (finding.where.line)
      checkLine(*finding.where.line);
  if (bytes > (size_t(64) << 20) + 256 * text.size())
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  if (!text.starts_with("kind:") && !text.starts_with("apiVersion:")) {
    check(readJobScript(text, "job.sh"), text);
    return 0;
  }
  Expected<JobScript> manifest = readManifestJob(text, "pod.yaml");
  if (manifest)
    check(*manifest, text);
  else if (toString(manifest.takeError()).empty())
    abort();
  return 0;
}
