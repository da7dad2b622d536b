// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which format a file has, and the counts of a Measurement. A file that is
// nearly right gets the command that writes it right.

#include "Import/Measurement.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>
#include <tuple>

using namespace llvm;
using namespace mpg;

// Counts

namespace {

struct EventName {
  StringRef name;
  Quantity quantity;
  StringRef part;
};

} // namespace

static constexpr EventName eventNames[] = {
#define MPG_EVENT(name, quantity, part) {name, Quantity::quantity, part},
#include "Import/MeasuredEvents.def"
};

/// "cpu_core/Cycles/u" and "Cycles:u": cycles.
static std::string plainEvent(StringRef name) {
  name = name.trim();
  if (name.contains('/'))
    name = name.split('/').second.split('/').first;
  return name.split(':').first.lower();
}

/// "cycles:u" and "cycles:k" are parts that are added up; "cycles" and
/// "cycles:uk" contain them.
static StringRef getScope(StringRef name) {
  size_t end = name.find_last_of(":/");
  StringRef modifiers = end == StringRef::npos ? "" : name.drop_front(end + 1);
  bool isPart = modifiers.contains('u') != modifiers.contains('k');
  return isPart ? " of a level" : "";
}

static const EventName *findEvent(StringRef name) {
  std::string plain = plainEvent(name);
  for (const EventName &event : eventNames)
    if (event.name == plain)
      return &event;
  return nullptr;
}

bool Measurement::isKnownEvent(StringRef name) {
  return findEvent(name) != nullptr;
}

bool Measurement::isTimeEvent(StringRef name) {
  const EventName *event = findEvent(name);
  return event && (event->quantity == Quantity::cycles ||
                   event->quantity == Quantity::cpuNs);
}

bool Measurement::Key::operator<(const Key &other) const {
  return std::tie(quantity, part, name) <
         std::tie(other.quantity, other.part, other.name);
}

/// Each program has some of it: a 0 comes from a counter that is not there.
static bool cannotBeZero(Quantity quantity) {
  return quantity != Quantity::localAccesses &&
         quantity != Quantity::remoteAccesses &&
         quantity != Quantity::pageFaults;
}

void Measurement::addProblem(unsigned line, std::string text) {
  constexpr size_t maxProblems = 20; // with more the file is another one
  if (problems.size() >= maxProblems)
    text = "a line that is no use, as those above";
  for (MeasuredProblem &problem : problems)
    if (problem.text == text) {
      ++problem.others;
      return;
    }
  problems.push_back({line, std::move(text)});
}

void Measurement::add(StringRef name, uint64_t count, unsigned line,
                      StringRef run) {
  const EventName *event = findEvent(name);
  if (!event)
    return;
  if (!count && cannotBeZero(event->quantity))
    return addProblem(line, name.str() +
                                ": 0: each program has some, so this machine "
                                "does not count them; count on one that does");
  // Of one event there is a row for each processor, core type or interval.
  uint64_t &sum = counts[{event->quantity, event->part.str(),
                          (event->name + getScope(name) + run).str()}];
  sum = SaturatingAdd(sum, count);
}

bool Measurement::isFor(StringRef path) const {
  StringRef mine = sys::path::filename(program),
            other = sys::path::filename(path);
  if (!commands.empty())
    return commands.count(other.take_front(15).str());
  if (program.empty() || mine == other)
    return true;
  auto isLonger = [](StringRef longer, StringRef name) {
    return !name.empty() && longer.consume_front(name) && !longer.empty() &&
           StringRef("._-").contains(longer.front());
  };
  return isModelled && (isLonger(mine, other) || isLonger(other, mine));
}

std::string Measurement::programName() const {
  return commands.empty() ? program : *commands.begin();
}

std::optional<uint64_t> Measurement::count(Quantity quantity) const {
  std::map<StringRef, uint64_t> parts;
  for (const auto &[key, value] : counts)
    if (key.quantity == quantity) {
      uint64_t &part = parts[key.part];
      part = std::max(part, value);
    }
  if (parts.empty())
    return std::nullopt;
  if (parts.count("all"))
    return parts["all"];
  uint64_t sum = 0;
  for (const auto &[part, value] : parts)
    sum = SaturatingAdd(sum, value);
  return sum;
}

// For the readers

Error mpg::importError(const Measurement &of, unsigned line,
                       const Twine &reason) {
  return fileError(of.path + (line ? ":" + std::to_string(line) : ""), reason);
}

