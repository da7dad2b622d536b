// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts, arrays and loops in words, for text and HTML.

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
  return name + " (" + cutName(part.name, most) +
         (part.kind == "loop" ? ")" : ", no loop)");
}

std::string mpg::plural(uint64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}
