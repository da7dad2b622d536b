// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Places.h. The parsers move a pointer over the text and return false where
// it makes no sense.

#include "numa/Places.h"
#include "base/Env.h"
#include "base/SelfMaps.h"
#include "numa/SharedArray.h"

using namespace mpg;

/// Larger numbers are mistakes: no machine has as many CPUs.
static constexpr uint64_t maxNumber = 1 << 14;

PlaceWishes mpg::readPlaceWishes(const char *const *environment) {
  return {findValue(environment, "OMP_PLACES"),
          findValue(environment, "OMP_PROC_BIND"),
          findValue(environment, "OMP_NUM_THREADS")};
}

// Words and numbers

static void skipSpace(const char *&at) {
  while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
    ++at;
}

/// The character \p wanted, with space around it.
static bool consumeMark(const char *&at, char wanted) {
  skipSpace(at);
  if (*at != wanted)
    return false;
  ++at;
  skipSpace(at);
  return true;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c | 32) : c; }

/// The word \p wanted, in any case, and no letter after it.
static bool consumeWord(const char *&at, const char *wanted) {
  skipSpace(at);
  const char *end = at;
  for (; *wanted; ++wanted, ++end)
    if (lower(*end) != *wanted)
      return false;
  char next = lower(*end);
  if (next == '_' || (next >= 'a' && next <= 'z'))
    return false;
  at = end;
  skipSpace(at);
  return true;
}

static bool consumeNumber(const char *&at, int64_t &number) {
  uint64_t value;
  skipSpace(at);
  if (!parseNumber(at, 10, value) || value > maxNumber)
    return false;
  skipSpace(at);
  number = int64_t(value);
  return true;
}

namespace {

/// ":LENGTH:STRIDE", both of which may be missing.
struct Interval {
  int64_t length = 1, stride = 1;
};

} // namespace

static bool parseInterval(const char *&at, Interval &interval) {
  if (!consumeMark(at, ':'))
    return true;
  if (!consumeNumber(at, interval.length) || interval.length == 0)
    return false;
  if (!consumeMark(at, ':'))
    return true;
  bool isNegative = consumeMark(at, '-');
  if (!consumeNumber(at, interval.stride))
    return false;
  if (isNegative)
    interval.stride = -interval.stride;
  return true;
}

// OMP_PLACES

static bool isCpu(int64_t cpu) { return cpu >= 0 && cpu < CPU_SETSIZE; }

/// Parses "3", "3:4", "3:4:2" or "!3" inside of a place. Skips CPUs that cannot
/// exist.
static bool parseResources(const char *&at, cpu_set_t &place) {
  bool isOut = consumeMark(at, '!');
  int64_t cpu;
  Interval interval;
  if (!consumeNumber(at, cpu) || !parseInterval(at, interval))
    return false;
  for (; interval.length > 0; --interval.length, cpu += interval.stride) {
    if (!isCpu(cpu))
      continue;
    if (isOut)
      CPU_CLR(cpu, &place);
    else
      CPU_SET(cpu, &place);
  }
  return true;
}

/// "{0:4,!2}", or a single number.
static bool parsePlace(const char *&at, cpu_set_t &place) {
  CPU_ZERO(&place);
  if (consumeMark(at, '{')) {
    do
      if (!parseResources(at, place))
        return false;
    while (consumeMark(at, ','));
    return consumeMark(at, '}');
  }
  int64_t cpu;
  if (!consumeNumber(at, cpu))
    return false;
  if (isCpu(cpu))
    CPU_SET(cpu, &place);
  return true;
}

static bool addPlace(PlaceList &list, const cpu_set_t &place) {
  if (list.count == PlaceList::max)
    return false;
  list.places[list.count++] = place;
  return true;
}

static void removePlace(PlaceList &list, const cpu_set_t &place) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list.count; ++i)
    if (!CPU_EQUAL(&list.places[i], &place))
      list.places[kept++] = list.places[i];
  list.count = kept;
}

static cpu_set_t moved(const cpu_set_t &place, int64_t distance) {
  cpu_set_t result;
  CPU_ZERO(&result);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &place) && isCpu(cpu + distance))
      CPU_SET(cpu + distance, &result);
  return result;
}

/// "{0,1}:4:2,!{2,3}"
static bool parseList(const char *at, PlaceList &list) {
  do {
    bool isOut = consumeMark(at, '!');
    cpu_set_t place;
    Interval interval;
    if (!parsePlace(at, place))
      return false;
    if (isOut) {
      removePlace(list, place);
      continue;
    }
    if (!parseInterval(at, interval))
      return false;
    for (int64_t i = 0; i < interval.length; ++i)
      if (!addPlace(list, moved(place, i * interval.stride)))
        return false;
  } while (consumeMark(at, ','));
  return *at == '\0';
}

