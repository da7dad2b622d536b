// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader of mpgbench's files on any bytes, and of a worker's line. Beyond
// not crashing: what is accepted can be printed and compared, and reads the
// same after it was written again.

#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;
using namespace mpg;

static std::string makeJson(const BenchRun &run) {
  std::string text;
  raw_string_ostream out(text);
  writeBenchJson(out, run);
  out.flush();
  return text;
}

static void checkRun(const BenchRun &run) {
  std::string text = makeJson(run);
  Expected<BenchRun> again = readBenchJson(text, "again");
  if (!again || makeJson(*again) != text)
    abort();
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points)
      if (!std::isfinite(point.summary.median) ||
          point.samples.size() != point.rounds.size() ||
          point.summary.count != point.samples.size())
        abort();
  std::string sink;
  raw_string_ostream out(sink);
  writeBenchText(out, run);
  writeBenchCsv(out, run);
  // Nothing is worse than itself.
  if (writeComparison(out, run, *again) != 0)
    abort();
}

static void checkLine(const WorkerResult &result) {
  std::string line;
  raw_string_ostream out(line);
  writeWorkerResult(out, result);
  out.flush();
  Expected<WorkerResult> again = readWorkerResult(line);
  if (!again || StringRef(line).count('\n') != 1)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  if (Expected<BenchRun> run = readBenchJson(text, "a.json"))
    checkRun(*run);
  else
    consumeError(run.takeError());
  if (Expected<WorkerResult> result = readWorkerResult(text))
    checkLine(*result);
  else
    consumeError(result.takeError());
  return 0;
}
