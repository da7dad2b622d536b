// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a script binds its processes. MPG227: CPU and NUMA node numbers of
// another machine. FX1000 (Fugaku) counts those of a job from 12 and 4, FX700
// from 0 and 0, and scripts are carried from one to the other.
// HW:a64fx-job-cpus
//
// MPG237: binding that comes too late, or reaches the wrong process. Where
// memory lies is decided when the program starts: with prepage all of it is
// placed before main.

#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// "5", "4-7", "12-59:2" (every second one).
static bool parseRange(StringRef text, unsigned &first, unsigned &last) {
  auto [range, step] = text.split(':');
  auto [from, to] = range.split('-');
  if (from.getAsInteger(10, first))
    return false;
  last = first;
  return (to.empty() && !range.contains('-')) ||
         (!to.getAsInteger(10, last) && last >= first);
}

namespace {

struct NumberList {
  unsigned min, max;
  unsigned count; ///< of numbers, twice named ones twice
};

/// One place that names them.
struct NumberUse {
  unsigned line;
  bool conditional;
  bool nodes; ///< NUMA nodes; else CPUs
  std::string text;
  std::string symbol; ///< the variable or command
  NumberList numbers;
};

} // namespace

/// "12-23,36-47"; absent for anything but a list of absolute numbers.
static std::optional<NumberList> parseNumbers(StringRef text) {
  NumberList list = {~0u, 0, 0};
  for (StringRef part : split(text, ',')) {
    unsigned first, last;
    // numactl's "+0-3" counts from the first CPU of the job; "all", "!4" name
    // no number either.
    if (!parseRange(part.trim(), first, last))
      return std::nullopt;
    list.min = std::min(list.min, first);
    list.max = std::max(list.max, last);
    list.count += std::min(last - first, 1u << 20) + 1;
  }
  return list;
}

/// The value of one of \p options in \p command, as "-C 12-23", "-C12-23" or
/// "--physcpubind=12-23"; "" if there is none, or if it is not known.
static StringRef optionValue(const JobCommand &command,
                             std::initializer_list<StringRef> options) {
  ArrayRef<JobWord> words = command.words;
  for (size_t i = 1; i < words.size(); ++i)
    for (StringRef option : options) {
      StringRef text = words[i].text;
      if (!words[i].known() || !text.consume_front(option))
        continue;
      if (text.empty())
        return i + 1 < words.size() && words[i + 1].known()
                   ? StringRef(words[i + 1].text)
                   : "";
      if (text.consume_front("=") || !option.starts_with("--"))
        return text;
    }
  return "";
}

static void addUse(std::vector<NumberUse> &uses, const JobCommand &command,
                   unsigned line, bool conditional, bool nodes,
                   std::initializer_list<StringRef> options) {
  if (auto numbers = parseNumbers(optionValue(command, options)))
    uses.push_back({line, conditional, nodes, commandText(command.words),
                    baseName(command.words[0].text).str(), *numbers});
}

static void addLauncher(std::vector<NumberUse> &uses, const JobCommand &command,
                        unsigned line, bool conditional) {
  if (command.words.empty())
    return;
  StringRef name = baseName(command.words[0].text);
  if (name == "numactl") {
    addUse(uses, command, line, conditional, false, {"--physcpubind", "-C"});
    addUse(uses, command, line, conditional, true, {"--membind", "-m"});
    addUse(uses, command, line, conditional, true, {"--cpunodebind", "-N"});
    addUse(uses, command, line, conditional, true, {"--preferred", "-p"});
    addUse(uses, command, line, conditional, true, {"--interleave", "-i"});
  } else if (name == "taskset") {
    addUse(uses, command, line, conditional, false, {"--cpu-list", "-c"});
  }
}

