// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ChaseWork.h.

#include "mpgbench/Experiments/ChaseWork.h"
#include "mpg/kernels.h"
#include "mpgbench/Run/BenchPoints.h"

using namespace llvm;
using namespace mpg;

static void walk(StringRef pages, uint64_t bytes, uint64_t stride,
                 const ChaseWork &work, WorkerResult &result) {
  BenchMemory memory(bytes, pages);
  result.error = memory.error();
  if (!result.error.empty())
    return;
  void *cell = mpg_chase_fill(memory.as<void>(), bytes, stride, work.seed);
  if (!cell) {
    result.error = "mpg_chase_fill refused the buffer";
    return;
  }
  uint64_t cells = bytes / stride, loads = work.loadsOf(cells);
  measureRepeats(result, work.repeats, [&] {
    return runTogether(1, [&](unsigned) {
      void *next = mpg_chase(cell, int64_t(loads));
      if (!next || (loads % cells == 0 && next != cell))
        result.error = "whole cycles do not end where they began";
      cell = next;
    });
  });
  memory.addBacking(result.backing);
  if (result.error.empty())
    result.error = memory.checkBacking();
  result.value = result.value * 1e9 / double(loads);
}

WorkerResult mpg::measureChase(const Parameters &parameters,
                               const ChaseWork &work) {
  WorkerResult result;
  uint64_t bytes =
      readSize(parameters, work.bytesName, mostBytes, result.error);
  uint64_t stride = readSize(parameters, "stride", mostBytes, result.error);
  if (result.error.empty() && (stride % 8 != 0 || bytes / stride < 2))
    result.error = "stride=" + sizeName(stride) +
                   ": not a multiple of 8 that is in " + work.bytesName + "=" +
                   sizeName(bytes) + " twice";
  if (result.error.empty())
    walk(parameter(parameters, "pages"), bytes, stride, work, result);
  // Such as a value on other pages than those of the point.
  if (!result.error.empty())
    result.value = 0;
  return result;
}
