// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// saxpy: y[i * stride] += a * x[i * stride], with the misses that the machine
// counts. docs/mpgbench-experiments.md says how, and what to expect.

#include "mpg/kernels.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

/// Of both arrays together.
static constexpr uint64_t fullBytes = 512 << 20, quickBytes = 64 << 20;
static constexpr unsigned repeats = 5;
/// The same number of elements whatever the stride, or the counts of misses
/// could not be compared.
static constexpr uint64_t widestStride = 1024;

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t bytes = sizeThatFits(context, quickBytes, fullBytes);
  std::vector<unsigned> strides = {1, 16, 1024};
  if (!context.quick)
    strides = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : baseAndLarge(context, bytes))
    for (unsigned stride : strides)
      points.push_back({{{"pages", kind.name},
                         {"stride", std::to_string(stride)},
                         {"bytes", sizeName(bytes)}},
                        whyNotNow(context.node, kind, bytes)});
  return points;
}

static void measureArrays(const BenchMemory &memory, uint64_t stride,
                          WorkerResult &result) {
  auto *x = memory.as<float>();
  uint64_t length = memory.bytes() / sizeof(float) / 2;
  float *y = x + length;
  std::fill(x, x + length, 1.0F);
  std::fill(y, y + length, 0.0F);
  uint64_t elements = length / widestStride;
  // Small strides would find everything in a cache from the second pass on:
  // each pass goes on after the one before, as long as there is room.
  uint64_t chunks = std::min(length / (elements * stride), uint64_t(repeats));
  unsigned pass = 0;
  measureRepeats(result, repeats, [&] {
    uint64_t at = pass++ % chunks * elements * stride;
    return runTogether(1, [&](unsigned) {
      mpg_saxpy_f32(y + at, x + at, 2.0F, 0, int64_t(elements),
                    int64_t(stride));
    });
  });
  // Of the first chunk; one repetition more warms up.
  uint64_t passes = (repeats + 1 + chunks - 1) / chunks;
  for (uint64_t i = 0; i < elements; ++i)
    if (y[i * stride] != 2.0F * float(passes)) {
      result.error = "y[" + std::to_string(i * stride) + "] is wrong";
      break;
    }
  result.value = result.value * 1e9 / double(elements);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", maxBytes, result.error);
  uint64_t stride = readCount(parameters, "stride", widestStride, result.error);
  if (result.error.empty() && bytes < 8 * widestStride)
    result.error = "bytes=" + sizeName(bytes) + ": less than 8K";
  measureOn(parameters, bytes, result, [&](const BenchMemory &memory) {
    measureArrays(memory, stride, result);
  });
  return result;
}

static void conclude(ExperimentResult &result) {
  for (const std::string &stride : getValues(result, "stride"))
    if (stride == "16" || stride == "1024")
      comparePages(result, {{"stride", stride}},
                   "saxpy of each " + stride + "th element");
}

const Experiment mpg::saxpyExperiment = {
    {"saxpy", "y += a x with a stride, and the misses that the machine counts",
     "ns",
     /*higherIsBetter=*/false,
     "Time of one element, the same number of elements with each stride "
     "(floats). Misses are counted around the passes alone, and only where the "
     "processor has enough counters for all at once.",
     "stride", "pages",
     /*xIsNumber=*/true},
    plan,
    measure,
    conclude};
