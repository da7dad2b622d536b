// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG233: what a script still has from the K computer and its kin. One note
// for all of it: nothing there is dangerous, and nothing there helps.

#include "JobRules/RuleContext.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

namespace {
struct Leftover {
  unsigned line;
  std::string what;
};
} // namespace

/// Staging was for K's file system.
static bool isStaging(StringRef option) { return option.starts_with("--stg"); }

static std::vector<Leftover> findLeftovers(const JobScript &script) {
  std::vector<Leftover> found;
  for (const JobDirective &directive : script.directives)
    if (directive.scheduler == Scheduler::pjm && isStaging(directive.option))
      found.push_back({directive.line, "#PJM " + directive.option});
  for (const JobCommand &command : script.commands)
    for (const JobWord &word : command.words) {
      if (baseName(word.text) == "lpgparm")
        found.push_back({command.line, "lpgparm"});
      else if (StringRef(word.text).starts_with("/work/system/Env_base"))
        found.push_back({command.line, word.text});
    }
  stableSort(found, [](const Leftover &a, const Leftover &b) {
    return a.line < b.line;
  });
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
