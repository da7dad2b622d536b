// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareRun.h.

#include "mpgrun/Compare/CompareRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <sys/wait.h>

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

std::string mpg::describeStatus(int waitStatus) {
  if (!WIFSIGNALED(waitStatus))
    return "status " + std::to_string(WEXITSTATUS(waitStatus));
  int number = WTERMSIG(waitStatus);
  return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

/// "; it said: last words" on one line; nothing if there are none.
static std::string describeWords(const RunSample &sample) {
  SmallVector<StringRef, 3> lines;
  StringRef(sample.lastWords).split(lines, '\n', -1, /*KeepEmpty=*/false);
  return lines.empty() ? "" : "; it said: " + join(lines, " / ");
}

/// The base decides which end is the right one: many programs end with another
/// status than 0 when all is well.
static void judgeBase(ModeResult &base) {
  const RunSample &first = base.samples.front(), &last = base.samples.back();
  if (WIFSIGNALED(last.waitStatus))
    base.missing = "ended by " + describeStatus(last.waitStatus);
  else if (last.waitStatus != first.waitStatus)
    base.missing = "ended with " + describeStatus(first.waitStatus) +
                   " in one run and with " + describeStatus(last.waitStatus) +
                   " in another";
  if (!base.missing.empty())
    base.missing += describeWords(last);
  else
    base.missing = last.metric.problem;
}

static void judgeAgainst(const ModeResult &base, ModeResult &mode) {
  const RunSample &last = mode.samples.back();
  int expected = base.samples.front().waitStatus;
  if (last.waitStatus != expected)
    mode.missing = "failed: ended with " + describeStatus(last.waitStatus) +
                   ", with " + base.name + " " + describeStatus(expected) +
                   describeWords(last);
  else if (mode.usesLibmpg && !mode.memory.hasState)
    mode.missing = "not compared: libmpg was not at work in the program";
  else if (!last.metric.problem.empty())
    mode.missing = "not compared: " + last.metric.problem;
}

void mpg::checkModesLeft(Comparison &comparison) {
  auto canBeCompared = [](const ModeResult &mode) {
    return mode.missing.empty();
  };
  ArrayRef<ModeResult> modes = comparison.modes;
  if (canBeCompared(modes.front()) && any_of(modes.drop_front(), canBeCompared))
    return;
  const ModeResult *mode = find_if_not(modes, canBeCompared);
  comparison.failure = mode->name + ": " + mode->missing;
}

void mpg::judgeRound(Comparison &comparison) {
  ModeResult &base = comparison.modes.front();
  if (base.missing.empty())
    judgeBase(base);
  if (base.missing.empty())
    for (ModeResult &mode : MutableArrayRef(comparison.modes).drop_front())
      if (mode.missing.empty())
        judgeAgainst(base, mode);
  checkModesLeft(comparison);
}
