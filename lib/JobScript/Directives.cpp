// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobReader.h. Numbers that are ranges, lists or templates ("2-4",
// "@NODES@") are unknown, and no rule judges them.

#include "JobScript/JobReader.h"
#include "JobScript/Launchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mpg;

SchedulerWords mpg::getWords(Scheduler scheduler) {
  switch (scheduler) {
  case Scheduler::pjm:
    return {"#PJM", "PJM"};
  case Scheduler::slurm:
    return {"#SBATCH", "Slurm"};
  case Scheduler::pbs:
    return {"#PBS", "PBS"};
  case Scheduler::gridEngine:
    return {"#$", "Grid Engine"};
  case Scheduler::none:
    break;
  }
  return {"#", "none"};
}

static std::pair<Scheduler, StringRef> parseDirective(StringRef comment) {
  for (Scheduler scheduler : {Scheduler::pjm, Scheduler::slurm, Scheduler::pbs,
                              Scheduler::gridEngine})
    // A letter after the mark makes it prose: "#PBSPro needs ...".
    if (comment.consume_front(getWords(scheduler).mark) &&
        (comment.empty() || isSpace(comment[0]) || comment[0] == '-'))
      return {scheduler, comment};
  return {Scheduler::none, ""};
}

/// The words of a directive, quotes removed, up to a comment.
static std::vector<std::string> splitWords(StringRef text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = '\0';
  for (char c : text) {
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? '\0' : c;
      inWord = true;
    } else if (!quote && isSpace(c)) {
      if (inWord)
        words.push_back(std::move(word));
      word.clear();
      inWord = false;
    } else if (!quote && c == '#' && !inWord) {
      break;
    } else {
      word += c;
      inWord = true;
    }
  }
  if (inWord)
    words.push_back(std::move(word));
  return words;
}

/// "#$ -pe mpi 48": options are words, all that follows is their value.
static void addGridEngine(const std::vector<std::string> &words, unsigned line,
                          std::vector<JobDirective> &directives) {
  for (const std::string &word : words) {
    if (word[0] == '-' || directives.empty() ||
        directives.back().line != line) {
      directives.push_back({Scheduler::gridEngine, word, "", line});
      continue;
    }
    std::string &value = directives.back().value;
    value += (value.empty() ? "" : " ") + word;
  }
}

/// "#SBATCH hetjob": what follows is for other nodes.
static bool isHetJob(StringRef word) {
  return word == "hetjob" || word == "packjob";
}

static void addDirective(Scheduler scheduler, StringRef text, unsigned line,
                         std::vector<JobDirective> &directives) {
  std::vector<std::string> words = splitWords(text);
  if (scheduler == Scheduler::gridEngine)
    return addGridEngine(words, line, directives);
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (!word.starts_with("-") && !isHetJob(word))
      continue;
    JobDirective directive{scheduler, word.str(), "", line};
    bool isLong = word.starts_with("--") || isHetJob(word);
    size_t end = isLong ? word.find('=') : 2;
    if (end < word.size()) {
      directive.option = word.take_front(end).str();
      directive.value = word.drop_front(end + (isLong ? 1 : 0)).str();
    } else if (i + 1 < words.size() &&
               !StringRef(words[i + 1]).starts_with("-")) {
      directive.value = words[++i];
    }
    directives.push_back(std::move(directive));
  }
}

