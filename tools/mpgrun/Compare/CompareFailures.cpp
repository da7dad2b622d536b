// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareFailures.h.

#include "mpgrun/Compare/CompareFailures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

static std::string describeStatus(int waitStatus) {
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
}

void mpg::findWhatIsLeft(Comparison &comparison) {
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
  findWhatIsLeft(comparison);
}
