// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ChaseWork.h.

#include "mpgbench/Experiments/ChaseWork.h"
#include "mpg/kernels.h"
#include "mpgbench/Run/BenchPoints.h"

using namespace llvm;
using namespace mpg;

static void walk(const BenchMemory &memory, uint64_t stride,
                 const ChaseWork &work, WorkerResult &result) {
  void *cell =
      mpg_chase_fill(memory.as<void>(), memory.bytes(), stride, work.seed);
  if (!cell) {
    result.error = "mpg_chase_fill refused the buffer";
    return;
  }
  uint64_t cells = memory.bytes() / stride, loads = work.loadsOf(cells);
  measureRepeats(result, work.repeats, [&] {
    return runTogether(1, [&](unsigned) {
      void *next = mpg_chase(cell, int64_t(loads));
      if (!next || (loads % cells == 0 && next != cell))
        result.error = "whole cycles do not end where they began";
      cell = next;
    });
  });
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
  measureOn(
      parameter(parameters, "pages"), bytes, result,
      [&](const BenchMemory &memory) { walk(memory, stride, work, result); });
  return result;
}
