// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which part of the run a report is about, in words.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

double SimSampled::mostPercent() const {
  // Two clocks of the kernel, read at two moments.
  return runNs ? std::min(100.0, 100 * double(regionNs) / double(runNs)) : 100;
}

/// Why there is no region.
static std::string missingRegion(const SimSampled &sampled) {
  if (sampled.what.by == MPG_SIM_CALLS)
    return "the program did not call mpg_sim_begin, so nothing was recorded. "
           "Call it in front of what is to be modelled, and mpg_sim_end behind "
           "it (mpg/mpg.h)";
  if (sampled.what.by == MPG_SIM_TIME)
    return formatv("the program ended before {0} s were over, so nothing was "
                   "recorded. Take a shorter warm-up",
                   sampled.what.warmUp)
        .str();
  std::string name = printable(sampled.what.function);
  if (sampled.functions)
    return name + " was not called, so nothing was recorded. Calls that the "
                  "compiler has inlined are none: keep it "
                  "from that (noinline)";
  return "no function " + name +
         " was compiled with --mpg-sim, so nothing was recorded. One that is "
         "inlined everywhere is not there any more: keep it "
         "from that (noinline)";
}

static std::string regionOf(const SimSampled &sampled) {
  if (sampled.what.by == MPG_SIM_TIME)
    return formatv("{0} s from {1} s behind the start on", sampled.what.seconds,
                   sampled.what.warmUp)
        .str();
  std::string times = ", " + plural(sampled.regions, "time", "times");
  if (sampled.what.by == MPG_SIM_CALLS)
    return "from mpg_sim_begin to mpg_sim_end" + times;
  std::string text = printable(sampled.what.function) + times;
  if (sampled.functions > 1)
    text += formatv(" ({0} functions have that name)", sampled.functions);
  return text;
}

std::string mpg::sampleOf(const SimReport &report) {
  const SimSampled &sampled = report.sampled;
  if (sampled.what.by == MPG_SIM_ALL)
    return "";
  std::string lone =
      sampled.loneEnds
          ? "; " + plural(sampled.loneEnds, "mpg_sim_end", "mpg_sim_ends") +
                " without a mpg_sim_begin in front"
          : "";
  if (!sampled.regions)
    return missingRegion(sampled) + lone;
  return formatv("{0}; at most {1:f1} % of the processor time of the run, as "
                 "recording makes it longer{2}{3}",
                 regionOf(sampled), sampled.mostPercent(),
                 sampled.isOpen ? "; the last one was not over when the "
                                  "program ended"
                                : "",
                 lone);
}
