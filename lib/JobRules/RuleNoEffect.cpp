// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG222: settings that do nothing because another one decides. A setting that
// acts in one program of the script and not in another is no mistake: only
// those are reported that act in none.

#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

namespace {
/// Why a setting does nothing: the case of the rule, and what decides.
struct Reason {
  std::string sub, text;
  bool operator<(const Reason &other) const {
    return std::tie(sub, text) < std::tie(other.sub, other.text);
  }
};

struct DeadSetting {
  std::string name;
  unsigned line;
};
} // namespace

/// With ARENA_FREE=2 these have another value than the one that was asked for.
static StringRef valueOfPool(StringRef name) {
  return name.contains("THRESHOLD_") ? "ULONG_MAX" : "1";
}

static std::optional<Reason> poolDecides(const JobContext &job,
                                         const JobLaunch &launch,
                                         const EnvVariable &row,
                                         StringRef value) {
  if (!row.overriddenBy.contains("ARENA_FREE=2") ||
      !job.valueOf(launch, "XOS_MMM_L_ARENA_FREE").is("2") ||
      value == valueOfPool(row.name))
    return std::nullopt;
  return Reason{"arena-free", "XOS_MMM_L_ARENA_FREE=2 makes it " +
                                  valueOfPool(row.name).str()};
}

/// "A=b, C=d" of the table's column `needs`: the first that is not so.
static std::optional<Reason> needIsMissing(const JobContext &job,
                                           const JobLaunch &launch,
                                           const EnvVariable &row) {
  SmallVector<StringRef, 4> needs;
  row.needs.split(needs, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef need : needs) {
    auto [name, wanted] = need.split('=');
    JobValue value = job.valueOf(launch, name);
    if (!value.known || value.text == wanted)
      continue;
    if (name == "XOS_MMM_L_HPAGE_TYPE")
      return Reason{"hpage-none",
                    "XOS_MMM_L_HPAGE_TYPE=none switches the library's large "
                    "pages off"};
    return Reason{"needs",
                  (name + "=" + value.text + ", and it needs " + need).str()};
  }
  return std::nullopt;
}

static constexpr uint64_t mebibyte = 1 << 20;

/// HEAP_SIZE_MB below twice the threshold is raised to that.
static std::optional<Reason> isRaised(const JobContext &job,
                                      const JobLaunch &launch,
                                      const EnvVariable &row, StringRef value) {
  JobValue threshold = job.valueOf(launch, "MALLOC_MMAP_THRESHOLD_");
  if (row.name != "XOS_MMM_L_HEAP_SIZE_MB" || !threshold.known)
    return std::nullopt;
  uint64_t bytes = parseEnvNumber(threshold.text).value_or(0);
  uint64_t leastMebibytes = bytes / mebibyte * 2;
  if (parseEnvNumber(value).value_or(0) >= leastMebibytes)
    return std::nullopt;
  return Reason{"heap-size", "it is raised to " +
                                 std::to_string(leastMebibytes) +
                                 " MiB, 2 x MALLOC_MMAP_THRESHOLD_"};
}

static std::optional<Reason> whyDead(const JobContext &job,
                                     const JobLaunch &launch,
                                     const EnvVariable &row) {
  JobValue value = job.valueOf(launch, row.name);
  // What asks for the default is written down for the reader of the script.
  if (!value.known || value.text == fallbackOf(row, job.target))
    return std::nullopt;
  if (auto reason = needIsMissing(job, launch, row))
    return reason;
  if (auto reason = poolDecides(job, launch, row, value.text))
    return reason;
  return isRaised(job, launch, row, value.text);
}

static std::string listOf(ArrayRef<DeadSetting> settings) {
  std::string text = settings[0].name;
  if (settings.size() == 2)
    return text + " and " + settings[1].name;
  if (settings.size() > 2)
    text += " and " + std::to_string(settings.size() - 1) + " more";
  return text;
}

/// Published figures for what the two heaps' settings bring.
static void setPoolWords(Finding &finding, StringRef name) {
  if (name == "XOS_MMM_L_ARENA_LOCK_TYPE")
    finding.cost = "Threads wait for each other in malloc; published for 16 "
                   "threads: 1.60 times as fast with 0.";
  else if (name == "MALLOC_MMAP_THRESHOLD_")
    finding.cost = "Arrays of equal size go on competing for the same lines "
                   "of the L1 cache; published for 8 arrays: half of the "
                   "misses with 204800.";
  finding.setFix("Decide for one: take XOS_MMM_L_ARENA_FREE=2 out if this "
                 "setting helps the program more, else this line.");
}

static void report(JobContext &job, const Reason &reason,
                   ArrayRef<DeadSetting> settings) {
  const DeadSetting &first = settings[0];
  const JobSetting *setting = job.settingAt(first.name, first.line);
  Finding &finding = job.add(
      FindingId::mpg222, first.line, setting && setting->conditional,
      listOf(settings) +
          (settings.size() > 1 ? " have no effect: " : " has no effect: ") +
          reason.text);
  finding.sub = reason.sub;
  finding.where.symbol = first.name;
  for (const DeadSetting &dead : settings.take_front(5))
    finding.evidence += (finding.evidence.empty() ? "line " : "; line ") +
                        std::to_string(dead.line) + ": " +
                        job.settingText(dead.name, dead.line);
  if (reason.sub == "arena-free")
    setPoolWords(finding, first.name);
  else if (reason.sub == "heap-size")
    finding.setFix("Lower MALLOC_MMAP_THRESHOLD_ to half of it as well, or "
                   "take the line out.");
}

void mpg::checkNoEffect(JobContext &job) {
  if (!job.wants(FindingId::mpg222))
    return;
  // By line, so that findings come in the script's order. A setting that acts
  // somewhere has no reason.
  std::map<std::pair<unsigned, StringRef>, std::optional<Reason>> reasons;
  for (const JobLaunch *launch : job.launches)
    for (const EnvVariable &row : allEnvVariables()) {
      JobValue value = job.valueOf(*launch, row.name);
      if (!value.set || value.line == 0)
        continue;
      auto reason = whyDead(job, *launch, row);
      auto [at, isNew] = reasons.insert({{value.line, row.name}, reason});
      if (!isNew && !reason)
        at->second.reset();
    }
  std::map<Reason, std::vector<DeadSetting>> byReason;
  for (const auto &[key, reason] : reasons)
    if (reason)
      byReason[*reason].push_back({key.second.str(), key.first});
  for (const auto &[reason, settings] : byReason)
    report(job, reason, settings);
}
