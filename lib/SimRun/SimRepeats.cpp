// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimProgram.h.

#include "SimRun/SimProgram.h"
#include <algorithm>

using namespace mpg::sim;

static bool isPart(const mpg_sim_record &record) {
  uint64_t kind = getKind(record);
  return kind == MPG_SIM_ACCESS || kind == MPG_SIM_BUNDLE ||
         kind == MPG_SIM_CALLED;
}

static unsigned getLength(const mpg_sim_record &record) {
  return getKind(record) == MPG_SIM_BUNDLE ? recordsOfBundle(record) : 1;
}

/// The first iteration ends where a record is like its first one.
bool SimRepeats::findLength(const mpg_sim_record *first, unsigned left) {
  constexpr unsigned maxParts = 32;
  theParts.clear();
  unsigned at = 0;
  do {
    if (theParts.size() == maxParts)
      return false;
    theParts.push_back(first + at);
    at += getLength(first[at]);
    if (at >= left || !isPart(first[at]))
      return false;
  } while (first[at].word != first->word);
  length = at;
  return true;
}

/// Whether the second iteration has the same parts.
bool SimRepeats::isAlikeNext() const {
  return std::all_of(theParts.begin(), theParts.end(),
                     [&](const mpg_sim_record *part) {
                       return part[length].word == part->word;
                     });
}

/// Iterations of \p words words from \p first on, at most \p max, in which each
/// word goes on as from the first to the second one.
static uint64_t countAlike(const uint64_t *first, size_t words, uint64_t max) {
  const uint64_t *second = first + words, *now = second;
  for (uint64_t times = 2; times < max; ++times) {
    const uint64_t *before = now;
    now += words;
    uint64_t different = 0;
    for (size_t at = 0; at < words; ++at)
      different |= (now[at] - before[at]) ^ (second[at] - first[at]);
    if (different)
      return times;
  }
  return max;
}

uint64_t SimRepeats::find(const mpg_sim_record *first, unsigned left) {
  unsigned place = getNumber(*first);
  if (place >= waits.size())
    waits.resize(place + 1);
  Wait &wait = waits[place];
  if (wait.left) {
    --wait.left;
    return 0;
  }
  uint64_t times = 0;
  if (findLength(first, left) && left >= minTimes * length && isAlikeNext())
    times = countAlike(&first->value, 2 * length, left / length);
  if (times < minTimes) {
    reject(first);
    return 0;
  }
  wait.next = 0;
  return times;
}

void SimRepeats::reject(const mpg_sim_record *first) {
  constexpr unsigned maxWait = 1023;
  Wait &wait = waits[getNumber(*first)];
  wait.left = wait.next = uint16_t(std::min(2U * wait.next + 1, maxWait));
}
