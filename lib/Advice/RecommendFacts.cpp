// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RecommendRules.h. How far the threads of a process reach decides most: it
// is read from the launcher and from OpenMP's variables, and where neither says
// it, it is assumed and named as unknown.

#include "Advice/RecommendRules.h"
#include "Audit/ClosureFacts.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// HW:a64fx-cmgs
static constexpr unsigned coresPerGroup = 12, groups = 4;

static StringRef fileName(StringRef path) { return sys::path::filename(path); }

bool AdviceContext::needs(StringRef libraryPrefix) const {
  auto matches = [&](StringRef path) {
    return fileName(path).starts_with(libraryPrefix);
  };
  if (program.facts.dynamic && any_of(program.facts.dynamic->needed, matches))
    return true;
  if (program.closure &&
      any_of(program.closure->libraries,
             [&](const ClosureEntry &entry) { return matches(entry.name); }))
    return true;
  return any_of(splitPreload(environment.getValue("LD_PRELOAD")), matches);
}

bool AdviceContext::isProgram() const {
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

unsigned AdviceContext::threadsOrMax() const {
  if (threads)
    return std::max(*threads, 1u);
  if (reach == ThreadReach::oneThread)
    return 1;
  return std::max(coresPerGroup * groups / std::max(ranks(), 1u), 1u);
}

bool AdviceContext::isSet(StringRef name, StringRef value) const {
  const Variable *variable = environment.find(name);
  return variable && variable->known && variable->value == value;
}

const JobCommand *AdviceContext::launcher(StringRef name) const {
  if (!launch)
    return nullptr;
  for (const JobCommand &command : launch->launchers)
    if (!command.words.empty() && fileName(command.words[0].text) == name)
      return &command;
  return nullptr;
}

std::string AdviceContext::foreignMalloc() const {
  // mpgrun puts libmpg in front of the others.
  if (!launch || !launch->launch.underMpgrun)
    for (StringRef preload : splitPreload(environment.getValue("LD_PRELOAD"))) {
      if (isLibmpgName(fileName(preload)))
        break;
      if (isAllocatorName(fileName(preload)))
        return "LD_PRELOAD=" + preload.str();
    }
  if (program.has(FindingId::mpg113, Severity::warning))
    return "its own malloc (MPG113)";
  return "";
}

bool AdviceContext::pagesOffByChoice() const {
  return isSet("XOS_MMM_L_HPAGE_TYPE", "none") &&
         (!foreignMalloc().empty() || launcher("valgrind"));
}

uint64_t AdviceContext::startupBytes() const {
  if (!program.facts.layout)
    return 0;
  return SaturatingMultiply<uint64_t>(program.facts.layout->startupPeakBytes,
                                      ranks());
}

uint64_t AdviceContext::staticBytes() const {
  if (!program.facts.layout)
    return 0;
  return SaturatingMultiply<uint64_t>(program.facts.layout->hugeBytes, ranks());
}

bool AdviceContext::startupTooLarge() const {
  // If the number of processes is unknown, MPG140 says whether one process
  // fits, or the usual four.
  if (!ranksPerNode && program.has(FindingId::mpg140))
    return true;
  return memoryBytes && startupBytes() > *memoryBytes;
}

bool AdviceContext::memoryIsTight() const {
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
static bool boundToOneNode(const AdviceContext &context) {
  const JobCommand *numactl = context.launcher("numactl");
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

/// Go's threads read no OMP_ variable, and its scheduler moves work between
/// them.
static bool isGo(const AdviceContext &context) {
  const MemoryOwner *owner = context.program.memory.owner;
  return owner && owner->id == "go" && !context.program.has(FindingId::mpg190);
}

static bool hasOpenMp(const AdviceContext &context) {
  if (context.program.has(FindingId::mpg190))
    return true;
  for (StringRef name : {"libgomp.so", "libomp.so", "libiomp5.so", "libfjomp"})
    if (context.needs(name))
      return true;
  // A static program may contain OpenMP's runtime. So may a file that was not
  // read.
  return !context.program.facts.dynamic;
}

/// Where the number of threads is not known: why, and what is assumed.
static ThreadReach guessReach(AdviceContext &context) {
  const Variable *variable = context.environment.find("OMP_NUM_THREADS");
  std::string why = "threads unknown: ";
  unsigned number;
  if (!variable)
    why += "OMP_NUM_THREADS is not set";
  else if (!StringRef(variable->value).getAsInteger(10, number))
    why += "OMP_NUM_THREADS is " + variable->value + " in a branch only";
  else
    why += "OMP_NUM_THREADS is " + variable->value;
  if (!variable && !hasOpenMp(context) && !context.hasMeasuredThreads()) {
    context.unknown.push_back(
        why + " and no OpenMP library is needed; taken as one thread");
    return ThreadReach::oneThread;
  }
  // Fujitsu's mpiexec, like any other that binds, gives each of four processes
  // one whole group, and OpenMP uses the cores it finds.
  if (context.coreGroups && context.ranksPerNode.value_or(0) >= groups) {
    context.unknown.push_back(
        why + "; taken as one core memory group, as there are " +
        std::to_string(*context.ranksPerNode) + " processes a node");
    return ThreadReach::oneNode;
  }
  context.unknown.push_back(why + (context.coreGroups
                                       ? "; taken as more than one core "
                                         "memory group"
                                       : "; taken as more than one NUMA "
                                         "node"));
  return ThreadReach::severalNodes;
}

static ThreadReach decideReach(AdviceContext &context) {
  if (isGo(context))
    return ThreadReach::oneThread;
  if (!context.threads)
    return boundToOneNode(context) ? ThreadReach::oneNode : guessReach(context);
  unsigned threads = *context.threads;
  if (threads <= 1)
    return ThreadReach::oneThread;
  // More threads than a group has cores cannot be on one, whatever the script
  // claims. Elsewhere the number of cores of a node is unknown.
  if (context.coreGroups && threads > coresPerGroup)
    return ThreadReach::severalNodes;
  if (boundToOneNode(context) ||
      (context.coreGroups && context.ranksPerNode.value_or(0) >= groups))
    return ThreadReach::oneNode;
  if (!context.coreGroups || context.environment.getValue("OMP_PROC_BIND")
                                 .equals_insensitive("spread"))
    return ThreadReach::severalNodes;
  return ThreadReach::oneNode;
}

AdviceContext mpg::collectContext(const FileReport &program,
                                  const JobScript *script,
                                  const JobLaunch *launch,
                                  std::optional<uint64_t> memoryBytes,
                                  ArrayRef<const Measurement *> measured) {
  AdviceContext context = {program,
                           script,
                           launch,
                           collectEnvironment(script, launch),
                           program.target,
                           program.target == Target::fugaku,
                           std::nullopt,
                           std::nullopt,
                           ThreadReach::oneThread,
                           {},
                           memoryBytes,
                           measured};
  context.threads = context.environment.threads();
  if (launch) {
    if (!context.threads)
      context.threads = launch->launch.threads;
    context.ranksPerNode = launch->launch.ranksPerNode;
  }
  if (script) {
    if (!context.ranksPerNode)
      context.ranksPerNode = script->ranksPerNode;
    // OpenMP takes the cores that the batch system gives a process.
    if (!context.threads && !context.environment.find("OMP_NUM_THREADS"))
      context.threads = script->cpusPerTask;
    if (!context.memoryBytes)
      context.memoryBytes = script->nodeMemoryBytes;
  }
  // HW:a64fx-node-memory
  if (!context.memoryBytes && context.coreGroups)
    context.memoryBytes = uint64_t(28) << 30;
  if (isGo(context))
    context.threads = std::nullopt;
  context.reach = decideReach(context);
  // A measurement is stronger than a guess from the number of threads.
  if (context.isLocal() == false)
    context.reach = ThreadReach::severalNodes;
  return context;
}

std::string mpg::describe(const AdviceContext &context) {
  std::string text = "target " + targetName(context.target).str();
  if (context.threads)
    text += ", " + countWord(*context.threads, "thread") + " a process";
  if (context.ranksPerNode)
    text += ", " + countWord(*context.ranksPerNode, "process") + " a node";
  if (context.reach == ThreadReach::severalNodes)
    text += context.coreGroups ? ": more than one core memory group (CMG)"
                               : ": perhaps more than one NUMA node";
  else if (context.reach == ThreadReach::oneNode && context.coreGroups)
    text += ": one core memory group (CMG)";
  return text;
}
