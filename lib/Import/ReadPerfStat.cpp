// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of perf stat -x: value, unit, event, time counted, percent of the time.
// With -I, -A, --per-socket and -r there are more fields, in front of these or
// between them, so the event is looked for, and the value stands two fields
// before it. The number of a time has a comma under some locales, which makes
// two fields of it; counts have none.

#include "Import/Readers.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

using Fields = SmallVector<StringRef, 12>;

static Fields fieldsOf(StringRef line, char separator) {
  Fields fields;
  line.split(fields, separator);
  for (StringRef &field : fields)
    field = field.trim();
  return fields;
}

static bool isNumeral(StringRef text) {
  return !text.empty() && all_of(text, isDigit);
}

static bool isMissing(StringRef value) {
  return value == "<not counted>" || value == "<not supported>";
}

/// The place of the event in \p fields; 0: none that is known.
static size_t findEventField(const Fields &fields) {
  for (size_t i = 2; i < fields.size(); ++i)
    if (Measurement::isKnownEvent(fields[i]))
      return i;
  return 0;
}

static bool isValue(StringRef field) {
  return parseCount(field) || isMissing(field);
}

/// A line of perf stat, whatever it has counted.
static bool isRow(StringRef line, char separator) {
  if (line.starts_with("#"))
    return false;
  Fields fields = fieldsOf(line, separator);
  if (fields.size() >= 5 && isValue(fields[0]) && !fields[2].empty() &&
      isNumeral(fields[3]) && parseCount(fields[4]))
    return true;
  size_t event = findEventField(fields);
  return event && isValue(fields[event - 2]);
}

char mpg::perfStatSeparator(StringRef text) {
  for (char separator : {',', ';', '\t', '|'})
    if (anyLine(text, [&](StringRef line, unsigned) {
          return isRow(line, separator);
        }))
      return separator;
  return text.ltrim().starts_with("# started on") ? ',' : 0;
}

/// The value, put together again where its comma has parted it; in
/// nanoseconds, where it is a time.
static std::optional<uint64_t> valueOf(const Fields &fields, size_t event) {
  StringRef value = fields[event - 2], unit = fields[event - 1];
  bool isTime =
      StringRef(fields[event]).starts_with_insensitive("task-clock") ||
      StringRef(fields[event]).starts_with_insensitive("cpu-clock");
  if (!isTime)
    return parseCount(value);
  std::string whole = value.str();
  if (event >= 3 && isNumeral(value) && isNumeral(fields[event - 3]))
    whole = fields[event - 3].str() + "." + whole;
  std::optional<double> milliseconds = parseDecimal(whole);
  bool isKnown =
      milliseconds && *milliseconds < 1e12 && (unit == "msec" || unit.empty());
  return isKnown ? std::optional(uint64_t(*milliseconds * 1e6)) : std::nullopt;
}

/// For how much of the time the event was counted; the rest is perf's estimate.
static std::optional<unsigned> percentCounted(const Fields &fields,
                                              size_t event) {
  size_t at = event + 2;
  if (event + 1 < fields.size() && fields[event + 1].ends_with("%"))
    ++at; // with -r: how much the runs differ
  unsigned percent = 0;
  if (at >= fields.size() ||
      fields[at].split('.').first.split(',').first.getAsInteger(10, percent))
    return std::nullopt;
  return percent;
}

/// Why \p value is none, and what to do.
static std::string whyMissing(StringRef value) {
  if (value == "<not supported>")
    return ": this machine does not count it (in many virtual machines none "
           "is); count on one that does";
  if (value == "<not counted>")
    return ": the run was too short, or too many events shared the counters; "
           "count fewer at once";
  return ": this is no count; write the file again";
}

static void readRow(const Fields &fields, size_t event, unsigned line,
                    Measurement &into) {
  StringRef value = fields[event - 2], name = fields[event];
  std::optional<uint64_t> count = valueOf(fields, event);
  if (!count)
    return into.addProblem(line,
                           name.str() + ": " + value.str() + whyMissing(value));
  std::optional<unsigned> percent = percentCounted(fields, event);
  if (percent && *percent < 95)
    into.addProblem(line, name.str() + ": counted in " +
                              std::to_string(*percent) +
                              " % of the time, and the rest is perf's "
                              "estimate; count fewer events at once");
  into.add(name, *count, line);
}

Error mpg::readPerfStat(StringRef text, char separator, Measurement &into) {
  into.tool = "perf stat";
  forEachLine(text, [&](StringRef line, unsigned number) {
    if (line.starts_with("#"))
      return;
    Fields fields = fieldsOf(line, separator);
    if (size_t event = findEventField(fields))
      readRow(fields, event, number, into);
  });
  if (!into.hasCounts() && into.problems.empty())
    return importError(into, 0,
                       "none of the events in it is one that the rules ask "
                       "for; count: perf stat -x, -o FILE -e cycles,"
                       "instructions,dTLB-load-misses,dTLB-store-misses,"
                       "node-loads,node-load-misses,page-faults ./program");
  return Error::success();
}