/// GOMP_CPU_AFFINITY=12-59, FLIB_CPU_AFFINITY=12,13, OMP_PLACES={12}:12.
static void addVariable(std::vector<NumberUse> &uses,
                        const JobSetting &setting) {
  if (!setting.value.known())
    return;
  StringRef value = setting.value.text;
  if (setting.name == "OMP_PLACES") {
    if (!value.consume_front("{"))
      return;
    // A place is {first:count:stride}; the first number tells the machine.
    value = value.take_until([](char c) { return c == '}' || c == ':'; });
  } else if (setting.name != "GOMP_CPU_AFFINITY" &&
             setting.name != "FLIB_CPU_AFFINITY") {
    return;
  }
  std::string list = value.str();
  std::replace(list.begin(), list.end(), ' ', ',');
  if (auto numbers = parseNumbers(list))
    uses.push_back({setting.line, setting.conditional, false,
                    shortened(writeSetting(setting, setting.name)),
                    setting.name, *numbers});
}

/// All of them, in the order of launches and settings.
static std::vector<NumberUse> findNumberUses(const JobContext &job) {
  std::vector<NumberUse> uses;
  for (const JobLaunch *launch : job.launches)
    for (const JobCommand &launcher : launch->launchers)
      addLauncher(uses, launcher, launch->line, launch->conditional);
  for (const JobSetting &setting : job.script.settings)
    addVariable(uses, setting);
  return uses;
}

/// The machine whose numbers these are; unknown if they fit both.
static Numbering guessNumbering(const NumberUse &use) {
  if (use.nodes)
    return use.numbers.min >= 4   ? Numbering::fx1000
           : use.numbers.max <= 3 ? Numbering::fx700
                                  : Numbering::unknown;
  return use.numbers.min < coresOfGroup ? Numbering::fx700
         : use.numbers.max >= 48        ? Numbering::fx1000
                                        : Numbering::unknown;
}

static const char *getRange(Numbering numbering, bool nodes) {
  if (numbering == Numbering::fx1000)
    return nodes ? "4 to 7" : "12 to 59";
  return nodes ? "0 to 3" : "0 to 47";
}

static const char *machineName(Numbering numbering) {
  return numbering == Numbering::fx1000 ? "FX1000 and Fugaku" : "FX700";
}

static void report(JobContext &job, const NumberUse &use, Numbering wanted,
                   const Twine &because) {
  const char *what = use.nodes ? "NUMA nodes" : "CPUs";
  Finding &finding = job.add(
      FindingId::mpg227, use.line, use.conditional,
      use.symbol + " names " + what + " that are not the job's: on " +
          machineName(wanted) + " it has " + getRange(wanted, use.nodes));
  finding.where.symbol = use.symbol;
  finding.sub = use.nodes ? "nodes" : "cpus";
  finding.evidence = (use.text + because).str();
  finding.setFix(
      std::string("Name ") + what + " " + getRange(wanted, use.nodes) +
      (use.nodes ? ", each with 8 GiB." : ", 12 for each core memory group."));
}

void mpg::checkCpuNumbers(JobContext &job) {
  bool known =
      job.target == Target::fugaku || job.numbering != Numbering::unknown;
  if (!job.wants(FindingId::mpg227) || !known)
    return;
  std::vector<NumberUse> uses = findNumberUses(job);
  if (job.numbering != Numbering::unknown) {
    for (const NumberUse &use : uses)
      if (Numbering here = guessNumbering(use);
          here != Numbering::unknown && here != job.numbering)
        report(job, use, job.numbering, "");
    return;
  }
  // The machine is not known: then the first numbers tell it.
  Numbering first = Numbering::unknown;
  unsigned firstLine = 0;
  for (const NumberUse &use : uses) {
    Numbering here = guessNumbering(use);
    if (first == Numbering::unknown) {
      first = here;
      firstLine = use.line;
    } else if (here != Numbering::unknown && here != first) {
      report(job, use, first,
             "; line " + Twine(firstLine) + " has numbers of " +
                 machineName(first));
    }
  }
}

