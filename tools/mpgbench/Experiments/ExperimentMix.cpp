// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mix: what memory moves when a share of the accesses are writes.
// docs/mpgbench-experiments.md says how, and what to expect.

#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t fullBytes = 1 << 30, quickBytes = 128 << 20;
static constexpr unsigned repeats = 5;
/// Of so many neighbouring blocks some are read and the others written.
static constexpr unsigned group = 4;

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t bytes = sizeThatFits(context, quickBytes, fullBytes);
  std::vector<unsigned> shares = {100, 75, 50, 25, 0};
  std::vector<unsigned> threads = threadCounts(context);
  if (context.quick) {
    shares = {100, 50, 0};
    threads = {threads.back()};
  }
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : baseAndLarge(context, bytes))
    for (unsigned count : threads)
      for (unsigned reads : shares)
        points.push_back({{{"pages", kind.name},
                           {"threads", std::to_string(count)},
                           {"reads", std::to_string(reads) + "%"},
                           {"bytes", sizeName(bytes)}},
                          whyNotNow(context.node, kind, bytes)});
  return points;
}

/// pre: [begin, end) are whole groups.
template <unsigned reads> static void mixBlocks(Block *begin, Block *end) {
  uint64_t sum = 0;
  for (Block *at = begin; at < end; at += group) {
    if (reads > 0)
      sum += readBlocks(at, at + reads);
    for (unsigned i = reads; i < group; ++i)
      std::fill(std::begin(at[i].words), std::end(at[i].words),
                uint64_t(at - begin));
  }
  keep(sum);
}

using MixFunction = void (*)(Block *begin, Block *end);

/// Null if \p reads is not one of the mixes.
static MixFunction findMix(StringRef reads) {
  const std::pair<StringRef, MixFunction> all[] = {
      {"0%", mixBlocks<0>},
      {"25%", mixBlocks<1>},
      {"50%", mixBlocks<2>},
      {"75%", mixBlocks<3>},
      // A stream without the border of a group.
      {"100%", [](Block *begin, Block *end) { keep(readBlocks(begin, end)); }}};
  for (const auto &[name, function] : all)
    if (name == reads)
      return function;
  return nullptr;
}

static void measureMix(const BenchMemory &memory, MixFunction mix,
                       double readShare, unsigned threads,
                       WorkerResult &result) {
  auto *blocks = memory.as<Block>();
  uint64_t count = memory.bytes() / sizeof(Block) / group * group;
  auto onParts = [&](function_ref<void(Block *, Block *)> work) {
    return runTogether(threads, [&](unsigned thread) {
      Part part = getPart(count, group, thread, threads);
      work(blocks + part.begin, blocks + part.end);
    });
  };
  onParts(touchBlocks);
  measureRepeats(result, repeats, [&] { return onParts(mix); });
  if (result.value <= 0)
    return;
  result.value = double(count * sizeof(Block)) / result.value * 1e-9;
  result.figures["bus_gbs"] = result.value * (2 - readShare);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", maxBytes, result.error);
  unsigned threads = readThreads(parameters, result.error);
  StringRef reads = parameter(parameters, "reads");
  MixFunction mix = findMix(reads);
  unsigned percent = 0;
  if ((!mix || reads.drop_back().getAsInteger(10, percent)) &&
      result.error.empty())
    result.error =
        "reads=" + reads.str() + ": not one of 0%, 25%, 50%, 75%, 100%";
  measureOn(parameters, bytes, result, [&](const BenchMemory &memory) {
    measureMix(memory, mix, percent / 100.0, threads, result);
  });
  return result;
}

static void conclude(ExperimentResult &result) {
  for (const std::string &threads : getValues(result, "threads"))
    for (const std::string &pages : getValues(result, "pages")) {
      auto find = [&](const char *reads) {
        return findPoint(
            result, {{"threads", threads}, {"pages", pages}, {"reads", reads}});
      };
      result.conclusions.push_back(
          compareRounds(result, find("0%"), find("100%"),
                        countThreads(threads) + ", " + pages +
                            " pages: reads against writes"));
    }
}

const Experiment mpg::mixExperiment = {
    {"mix", "bandwidth by the share of reads", "GB/s",
     /*higherIsBetter=*/true,
     "Bytes that the program reads and writes. bus_gbs counts each written "
     "byte "
     "twice: its line is read before and written back afterwards. Neighbouring "
     "blocks of 256 bytes are read and written in turn.",
     "reads", "threads",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude};
