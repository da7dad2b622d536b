// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// perf stat and perf script.
//
// Lines of perf stat -x: value, unit, event, time counted, percent of the time.
// With -I, -A, --per-socket and -r there are more fields, in front of these or
// between them. So the event is searched for; its value is two fields before
// it. The number of a time has a comma under some locales, which makes
// two fields of it; counts have none.

#include "Import/Measurement.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

using Fields = SmallVector<StringRef, 12>;

static Fields splitFields(StringRef line, char separator) {
  Fields fields;
  line.split(fields, separator);
  for (StringRef &field : fields)
    field = field.trim();
  return fields;
}

static bool isNumeral(StringRef text) {
  return !text.empty() && all_of(text, isDigit);
}

/// The place of the event in \p fields; 0: none that is known.
static size_t findEventField(const Fields &fields) {
  for (size_t i = 2; i < fields.size(); ++i)
    if (Measurement::isKnownEvent(fields[i]))
      return i;
  return 0;
}

static bool isValue(StringRef field) {
  return parseCount(field) || field == "<not counted>" ||
         field == "<not supported>";
}

/// A line of perf stat, whatever it has counted.
static bool isRow(StringRef line, char separator) {
  if (line.starts_with("#"))
    return false;
  Fields fields = splitFields(line, separator);
  if (fields.size() >= 5 && isValue(fields[0]) && !fields[2].empty() &&
      isNumeral(fields[3]) && parseCount(fields[4]))
    return true;
  size_t event = findEventField(fields);
  return event && isValue(fields[event - 2]);
}

/// Whether \p fields can be a line of perf stat about any event: a value, its
/// unit, the event, and something after it; or a metric, which has none of
/// these.
static bool canBeRow(const Fields &fields) {
  if (fields[0].empty())
    return true;
  for (size_t i = 0; i + 3 < fields.size(); ++i)
    if (fields[i].empty() && fields[i + 1].empty() && fields[i + 2].empty())
      return true;
  for (size_t i = 0; i + 3 < fields.size(); ++i)
    if (isValue(fields[i]) && !fields[i + 2].empty() && !isValue(fields[i + 2]))
      return true;
  return false;
}

char mpg::perfStatSeparator(StringRef text) {
  for (char separator : {',', ';', '\t', '|'})
    if (anyLine(text, [&](StringRef line, unsigned) {
          return isRow(line, separator);
        }))
      return separator;
  return text.ltrim().starts_with("# started on") ? ',' : 0;
}

