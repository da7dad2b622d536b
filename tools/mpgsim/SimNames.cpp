// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts, arrays, loops and the recorded part of a run in words, for text and
// HTML.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// "1234567" as "1.23 M".
std::string mpg::shortCount(uint64_t count) {
  static constexpr const char *units[] = {"", " K", " M", " G", " T", " P"};
  double value = double(count);
  unsigned unit = 0;
  for (; value >= 9999.5 && unit < 5; ++unit)
    value /= 1000;
  if (unit == 0)
    return std::to_string(count);
  const char *form = value >= 99.95 ? "{0:f0}{1}" : "{0:f1}{1}";
  return formatv(form, value, units[unit]).str();
}

std::string mpg::shortCount(const SimInterval &interval) {
  std::string least = shortCount(interval.least);
  std::string most = shortCount(interval.most);
  return least == most ? least : least + " to " + most;
}

std::string mpg::walkMilliseconds(const SimReport &report,
                                  const SimPageCounts &page) {
  SimTime time = walkTime(report, page);
  if (time.most == 0)
    return "-";
  return formatv("{0:f1} to {1:f1}", time.least * 1e3, time.most * 1e3).str();
}

static std::string placeOf(const SimPart &part) {
  if (part.file.empty())
    return "";
  return printable(sys::path::filename(part.file)) +
         (part.line ? ":" + std::to_string(part.line) : "");
}

static std::string cutName(StringRef name, size_t most) {
  std::string whole = printable(shownFunction(name));
  return whole.size() > most ? whole.substr(0, most - 3) + "..." : whole;
}

std::string mpg::arrayName(const SimPart &part, size_t most) {
  std::string name = cutName(part.name, most);
  if (part.kind == "heap" || (part.kind == "stack" && !part.file.empty()))
    return name + (name.empty() ? "" : " ") + "(" + part.kind + ", " +
           placeOf(part) + ")";
  return part.kind == "global" ? name + " (global)" : name;
}

std::string mpg::loopName(const SimPart &part, size_t most) {
  std::string name = placeOf(part);
  if (name.empty())
    return "code that is not known";
  std::string function = cutName(part.name, most);
  if (part.kind != "loop")
    function += function.empty() ? "no loop" : ", no loop";
  return function.empty() ? name : name + " (" + function + ")";
}

std::string mpg::plural(uint64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

//===----------------------------------------------------------------------===//
// The part of the run that a report is about
//===----------------------------------------------------------------------===//

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
