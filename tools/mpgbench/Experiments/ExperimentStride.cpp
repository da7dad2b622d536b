// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stride: what reading with a stride costs, counted in the lines that move and
// not in strides. docs/mpgbench-experiments.md says how, and what to expect.

#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"

using namespace llvm;
using namespace mpg;

static constexpr uint64_t fullBytes = 512 << 20, quickBytes = 64 << 20;
static constexpr unsigned repeats = 3;
static constexpr uint64_t wordBytes = 8;

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t bytes = sizeThatFits(context, quickBytes, fullBytes);
  std::string line = std::to_string(cacheLineBytes(context.node));
  std::vector<uint64_t> strides = {8, 64, 256, 4096};
  if (!context.quick)
    strides = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 65536};
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : baseAndLarge(context, bytes))
    for (uint64_t stride : strides)
      points.push_back({{{"pages", kind.name},
                         {"stride", sizeName(stride)},
                         {"line", line},
                         {"bytes", sizeName(bytes)}},
                        whyNotNow(context.node, kind, bytes)});
  return points;
}

/// Reads words \p stride bytes apart until each line was visited: with a stride
/// of several lines in as many passes, each over other lines.
static uint64_t readLines(const char *start, uint64_t bytes, uint64_t stride,
                          uint64_t line) {
  uint64_t sums[4] = {};
  auto word = [&](uint64_t at) {
    return *reinterpret_cast<const uint64_t *>(start + at);
  };
  for (uint64_t offset = 0; offset < std::max(stride, line); offset += line) {
    uint64_t at = offset;
    for (; at + 3 * stride < bytes; at += 4 * stride)
      for (unsigned i = 0; i < 4; ++i)
        sums[i] += word(at + i * stride);
    for (; at < bytes; at += stride)
      sums[0] += word(at);
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", maxBytes, result.error);
  uint64_t stride = readSize(parameters, "stride", bytes, result.error);
  uint64_t line = readSize(parameters, "line", bytes, result.error);
  if (result.error.empty() &&
      (stride % wordBytes || line % wordBytes || bytes % line ||
       (stride > line && stride % line)))
    result.error =
        "stride=" + sizeName(stride) +
        ": not a multiple of 8, or longer than line=" + sizeName(line) +
        " and not a multiple of it";
  measureOn(parameters, bytes, result, [&](const BenchMemory &memory) {
    auto *blocks = memory.as<Block>();
    touchBlocks(blocks, blocks + bytes / sizeof(Block));
    measureRepeats(result, repeats, [&] {
      return runTogether(1, [&](unsigned) {
        keep(readLines(memory.as<char>(), bytes, stride, line));
      });
    });
    result.value = double(bytes) / result.value * 1e-9;
  });
  return result;
}

static void conclude(ExperimentResult &result) {
  for (const std::string &stride : getValues(result, "stride"))
    if (stride == "64" || stride == "4K")
      comparePages(result, {{"stride", stride}},
                   "one word each " + stride + " bytes");
}

const Experiment mpg::strideExperiment = {
    {"stride", "reads with a stride, counted in the lines that move", "GB/s",
     /*higherIsBetter=*/true,
     "Bytes of the lines that are read, each once, whatever the stride: a "
     "stride of n lines makes n passes over other lines. One thread, words of "
     "8 bytes, no load waits for another.",
     "stride", "pages",
     /*xIsNumber=*/true},
    plan,
    measure,
    conclude};