/// The value; a time in nanoseconds. Joins the two fields of a time whose
/// decimal point is a comma.
static std::optional<uint64_t> parseValue(const Fields &fields, size_t event) {
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

/// Whether the row is of -I: it begins with a time, which has a decimal point.
/// The fields of a value with a comma have none.
static bool isOfInterval(const Fields &fields, size_t event) {
  return event > 2 && fields[0].contains('.') && parseDecimal(fields[0]);
}

/// The share of the time in which the event was counted; perf estimates the
/// rest. It follows the time, the first number after the event: -r and
/// --for-each-cgroup add a field between event and time.
static std::optional<unsigned> percentCounted(const Fields &fields,
                                              size_t event) {
  size_t at = event + 1;
  while (at < fields.size() && !isNumeral(fields[at]))
    ++at;
  unsigned percent = 0;
  if (++at >= fields.size() ||
      fields[at].split('.').first.split(',').first.getAsInteger(10, percent))
    return std::nullopt;
  return percent;
}

/// Why \p value is not a count, and what to do.
static std::string whyMissing(StringRef value) {
  if (value == "<not supported>")
    return ": this machine does not count it (in many virtual machines none "
           "is); count on one that does";
  if (value == "<not counted>")
    return ": the run was too short, or too many events shared the counters; "
           "count fewer at once";
  return ": this is not a count; write the file again";
}

static void readRow(const Fields &fields, size_t event, unsigned line,
                    Measurement &into) {
  StringRef value = fields[event - 2], name = fields[event];
  std::optional<uint64_t> count = parseValue(fields, event);
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
  // With -I, rows without a time are those of --summary: they repeat the sums.
  bool hasIntervals = anyLine(text, [&](StringRef line, unsigned) {
    Fields fields = splitFields(line, separator);
    return isOfInterval(fields, findEventField(fields));
  });
  unsigned runs = 0;
  forEachLine(text, [&](StringRef line, unsigned number) {
    if (line.starts_with("# started on") && ++runs > 1)
      into.addProblem(number, otherRun);
    if (line.starts_with("#"))
      return;
    Fields fields = splitFields(line, separator);
    size_t event = findEventField(fields);
    if (event && hasIntervals && !isOfInterval(fields, event))
      return;
    if (event)
      readRow(fields, event, number, into);
    else if (!canBeRow(fields))
      into.addProblem(number,
                      "this is not a line of perf stat -x, or one that was "
                      "cut off; it is left out");
  });
  if (!into.hasCounts() && into.problems.empty())
    return importError(into, 0,
                       "none of the events in it is one that the rules ask "
                       "for; count: perf stat -x, -o FILE -e cycles,"
                       "instructions,dTLB-load-misses,dTLB-store-misses,"
                       "node-loads,node-load-misses,page-faults ./program");
  return Error::success();
}

// Lines of perf script: each sample has its thread, its event and the function,
// with -g its callers as well. Counts the samples inside of malloc, free or a
// page fault by the names of these functions.

namespace {

/// "app 2423/2425 [001] 89634.807162: 1000000 cpu-clock:u: 7f.. main+0x7 (app)"
struct SampleHead {
  StringRef command, thread, event, place;
  uint64_t weight = 1; ///< events that it stands for
};

/// A sample, with what was found in its functions so far.
struct Sample {
  uint64_t weight = 0; ///< 0: none, or one of another event
  bool inMalloc = false, inFault = false;
};

} // namespace

static bool isTime(StringRef word) {
  auto [seconds, fraction] = word.split('.');
  return fraction.consume_back(":") && !seconds.empty() && !fraction.empty() &&
         all_of(seconds, isDigit) && all_of(fraction, isDigit);
}

static bool isThread(StringRef word) {
  auto [process, thread] = word.split('/');
  return !process.empty() && all_of(process, isDigit) &&
         all_of(thread, isDigit);
}

static std::optional<SampleHead> parseHead(StringRef line) {
  SmallVector<StringRef, 16> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  size_t time = 2;
  while (time < words.size() && !isTime(words[time]))
    ++time;
  size_t event = time + 1;
  if (event >= words.size())
    return std::nullopt;
  SampleHead head;
  if (!words[event].getAsInteger(10, head.weight) && ++event >= words.size())
    return std::nullopt;
  size_t thread = time - 1;
  if (words[thread].starts_with("[") && thread > 1)
    --thread; // the processor
  head.event = words[event];
  if (!isThread(words[thread]) || !head.event.consume_back(":"))
    return std::nullopt;
  head.thread = words[thread];
  head.command =
      line.take_front(size_t(words[thread].data() - line.data())).trim();
  head.place = line.drop_front(size_t(words[event].end() - line.data()));
  return head;
}

bool mpg::isPerfScript(StringRef text) {
  bool startsWithSample = false;
  anyLine(text, [&](StringRef line, unsigned) {
    startsWithSample = parseHead(line).has_value();
    return !line.starts_with("#");
  });
  return startsWithSample;
}

/// The function in "7fbe7de1b70 main+0x30 (/usr/bin/a)", maybe after the
/// address of some data.
static StringRef functionIn(StringRef place) {
  place = place.trim();
  place = place.take_front(place.rfind(" ("));
  while (!place.empty()) {
    auto [word, rest] = place.split(' ');
    if (word.empty() || !all_of(word, isHexDigit))
      break;
    place = rest.ltrim();
  }
  return place.take_front(place.rfind("+0x"));
}

static bool isMalloc(StringRef name) {
  static constexpr StringLiteral names =
      "malloc free calloc realloc cfree sysmalloc systrim malloc_consolidate "
      "unlink_chunk aligned_alloc posix_memalign arena_get2 heap_trim "
      "_mid_memalign";
  name.consume_front("__libc_");
  name.consume_front("_int_");
  name = name.split('@').first;
  return name.starts_with("operator new") ||
         name.starts_with("operator delete") || name.starts_with("tcache_") ||
         hasWord(names, name.split('.').first);
}

/// The kernel's symbols are from itself, or from a file of them.
static bool isFault(StringRef name, StringRef place) {
  return (place.contains("[kernel") || place.contains("vmlinux")) &&
         (name.contains("page_fault") || name.contains("handle_mm_fault") ||
          name.contains("anonymous_page") || name.starts_with("clear_page") ||
          name.contains("clear_huge_page") || name.contains("do_mem_abort"));
}

static void parsePlace(StringRef place, Sample &sample) {
  StringRef name = functionIn(place);
  sample.inMalloc |= isMalloc(name);
  sample.inFault |= isFault(name, place);
}

static void addTo(const Sample &sample, SampledTime &time) {
  time.all += sample.weight;
  time.samples += sample.weight ? 1 : 0;
  time.inMalloc += sample.inMalloc ? sample.weight : 0;
  time.inFaults += sample.inFault ? sample.weight : 0;
}

Error mpg::readPerfScript(StringRef text, Measurement &into) {
  into.tool = "perf script";
  into.sampled = SampledTime();
  Sample sample;
  std::set<StringRef> threads;
  forEachLine(text, [&](StringRef line, unsigned) {
    std::optional<SampleHead> head = parseHead(line);
    if (!head) // with -g: on the way there
      return parsePlace(line, sample);
    addTo(sample, *into.sampled);
    bool isIdle = head->command == "swapper"; // of perf record -a
    bool isTime = !isIdle && Measurement::isTimeEvent(head->event);
    sample = {isTime ? head->weight : 0};
    if (!sample.weight)
      return;
    threads.insert(head->thread);
    into.commands.insert(head->command.str());
    parsePlace(head->place, sample);
  });
  addTo(sample, *into.sampled);
  into.sampled->threads = threads.size();
  if (into.sampled->all)
    return Error::success();
  return importError(into, 0,
                     "no sample in it is of time; record with perf record -e "
                     "cpu-clock ./program, then perf script > FILE");
}
