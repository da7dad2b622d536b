// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Advice/RecommendRules.h"
#include "Audit/ClosureFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// HW:a64fx-cmgs
static constexpr unsigned coresPerGroup = 12, groups = 4;

static StringRef fileName(StringRef path) { return sys::path::filename(path); }

bool Situation::has(FindingId id, Severity least) const {
  return any_of(program.findings, [&](const Finding &finding) {
    return finding.id == id && finding.severity >= least;
  });
}

bool Situation::needs(StringRef libraryPrefix) const {
  auto matches = [&](StringRef path) {
    return fileName(path).starts_with(libraryPrefix);
  };
  if (program.facts.dynamic && any_of(program.facts.dynamic->needed, matches))
    return true;
  if (program.closure &&
      any_of(program.closure->libraries,
             [&](const ClosureEntry &entry) { return matches(entry.name); }))
    return true;
  SmallVector<StringRef, 4> preloads;
  environment.valueOf("LD_PRELOAD").split(preloads, ':', -1, false);
  return any_of(preloads, matches);
}

bool Situation::isProgram() const {
  switch (program.kind) {
  case ElfKind::exec:
  case ElfKind::staticExec:
  case ElfKind::pie:
  case ElfKind::staticPie:
    return true;
  default:
    return false;
  }
}

unsigned Situation::threadsOrMost() const {
  if (threads)
    return std::max(*threads, 1u);
  if (reach == ThreadReach::oneThread)
    return 1;
  return std::max(coresPerGroup * groups / std::max(ranks(), 1u), 1u);
}

bool Situation::isSet(StringRef name, StringRef value) const {
  const Variable *variable = environment.find(name);
  return variable && variable->known && variable->value == value;
}

const JobCommand *Situation::launcher(StringRef name) const {
  if (!launch)
    return nullptr;
  for (const JobCommand &command : launch->launchers)
    if (!command.words.empty() && fileName(command.words[0].text) == name)
      return &command;
  return nullptr;
}

std::string Situation::foreignMalloc() const {
  SmallVector<StringRef, 4> preloads;
  environment.valueOf("LD_PRELOAD").split(preloads, ':', -1, false);
  for (StringRef preload : preloads)
    if (isAllocatorName(fileName(preload)))
      return "LD_PRELOAD=" + preload.str();
  if (has(FindingId::mpg113, Severity::warning))
    return "its own malloc (MPG113)";
  return "";
}

bool Situation::pagesOffByChoice() const {
  return isSet("XOS_MMM_L_HPAGE_TYPE", "none") &&
         (!foreignMalloc().empty() || launcher("valgrind"));
}

uint64_t Situation::startupBytes() const {
  if (!program.facts.layout)
    return 0;
  return SaturatingMultiply<uint64_t>(program.facts.layout->startupPeakBytes,
                                      ranks());
}

uint64_t Situation::staticBytes() const {
  if (!program.facts.layout)
    return 0;
  return SaturatingMultiply<uint64_t>(program.facts.layout->hugeBytes, ranks());
}

bool Situation::startupTooLarge() const {
  // Without a number of processes the finding knows as much: it asks whether
  // one fits, or the usual four.
  if (!ranksPerNode && has(FindingId::mpg140))
    return true;
  return memoryBytes && startupBytes() > *memoryBytes;
}

bool Situation::memoryIsTight() const {
  return memoryBytes && staticBytes() > *memoryBytes / 2;
}

/// The variables at the start of the program; without one, those that the
/// script sets in any case.
static Environment collectEnvironment(const JobScript *script,
                                      const JobLaunch *launch) {
  if (launch)
    return launch->launch.environment;
  Environment environment;
  if (!script)
    return environment;
  for (const JobSetting &setting : script->settings) {
    if (setting.conditional)
      continue;
    if (setting.how == "unset" || setting.how.empty())
      environment.unset(setting.name);
    else
      environment.set(setting.name, {setting.value.text, setting.value.known(),
                                     setting.line});
  }
  return environment;
}

/// numactl --cpunodebind=4, also as -N4 and in two words.
static bool boundToOneNode(const Situation &situation) {
  const JobCommand *numactl = situation.launcher("numactl");
  if (!numactl)
    return false;
  ArrayRef<JobWord> words = numactl->words;
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef text = words[i].text;
    if (!text.consume_front("--cpunodebind") && !text.consume_front("-N"))
      continue;
    text.consume_front("=");
    if (text.empty() && i + 1 < words.size())
      text = words[i + 1].text;
    unsigned node;
    return !text.getAsInteger(10, node);
  }
  return false;
}

static bool hasOpenMp(const Situation &situation) {
  if (situation.has(FindingId::mpg190))
    return true;
  for (StringRef name : {"libgomp.so", "libomp.so", "libiomp5.so", "libfjomp"})
    if (situation.needs(name))
      return true;
  // A static program may hold one, and so may a file that was not read.
  return !situation.program.facts.dynamic;
}

