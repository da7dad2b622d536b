// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of perf script: for each sample of time its thread, its event and where
// it was, or with -g the functions on the way there. Counted is in how many of
// them malloc, free or a page fault was at work, by the names of functions.

#include "Import/Readers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

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
  static constexpr StringRef names[] = {
      "malloc",       "free",          "calloc",         "realloc",
      "cfree",        "sysmalloc",     "systrim",        "malloc_consolidate",
      "unlink_chunk", "aligned_alloc", "posix_memalign", "arena_get2",
      "heap_trim",    "_mid_memalign"};
  name.consume_front("__libc_");
  name.consume_front("_int_");
  name = name.split('@').first;
  return name.starts_with("operator new") ||
         name.starts_with("operator delete") || name.starts_with("tcache_") ||
         is_contained(names, name.split('.').first);
}

static bool isFault(StringRef name, StringRef place) {
  return place.contains("[kernel") &&
         (name.contains("page_fault") || name.contains("handle_mm_fault") ||
          name.contains("anonymous_page") || name.starts_with("clear_page") ||
          name.contains("clear_huge_page") || name.contains("do_mem_abort"));
}

static void look(StringRef place, Sample &sample) {
  StringRef name = functionIn(place);
  sample.inMalloc |= isMalloc(name);
  sample.inFault |= isFault(name, place);
}

static void addTo(const Sample &sample, SampledTime &time) {
  time.all += sample.weight;
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
      return look(line, sample);
    addTo(sample, *into.sampled);
    sample = {Measurement::isTimeEvent(head->event) ? head->weight : 0};
    if (!sample.weight)
      return;
    threads.insert(head->thread);
    into.commands.insert(head->command.str());
    look(head->place, sample);
  });
  addTo(sample, *into.sampled);
  into.sampled->threads = threads.size();
  if (into.sampled->all)
    return Error::success();
  return importError(into, 0,
                     "no sample in it is of time; record with perf record -e "
                     "cpu-clock ./program, then perf script > FILE");
}