/// Nothing for a range, a list or a template: what depends on it is not judged.
static std::optional<unsigned> parseNumber(StringRef text) {
  unsigned number;
  if (text.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

static std::optional<unsigned> product(std::optional<unsigned> a,
                                       std::optional<unsigned> b) {
  if (!a || !b || uint64_t(*a) * *b > UINT32_MAX)
    return std::nullopt;
  return *a * *b;
}

/// "28Gi", "28gb", "4000" of \p unit bytes. \p si: "G" is 10^9, "Gi" is 2^30,
/// as PJM has it; for Slurm and PBS both are 2^30.
static std::optional<uint64_t> getMemory(StringRef text, uint64_t unit,
                                         bool si) {
  uint64_t number;
  if (text.consumeInteger(10, number))
    return std::nullopt;
  StringRef letters = "kmgtp";
  std::string suffix = text.lower();
  StringRef rest = suffix;
  if (!rest.empty()) {
    size_t power = letters.find(rest[0]);
    if (power != StringRef::npos)
      rest = rest.drop_front();
    bool binary = rest.consume_front("i") || !si;
    rest.consume_front("b");
    if (!rest.empty())
      return std::nullopt;
    unit = 1;
    for (size_t i = 0; power != StringRef::npos && i <= power; ++i)
      unit *= binary ? 1024 : 1000;
  }
  if (unit && number > UINT64_MAX / unit)
    return std::nullopt;
  return number * unit;
}

namespace {

/// The combined directives of one batch system.
struct Request {
  std::optional<unsigned> nodes, ranks, ranksPerNode, cpusPerTask, threads;
  std::optional<uint64_t> nodeMemory, cpuMemory, jobMemory;
  bool hasUnlikeNodes = false; ///< no fact holds for each of them
  std::string image;
};

} // namespace

/// "2x3x4:torus" is 24 nodes.
static std::optional<unsigned> pjmNodes(StringRef value) {
  std::optional<unsigned> nodes = 1;
  value = value.take_until([](char c) { return c == ':'; });
  while (!value.empty()) {
    auto [count, rest] = value.split('x');
    nodes = product(nodes, parseNumber(count));
    value = rest;
  }
  return nodes;
}

static void readPjm(const JobDirective &directive, Request &request) {
  bool isList = directive.option == "-L" || directive.option == "--rsc-list";
  if (!isList && directive.option != "--mpi")
    return;
  for (StringRef item : split(directive.value, ',')) {
    auto [key, value] = item.trim().split('=');
    if (isList && (key == "node" || key == "vnode"))
      request.nodes = pjmNodes(value);
    else if (isList && key == "node-mem")
      request.nodeMemory = getMemory(value, 1 << 20, /*si=*/true);
    else if (!isList && key == "proc")
      request.ranks = parseNumber(value);
    else if (!isList && key == "max-proc-per-node")
      request.ranksPerNode = parseNumber(value);
  }
}

static void readSlurm(const JobDirective &directive, Request &request) {
  StringRef option = directive.option, value = directive.value;
  if (isHetJob(option)) {
    request = Request();
    request.hasUnlikeNodes = true;
  }
  if (request.hasUnlikeNodes)
    return;
  if (option == "-N" || option == "--nodes")
    request.nodes = parseNumber(value);
  else if (option == "-n" || option == "--ntasks")
    request.ranks = parseNumber(value);
  else if (option == "--ntasks-per-node" || option == "--tasks-per-node")
    request.ranksPerNode = parseNumber(value);
  else if (option == "-c" || option == "--cpus-per-task")
    request.cpusPerTask = parseNumber(value);
  else if (option == "--mem")
    request.nodeMemory = getMemory(value, 1 << 20, /*si=*/false);
  else if (option == "--mem-per-cpu")
    request.cpuMemory = getMemory(value, 1 << 20, /*si=*/false);
  else if (isSlurmImage(option.ltrim('-')))
    request.image = value.str();
  if (request.nodeMemory == 0)
    request.nodeMemory.reset(); // all that the node has
}

/// "2:ncpus=48:mpiprocs=4:mem=28gb", one kind of node.
static void readPbsChunk(StringRef chunk, Request &request) {
  auto [count, resources] = chunk.split(':');
  request.nodes = parseNumber(count);
  if (!request.nodes) { // "nodes=host1", or "select=ncpus=4"
    request.nodes = 1;
    resources = chunk;
  }
  for (StringRef item : split(resources, ':')) {
    auto [key, value] = item.split('=');
    if (key == "mpiprocs" || key == "ppn")
      request.ranksPerNode = parseNumber(value);
    else if (key == "ompthreads")
      request.threads = request.cpusPerTask = parseNumber(value);
    else if (key == "mem")
      request.nodeMemory = getMemory(value, 1, /*si=*/false);
  }
}

static void readPbs(const JobDirective &directive, Request &request) {
  if (directive.option != "-l")
    return;
  for (StringRef item : split(directive.value, ',')) {
    // The value of select has '=' in it: the first one ends the key.
    auto [key, value] = item.split('=');
    if (key == "mem")
      request.jobMemory = getMemory(value, 1, /*si=*/false);
    if (key != "select" && key != "nodes")
      continue;
    if (value.contains('+')) {
      request = Request();
      request.hasUnlikeNodes = true;
    } else {
      readPbsChunk(value, request);
    }
  }
}

static void readGridEngine(const JobDirective &directive, Request &request) {
  if (directive.option == "-pe")
    request.ranks = parseNumber(StringRef(directive.value).rsplit(' ').second);
}

static void readDirective(const JobDirective &directive, Request &request) {
  switch (directive.scheduler) {
  case Scheduler::pjm:
    return readPjm(directive, request);
  case Scheduler::slurm:
    return readSlurm(directive, request);
  case Scheduler::pbs:
    return readPbs(directive, request);
  case Scheduler::gridEngine:
    return readGridEngine(directive, request);
  case Scheduler::none:
    return;
  }
}

/// Two of nodes, ranks and ranks on a node give the third. The fullest node
/// counts, where ranks do not fill them evenly.
static void complete(Request &request) {
  if (!request.ranks)
    request.ranks = product(request.nodes, request.ranksPerNode);
  if (!request.ranksPerNode && request.ranks && request.nodes && *request.nodes)
    request.ranksPerNode = (*request.ranks - 1) / *request.nodes + 1;
  std::optional<unsigned> cpus =
      request.ranksPerNode
          ? product(request.ranksPerNode, request.cpusPerTask.value_or(1))
          : std::nullopt;
  if (!request.nodeMemory && request.jobMemory && !request.hasUnlikeNodes)
    request.nodeMemory =
        *request.jobMemory / std::max(request.nodes.value_or(1), 1u);
  if (!request.nodeMemory && request.cpuMemory && cpus &&
      *request.cpuMemory <= UINT64_MAX / std::max(*cpus, 1u))
    request.nodeMemory = *request.cpuMemory * *cpus;
}

/// "-x A=b", "--export=ALL,A=b", "-v A=b,C=d": adds each A=b.
static void addListed(const JobDirective &directive,
                      std::vector<DirectiveVariable> &variables) {
  bool isList =
      StringSwitch<bool>(directive.option)
          .Case("-x", directive.scheduler == Scheduler::pjm)
          .Case("--export", directive.scheduler == Scheduler::slurm)
          .Case("-v", directive.scheduler == Scheduler::pbs ||
                          directive.scheduler == Scheduler::gridEngine)
          .Default(false);
  if (!isList)
    return;
  StringRef list = directive.value;
  // sbatch hands it to srun (its manual page, read).
  if (directive.scheduler == Scheduler::slurm && !isSlurmAll(list))
    variables.push_back({"SLURM_EXPORT_ENV", list.str(), directive.line, ""});
  for (StringRef item : split(list, ',')) {
    size_t length = shellNameLength(item);
    if (length && item.substr(length).starts_with("="))
      variables.push_back(
          {item.take_front(length).str(), item.drop_front(length + 1).str(),
           directive.line,
           (getWords(directive.scheduler).mark + " " + directive.option)
               .str()});
  }
}

/// Variables that a batch system derives from its request.
static constexpr struct {
  Scheduler scheduler;
  const char *name;
  std::optional<unsigned> Request::*value;
} derivedVariables[] = {
    {Scheduler::pjm, "PJM_NODE", &Request::nodes},
    {Scheduler::pjm, "PJM_MPI_PROC", &Request::ranks},
    {Scheduler::pjm, "PJM_PROC_BY_NODE", &Request::ranksPerNode},
    {Scheduler::slurm, "SLURM_NNODES", &Request::nodes},
    {Scheduler::slurm, "SLURM_JOB_NUM_NODES", &Request::nodes},
    {Scheduler::slurm, "SLURM_NTASKS", &Request::ranks},
    {Scheduler::slurm, "SLURM_NPROCS", &Request::ranks},
    {Scheduler::slurm, "SLURM_CPUS_PER_TASK", &Request::cpusPerTask},
    {Scheduler::pbs, "PBS_NUM_NODES", &Request::nodes},
    {Scheduler::pbs, "PBS_NUM_PPN", &Request::ranksPerNode},
    {Scheduler::pbs, "PBS_NP", &Request::ranks},
    {Scheduler::pbs, "OMP_NUM_THREADS", &Request::threads},
    {Scheduler::gridEngine, "NSLOTS", &Request::ranks},
};

static void addDerived(Scheduler scheduler, const Request &request,
                       unsigned line,
                       std::vector<DirectiveVariable> &variables) {
  for (const auto &row : derivedVariables)
    if (row.scheduler == scheduler && request.*row.value)
      variables.push_back({row.name, utostr(*(request.*row.value)), line, ""});
}

/// Slurm and PBS end their reading with the first command.
static bool isTooLate(Scheduler scheduler, const ShellComment &comment) {
  return comment.afterCommand &&
         (scheduler == Scheduler::slurm || scheduler == Scheduler::pbs);
}

std::vector<DirectiveVariable>
mpg::readDirectives(ArrayRef<ShellComment> comments, JobScript &script) {
  std::vector<unsigned> late;
  for (const ShellComment &comment : comments) {
    auto [scheduler, text] = parseDirective(comment.text);
    if (isTooLate(scheduler, comment))
      late.push_back(comment.line);
    else if (scheduler != Scheduler::none)
      addDirective(scheduler, text, comment.line, script.directives);
  }
  if (!late.empty())
    script.problems.push_back(
        {late[0], (late.size() == 1 ? "this directive has"
                                    : utostr(late.size()) +
                                          " directives from here on have") +
                      lateDirective.str()});
  std::vector<DirectiveVariable> variables;
  if (script.directives.empty())
    return variables;
  // A script for two batch systems runs under one; take the first.
  script.scheduler = script.directives.front().scheduler;
  Request request;
  unsigned line = script.directives.front().line;
  for (const JobDirective &directive : script.directives) {
    if (directive.scheduler != script.scheduler)
      continue;
    readDirective(directive, request);
    addListed(directive, variables);
    line = directive.line;
  }
  std::optional<unsigned> perNode = request.ranksPerNode;
  if (script.scheduler == Scheduler::slurm && perNode)
    variables.push_back({"SLURM_NTASKS_PER_NODE", utostr(*perNode), line, ""});
  complete(request);
  addDerived(script.scheduler, request, line, variables);
  script.nodes = request.nodes;
  script.ranks = request.ranks;
  script.ranksPerNode = request.ranksPerNode;
  script.nodeMemoryBytes = request.nodeMemory;
  script.cpusPerTask = request.cpusPerTask;
  script.image = request.image;
  return variables;
}
