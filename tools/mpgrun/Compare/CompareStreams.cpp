// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareStreams.h.

#include "mpgrun/Compare/CompareStreams.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static bool varies(const ModeResult &mode, unsigned stream) {
  return any_of(mode.samples, [&](const RunSample &sample) {
    return sample.digests[stream] != mode.samples.front().digests[stream];
  });
}

static void compareStream(Comparison &comparison,
                          ArrayRef<OutputFiles> firstOutputs, unsigned stream) {
  const char *name = stream == 0 ? "standard output" : "standard error";
  for (const ModeResult &mode : comparison.modes)
    if (mode.missing.empty() && varies(mode, stream)) {
      comparison.outputs.push_back("output differs from run to run; not "
                                   "compared (" +
                                   std::string(name) + ", mode " + mode.name +
                                   ")");
      return;
    }
  const ModeResult &base = comparison.modes.front();
  for (size_t index = 1; index < comparison.modes.size(); ++index) {
    const ModeResult &mode = comparison.modes[index];
    if (!mode.missing.empty() || mode.samples.front().digests[stream] ==
                                     base.samples.front().digests[stream])
      continue;
    std::optional<uint64_t> place =
        firstDifference(firstOutputs[0][stream].get(),
                        firstOutputs[index][stream].get(), stream == 1);
    comparison.outputs.push_back("output differs between " + base.name +
                                 " and " + mode.name + ", first at byte " +
                                 std::to_string(place.value_or(0)) + " (" +
                                 name + ")");
  }
}

void mpg::compareOutputs(Comparison &comparison,
                         ArrayRef<OutputFiles> firstOutputs) {
  for (unsigned stream : {0, 1})
    compareStream(comparison, firstOutputs, stream);
}