/// Groups of \p level in the order of their first CPUs, at most \p max.
static void addGroups(Level level, uint32_t max, const cpu_set_t &usable,
                      GroupOfCpu getGroup, PlaceList &list) {
  cpu_set_t left = usable;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE && list.count < max; ++cpu) {
    if (!CPU_ISSET(cpu, &left))
      continue;
    cpu_set_t group;
    CPU_ZERO(&group);
    if (level != Level::threads)
      getGroup(cpu, level, group);
    CPU_SET(cpu, &group);
    CPU_AND(&group, &group, &left);
    CPU_XOR(&left, &left, &group);
    addPlace(list, group);
  }
}

/// "cores", "sockets(2)"
static bool parseName(const char *at, const cpu_set_t &usable,
                      GroupOfCpu getGroup, PlaceList &list) {
  static const char *const names[] = {"threads", "cores", "ll_caches",
                                      "numa_domains", "sockets"};
  unsigned level = 0;
  while (level < 5 && !consumeWord(at, names[level]))
    ++level;
  if (level == 5)
    return false;
  int64_t max = PlaceList::max;
  if (consumeMark(at, '(') &&
      (!consumeNumber(at, max) || max == 0 || !consumeMark(at, ')')))
    return false;
  if (max > PlaceList::max)
    max = PlaceList::max;
  if (*at)
    return false;
  addGroups(Level(level), uint32_t(max), usable, getGroup, list);
  return true;
}

/// Leaves out CPUs that may not be used, and places that have no other.
static void dropUnusable(const cpu_set_t &usable, PlaceList &list) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list.count; ++i) {
    cpu_set_t place;
    CPU_AND(&place, &list.places[i], &usable);
    if (CPU_COUNT(&place) > 0)
      list.places[kept++] = place;
  }
  list.count = kept;
}

static bool parsePlaces(const char *text, const cpu_set_t &usable,
                        GroupOfCpu getGroup, PlaceList &list) {
  if (!parseName(text, usable, getGroup, list) && !parseList(text, list))
    list.count = 0;
  dropUnusable(usable, list);
  return list.count > 0;
}

// The three together

/// The first of several: the others are for teams inside of teams. False if it
/// is not set.
static bool parseBinding(const char *at, Binding &binding) {
  static const struct {
    const char *word;
    Binding binding;
  } words[] = {
      {"false", Binding::none},      {"true", Binding::close},
      {"close", Binding::close},     {"spread", Binding::spread},
      {"primary", Binding::primary}, {"master", Binding::primary},
  };
  for (const auto &one : words)
    if (consumeWord(at, one.word)) {
      binding = one.binding;
      return *at == '\0' || *at == ',';
    }
  return false;
}

void mpg::makePlaces(const PlaceWishes &wishes, const cpu_set_t &usable,
                     GroupOfCpu getGroup, PlaceList &list) {
  Binding binding;
  bool isSet = wishes.bind && parseBinding(wishes.bind, binding);
  list.count = 0;
  list.binding = isSet ? binding : Binding::close;
  if (list.binding != Binding::none) {
    if (wishes.places && parsePlaces(wishes.places, usable, getGroup, list))
      return;
    if (isSet)
      return addGroups(Level::cores, PlaceList::max, usable, getGroup, list);
  }
  list.binding = Binding::none;
  list.count = 1;
  list.places[0] = usable;
}

uint32_t mpg::defaultThreads(const PlaceWishes &wishes,
                             const cpu_set_t &usable) {
  const char *at = wishes.threads;
  int64_t number;
  if (at && consumeNumber(at, number) && number > 0 && (!*at || *at == ','))
    return uint32_t(number);
  return uint32_t(CPU_COUNT(&usable));
}

/// The CPU of \p place that has \p index others before it.
static int cpuAt(const cpu_set_t &place, uint64_t index) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &place) && index-- == 0)
      return cpu;
  return 0;
}

int mpg::cpuOfThread(const PlaceList &list, uint32_t thread, uint32_t threads) {
  uint64_t first = 0, end = threads, place = 0, index = 0, sharers = 1;
  if (list.binding == Binding::spread && threads <= list.count) {
    // Each thread gets as many places, and stands on the first of them.
    getPart({list.count, 0, 0, threads}, thread, 0, place, end);
  } else {
    SharedLoop row{threads, 0, 0, list.count};
    if (list.binding != Binding::primary) {
      place = getOwner(row, thread);
      getPart(row, uint32_t(place), 0, first, end);
    }
    index = thread - first;
    sharers = end - first;
  }
  const cpu_set_t &cpus = list.places[place];
  return cpuAt(cpus, index * uint64_t(CPU_COUNT(&cpus)) / sharers);
}