static bool isBinder(const JobCommand &launcher) {
  StringRef name = baseName(launcher.words[0].text);
  return name == "numactl" || name == "taskset";
}

static bool startsRanks(const JobCommand &launcher) {
  StringRef name = baseName(launcher.words[0].text);
  return name == "mpiexec" || name == "mpirun" || name == "srun" ||
         name == "mpiexec.hydra";
}

/// "numactl -m 4 mpiexec ./app" binds mpiexec.
static void checkOrder(JobContext &job, const JobLaunch &launch) {
  const JobCommand *binder = nullptr;
  for (const JobCommand &launcher : launch.launchers) {
    if (launcher.words.empty())
      continue;
    if (isBinder(launcher)) {
      binder = &launcher;
      continue;
    }
    if (!binder || !startsRanks(launcher))
      continue;
    StringRef name = baseName(launcher.words[0].text);
    StringRef bound = baseName(binder->words[0].text);
    Finding &finding =
        job.add(FindingId::mpg237, launch.line, launch.conditional,
                bound + " is in front of " + name +
                    ": it binds that, not the processes that it starts");
    finding.sub = "order";
    finding.where.symbol = bound.str();
    finding.evidence = launchText(launch);
    finding.setFix(writeInstead(commandText(launcher.words) + " " +
                                commandText(binder->words) + " " +
                                launch.program.text));
    return;
  }
}

/// All threads of the node, and the memory of one group.
static void checkOneNode(JobContext &job, const JobLaunch &launch) {
  unsigned threads = launch.launch.threads.value_or(0);
  for (const JobCommand &launcher : launch.launchers) {
    if (launcher.words.empty() || baseName(launcher.words[0].text) != "numactl")
      continue;
    auto nodes = parseNumbers(optionValue(launcher, {"--membind", "-m"}));
    if (!nodes || nodes->count * coresOfGroup >= threads)
      continue;
    Finding &finding =
        job.add(FindingId::mpg237, launch.line, launch.conditional,
                std::to_string(threads) + " threads use the memory of " +
                    (nodes->count == 1 ? "one core memory group"
                                       : std::to_string(nodes->count) +
                                             " core memory groups"));
    finding.sub = "few-nodes";
    finding.where.symbol = "numactl";
    finding.evidence = launchText(launch);
    finding.cost = "The other groups read everything over the ring: published "
                   "for 48 threads, 93 GB/s instead of 804 GB/s.";
    finding.setFix(
        job.numbering == Numbering::fx700
            ? "Name all nodes (-m 0-3), or let each thread's node have it "
              "(-l)."
            : "Name all nodes (-m 4-7), or let each thread's node have it "
              "(-l).");
  }
}

/// "taskset -cp 12-23 $PID": the process has started already. The shell itself
/// is another matter: its children inherit it.
static void checkLate(JobContext &job, const JobCommand &command) {
  if (command.words.size() < 3)
    return;
  StringRef name = baseName(command.words[0].text);
  StringRef options = command.words[1].text;
  bool late = name == "migratepages" ||
              (name == "taskset" && options.starts_with("-") &&
               !options.starts_with("--") && options.contains('p'));
  if (!late || StringRef(command.words.back().text) == "$$")
    return;
  Finding &finding =
      job.add(FindingId::mpg237, command.line, command.conditional,
              name + " binds a process that already runs");
  finding.sub = "too-late";
  finding.where.symbol = name.str();
  finding.evidence = commandText(command.words);
  finding.setFix("Start the program bound: numactl -C CPUS -m NODES PROGRAM.");
}

void mpg::checkBinding(JobContext &job) {
  if (!job.wants(FindingId::mpg237))
    return;
  for (const JobLaunch *launch : job.launches) {
    checkOrder(job, *launch);
    if (job.target == Target::fugaku)
      checkOneNode(job, *launch);
  }
  for (const JobCommand &command : job.script.commands)
    checkLate(job, command);
}