/// Where the number of threads is not known: why, and what is assumed.
static ThreadReach guessReach(Situation &situation) {
  const Variable *variable = situation.environment.find("OMP_NUM_THREADS");
  std::string why = "threads unknown: ";
  unsigned number;
  if (!variable)
    why += "OMP_NUM_THREADS is not set";
  else if (!StringRef(variable->value).getAsInteger(10, number))
    why += "OMP_NUM_THREADS is " + variable->value + " in a branch only";
  else
    why += "OMP_NUM_THREADS is " + variable->value;
  if (!variable && !hasOpenMp(situation)) {
    situation.unknown.push_back(
        why + " and no OpenMP library is needed; taken as one thread");
    return ThreadReach::oneThread;
  }
  // mpiexec of Fujitsu, and any other that binds, gives each of four
  // processes a group of its own, and OpenMP takes the cores it finds.
  if (situation.coreGroups && situation.ranksPerNode.value_or(0) >= groups) {
    situation.unknown.push_back(
        why + "; taken as one core memory group, as there are " +
        std::to_string(*situation.ranksPerNode) + " processes a node");
    return ThreadReach::oneNode;
  }
  situation.unknown.push_back(why + (situation.coreGroups
                                         ? "; taken as more than one core "
                                           "memory group"
                                         : "; taken as more than one NUMA "
                                           "node"));
  return ThreadReach::severalNodes;
}

static ThreadReach decideReach(Situation &situation) {
  if (!situation.threads)
    return boundToOneNode(situation) ? ThreadReach::oneNode
                                     : guessReach(situation);
  unsigned threads = *situation.threads;
  if (threads <= 1)
    return ThreadReach::oneThread;
  // More threads than a group has cores cannot be on one, whatever else is
  // said; elsewhere nobody knows how many cores a node has.
  if (situation.coreGroups && threads > coresPerGroup)
    return ThreadReach::severalNodes;
  if (boundToOneNode(situation) ||
      (situation.coreGroups && situation.ranksPerNode.value_or(0) >= groups))
    return ThreadReach::oneNode;
  if (!situation.coreGroups || situation.environment.valueOf("OMP_PROC_BIND")
                                   .equals_insensitive("spread"))
    return ThreadReach::severalNodes;
  return ThreadReach::oneNode;
}

/// OMP_NUM_THREADS=48, or the outer one of 4,12.
static std::optional<unsigned> threadsOf(const Environment &environment) {
  StringRef text = environment.valueOf("OMP_NUM_THREADS");
  unsigned number;
  if (text.split(',').first.trim().getAsInteger(10, number) || number == 0)
    return std::nullopt;
  return number;
}

Situation mpg::collectSituation(const FileReport &program,
                                const JobScript *script,
                                const JobLaunch *launch,
                                std::optional<uint64_t> memoryBytes) {
  Situation situation = {program,
                         script,
                         launch,
                         collectEnvironment(script, launch),
                         program.target,
                         program.target == Target::fugaku,
                         std::nullopt,
                         std::nullopt,
                         ThreadReach::oneThread,
                         {},
                         memoryBytes};
  situation.threads = threadsOf(situation.environment);
  if (launch) {
    if (!situation.threads)
      situation.threads = launch->launch.threads;
    situation.ranksPerNode = launch->launch.ranksPerNode;
  }
  if (script) {
    if (!situation.ranksPerNode)
      situation.ranksPerNode = script->ranksPerNode;
    // OpenMP takes the cores that the batch system gives a process.
    if (!situation.threads && !situation.environment.find("OMP_NUM_THREADS"))
      situation.threads = script->cpusPerTask;
    if (!situation.memoryBytes)
      situation.memoryBytes = script->nodeMemoryBytes;
  }
  // HW:a64fx-node-memory
  if (!situation.memoryBytes && situation.coreGroups)
    situation.memoryBytes = uint64_t(28) << 30;
  situation.reach = decideReach(situation);
  return situation;
}

static std::string plural(unsigned count, StringRef one, StringRef many) {
  return std::to_string(count) + " " + (count == 1 ? one : many).str();
}

std::string mpg::describe(const Situation &situation) {
  std::string text = "target " + targetName(situation.target).str();
  if (situation.threads)
    text +=
        ", " + plural(*situation.threads, "thread", "threads") + " a process";
  if (situation.ranksPerNode)
    text += ", " + plural(*situation.ranksPerNode, "process", "processes") +
            " a node";
  if (situation.reach == ThreadReach::severalNodes)
    text += situation.coreGroups ? ": more than one core memory group (CMG)"
                                 : ": perhaps more than one NUMA node";
  else if (situation.reach == ThreadReach::oneNode && situation.coreGroups)
    text += ": one core memory group (CMG)";
  return text;
}