bool mpg::anyLine(StringRef text,
                  function_ref<bool(StringRef line, unsigned number)> test) {
  for (unsigned number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    line = line.rtrim('\r');
    if (!line.trim().empty() && test(line, number))
      return true;
    text = rest;
  }
  return false;
}

void mpg::forEachLine(
    StringRef text, function_ref<void(StringRef line, unsigned number)> visit) {
  anyLine(text, [&](StringRef line, unsigned number) {
    visit(line, number);
    return false;
  });
}

std::optional<double> mpg::parseDecimal(StringRef text) {
  std::string plain = text.trim().str();
  std::replace(plain.begin(), plain.end(), ',', '.');
  bool isNumber = !plain.empty() && all_of(plain, [](char c) {
    return isDigit(c) || StringRef(".eE+-").contains(c);
  });
  double value = 0;
  if (!isNumber || StringRef(plain).getAsDouble(value) || value < 0 ||
      value >= 0x1p63)
    return std::nullopt;
  return value;
}

std::optional<uint64_t> mpg::parseCount(StringRef text) {
  std::optional<double> value = parseDecimal(text);
  return value ? std::optional(uint64_t(std::llround(*value))) : std::nullopt;
}

// Formats

/// Some million samples of perf script.
static constexpr uint64_t maxFileBytes = uint64_t(512) << 20;

static constexpr char knownFormats[] =
    "known are perf stat -x, -o FILE; perf script; likwid-perfctr -O; fapppx "
    "-A -Icpupa -tcsv or -txml; mpgrun --profile --json=FILE; mpgsim --json";

/// What \p text is, if it comes from a tool that we know in a form that we do
/// not read, and what to do; "": it is nothing that is known.
static StringRef nearlyKnown(StringRef text) {
  if (text.starts_with("PERFILE2"))
    return "this is a recording of perf record; write it as text: perf script "
           "-i FILE > FILE.txt";
  if (text.contains("\"counter-value\""))
    return "this is perf stat's JSON; write it with perf stat -x, -o FILE";
  if (text.contains("Performance counter stats for"))
    return "this is perf stat's table for people; write it with perf stat -x, "
           "-o FILE";
  if (text.starts_with("Fujitsu") && text.contains("Profiler Version"))
    return "this is fapp's text for people; write it as CSV or XML: fapppx -A "
           "-Icpupa -tcsv -o FILE -d DIR";
  if (text.starts_with("PK\x03\x04"))
    return "this is a workbook or another ZIP archive; save the sheet \"data\" "
           "of fapp's report as CSV: soffice --headless --convert-to "
           "'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,"
           "false,false,-1' FILE, or name pa1.csv to pa17.csv, of which it is "
           "made";
  if (text.contains("| HWThread "))
    return "this is likwid-perfctr's table for people; write it with "
           "likwid-perfctr -O";
  return "";
}

static Error readText(StringRef text, Measurement &into) {
  StringRef start = text.ltrim();
  if (start.empty())
    return importError(into, 0,
                       "the file is empty: has the run failed that should "
                       "write it? Write it again");
  StringRef nearly = nearlyKnown(start);
  if (!nearly.empty())
    return importError(into, 0, nearly);
  if (text.contains('\0') || !json::isUTF8(text))
    return importError(into, 0,
                       Twine("this is not UTF-8 text; ") + knownFormats);
  if (start.starts_with("{") || start.starts_with("["))
    return readMpgJson(text, into);
  if (isFapp(text))
    return readFapp(text, into);
  if (isLikwid(text))
    return readLikwid(text, into);
  if (isPerfScript(text))
    return readPerfScript(text, into);
  if (char separator = perfStatSeparator(text))
    return readPerfStat(text, separator, into);
  return importError(into, 0,
                     Twine("no profile in a format that is known here; ") +
                         knownFormats);
}

Expected<Measurement> mpg::parseMeasurement(StringRef text,
                                            const std::string &path) {
  Measurement measurement;
  measurement.path = path == "-" ? "standard input" : path;
  text.consume_front("\xef\xbb\xbf"); // editors of Windows begin so
  if (Error error = readText(text, measurement))
    return error;
  return measurement;
}

Expected<Measurement> mpg::readMeasurement(const std::string &path) {
  auto buffer = readUnmapped(path, maxFileBytes);
  if (!buffer && buffer.getError() == std::errc::file_too_large)
    return fileError(path, "more than " + formatBytes(maxFileBytes) +
                               ": take fewer samples, or a part of them");
  if (!buffer)
    return fileError(path, readFailure(buffer.getError()));
  return parseMeasurement((*buffer)->getBuffer(), path);
}
