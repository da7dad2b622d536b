// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// numa: latency and bandwidth from the CPUs of each node to the memory of each.
// docs/mpgbench-experiments.md says how, and what to expect.

#include "Node/NodeMachine.h"
#include "mpg/kernels.h"
#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <cstring>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t fullBytes = 512 << 20, quickBytes = 64 << 20;
static constexpr unsigned repeats = 3;
static constexpr uint64_t seed = 20236;
static constexpr int64_t loads = 64 * 1024;
static constexpr const char *interleaved = "interleave";

// Plan

static bool hasCpus(const NumaNode &node) {
  return node.cpus && !(*node.cpus).empty();
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t bytes = sizeThatFits(context, quickBytes, fullBytes);
  std::vector<const NumaNode *> withMemory = context.node.numa.usable();
  std::vector<std::string> memories;
  for (const NumaNode *node : withMemory)
    memories.push_back(std::to_string(node->id));
  if (memories.size() > 1)
    memories.push_back(interleaved);
  std::vector<PlannedPoint> points;
  // Base pages: those of a pool may all lie on one node.
  PageKind kind = pageKinds(context.node).front();
  for (const NumaNode &node : context.node.numa.nodes) {
    if (!hasCpus(node))
      continue;
    for (const std::string &memory : memories) {
      points.push_back({{{"cpus", std::to_string(node.id)},
                         {"memory", memory},
                         {"pages", kind.name},
                         {"bytes", sizeName(bytes)}},
                        whyNotNow(context.node, kind, bytes)});
    }
  }
  return points;
}

// Worker

/// Binds this process to those of its CPUs that node \p id has; returns how
/// many these are.
static unsigned bindToCpus(const NumaFacts &numa, unsigned id,
                           std::string &error) {
  std::vector<uint64_t> mask(1 << 10);
  unsigned count = 0;
  for (const NumaNode &node : numa.nodes)
    if (node.id == id && hasCpus(node))
      for (unsigned cpu : *node.cpus)
        if (cpu < mask.size() * 64) {
          mask[cpu / 64] |= uint64_t(1) << cpu % 64;
          ++count;
        }
  if (sched_setaffinity(0, mask.size() * 8,
                        reinterpret_cast<cpu_set_t *>(mask.data())) != 0)
    error = "node " + std::to_string(id) +
            " has no CPU for this process: " + strerror(errno);
  return count;
}

/// New memory of this process comes from node \p memory, or from all in turn.
static void bindToMemory(const NumaFacts &numa, StringRef memory,
                         std::string &error) {
  constexpr int mpolBind = 2, mpolInterleave = 3; // linux/mempolicy.h
  std::vector<unsigned long> mask(1 << 6);
  constexpr unsigned wordBits = 8 * sizeof(unsigned long);
  bool isInterleaved = memory == interleaved, isKnown = false;
  for (const NumaNode *node : numa.usable())
    if (isInterleaved || memory == std::to_string(node->id)) {
      mask[node->id / wordBits] |= 1UL << node->id % wordBits;
      isKnown = true;
    }
  if (!isKnown)
    error = "memory=" + memory.str() +
            ": not a node with memory that this process may use";
  else if (syscall(SYS_set_mempolicy, isInterleaved ? mpolInterleave : mpolBind,
                   mask.data(), mask.size() * wordBits) != 0)
    error = "memory of node " + memory.str() +
            " cannot be asked for: " + strerror(errno);
}

/// The share of \p memory that lies on node \p wanted, by some of its pages; -1
/// where the kernel does not tell.
static double shareOn(const BenchMemory &memory, int wanted) {
  constexpr unsigned samples = 256;
  std::vector<void *> pages;
  for (unsigned i = 0; i < samples; ++i)
    pages.push_back(memory.as<char>() + memory.bytes() / samples * i);
  std::vector<int> nodes(samples, -1);
  if (syscall(SYS_move_pages, 0, samples, pages.data(), nullptr, nodes.data(),
              0) != 0)
    return -1;
  return double(llvm::count(nodes, wanted)) / samples;
}

static void measureMemory(const BenchMemory &memory, unsigned threads,
                          StringRef where, WorkerResult &result) {
  auto *blocks = memory.as<Block>();
  uint64_t count = memory.bytes() / sizeof(Block);
  touchBlocks(blocks, blocks + count);
  unsigned node = 0;
  double share = where.getAsInteger(10, node) ? -1 : shareOn(memory, int(node));
  if (share >= 0 && share < 0.9) {
    result.error = formatv("only {0:f0} % of the pages lie on node {1}",
                           100 * share, node);
    return;
  }
  measureRepeats(result, repeats, [&] {
    return runTogether(threads, [&](unsigned thread) {
      Part part = getPart(count, 1, thread, threads);
      keep(readBlocks(blocks + part.begin, blocks + part.end));
    });
  });
  result.figures["read_gbs"] = double(memory.bytes()) / result.value * 1e-9;
  void *cell = mpg_chase_fill(blocks, memory.bytes(), sizeof(Block), seed);
  measureRepeats(result, repeats, [&] {
    return runTogether(1, [&](unsigned) { cell = mpg_chase(cell, loads); });
  });
  result.value = result.value * 1e9 / double(loads);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", maxBytes, result.error);
  unsigned node = 0;
  if (parameter(parameters, "cpus").getAsInteger(10, node) &&
      result.error.empty())
    result.error =
        "cpus=" + parameter(parameters, "cpus").str() + ": not a node";
  StringRef memoryNode = parameter(parameters, "memory");
  NumaFacts numa = readNumaFacts(SysTree("/"));
  unsigned threads = 0;
  if (result.error.empty())
    threads = bindToCpus(numa, node, result.error);
  if (result.error.empty())
    bindToMemory(numa, memoryNode, result.error);
  measureOn(parameters, bytes, result, [&](const BenchMemory &memory) {
    measureMemory(memory, threads, memoryNode, result);
  });
  return result;
}

// Conclusions

static void conclude(ExperimentResult &result) {
  std::vector<std::string> nodes = getValues(result, "cpus");
  if (nodes.size() < 2)
    return;
  for (const std::string &cpus : nodes)
    for (const std::string &memory : getValues(result, "memory"))
      if (memory != cpus)
        result.conclusions.push_back(compareRounds(
            result, findPoint(result, {{"cpus", cpus}, {"memory", memory}}),
            findPoint(result, {{"cpus", cpus}, {"memory", cpus}}),
            "from node " + cpus + ", own memory against " +
                (memory == interleaved ? "all nodes' in turn"
                                       : "that of node " + memory)));
}

const Experiment mpg::numaExperiment = {
    {"numa",
     "latency and bandwidth from the CPUs of each NUMA node to each memory",
     "ns",
     /*higherIsBetter=*/false,
     "Time of one load, one in each 256 bytes in random order. read_gbs: all "
     "CPUs of the node read the same memory.",
     "memory", "cpus",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude};
