// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs all accesses of a basic block at once. Most of them do nothing: of
// members of one address that are used alike and lie in one line only the first
// can have an effect. Its effect, the line newest in its set and the line to
// fetch ahead there, remains until the others come if no other line of the pass
// is in these sets, and no TLB changes. So the lines are examined before. Where
// no TLB can change only the first ones are touched, and those that share a set
// with another line; else all. They keep their order, so this is exact.

#include "Sim/CoreParts.h"
#include <algorithm>

using namespace mpg::sim;

void Core::makeWalks(Bundle &bundle) {
  uint64_t lineBytes = uint64_t(1) << lineBits;
  std::vector<std::vector<unsigned>> positions;
  std::vector<unsigned> sites;
  for (unsigned at = 0; at < bundle.members.size(); ++at) {
    const Bundle::Member &member = bundle.members[at];
    const Slot &slot = slots[member.site];
    uint64_t end = member.offset + slot.bytes - 1;
    auto goesOn = [&](const Bundle::Walk &walk) {
      const std::vector<unsigned> &its = positions[&walk - &bundle.walks[0]];
      const Bundle::Member &last = bundle.members[its.back()];
      return walk.address == member.address && walk.key == slot.key &&
             slots[last.site].bytes == slot.bytes &&
             int64_t(member.offset - last.offset) >= 0 &&
             end - walk.first < lineBytes;
    };
    auto walk = std::find_if(bundle.walks.begin(), bundle.walks.end(), goesOn);
    if (walk == bundle.walks.end()) {
      Bundle::Walk one = {};
      one.address = member.address;
      one.first = member.offset;
      one.key = slot.key;
      one.keyMask = slot.keyMask;
      walk = bundle.walks.insert(walk, one);
      positions.emplace_back();
    }
    walk->last = end;
    positions[walk - bundle.walks.begin()].push_back(at);
    sites.push_back(member.site);
  }
  bundle.placed.resize(bundle.members.size());
  for (size_t at = 0; at < positions.size(); ++at) {
    for (unsigned place = 0; place < positions[at].size(); ++place)
      bundle.placed[positions[at][place]] = {unsigned(at), place};
    bundle.walks[at].begin = unsigned(bundle.order.size());
    bundle.walks[at].count = unsigned(positions[at].size());
    bundle.order.insert(bundle.order.end(), positions[at].begin(),
                        positions[at].end());
  }
  std::sort(sites.begin(), sites.end());
  bool isTwice = std::adjacent_find(sites.begin(), sites.end()) != sites.end();
  bundle.canBeQuick = canFollow && !isTwice;
}

/// The bit of the set of \p line, which the pass uses. Another line of it, or
/// the same used in another way, may be in the set: then it is shared.
inline uint64_t Core::claim(uint64_t line, uint64_t how) {
  uint64_t set = line & firstMask & (claims.size() - 1);
  uint64_t use = line << 3 | how, bit = uint64_t(1) << set;
  if (!(claimed & bit))
    claims[set] = use;
  else if (claims[set] != use)
    shared |= bit;
  claimed |= bit;
  return bit;
}

/// Members that go from line \p previous to \p line, of which \p member is the
/// first.
inline void Core::planEvent(unsigned member, Bundle::Walk &walk, uint64_t line,
                            uint64_t previous) {
  uint64_t sector = walk.key & ~uint64_t(1);
  walk.nextSets |= claim(line, sector);
  uint64_t target = computeAhead(line, previous);
  if (target != noLine)
    walk.nextSets |= claim(target, sector | 1);
  if (!isNewest(line, walk.key, walk.keyMask) || !isFetched(target))
    events.push_back({member, line, previous});
}

/// The first member in the next line; 0: one of them is in two lines.
unsigned Core::findSplit(const Bundle &bundle, const Bundle::Walk &walk,
                         uint64_t address) const {
  uint64_t line = (address + walk.first) >> lineBits;
  for (unsigned at = 1; at < walk.count; ++at) {
    const Bundle::Member &member =
        bundle.members[bundle.order[walk.begin + at]];
    const Bundle::Member &before =
        bundle.members[bundle.order[walk.begin + at - 1]];
    if ((address + member.offset) >> lineBits == line)
      continue;
    uint64_t end = address + before.offset + slots[before.site].bytes - 1;
    return end >> lineBits == line ? at : 0;
  }
  return 0;
}

/// Members that go from the same line to the same line do the same. False: a
/// page that is not known, or a member in two lines.
inline bool Core::planWalk(Bundle &bundle, Bundle::Walk &walk,
                           uint64_t address) {
  uint64_t line = (address + walk.first) >> lineBits;
  uint64_t end = (address + walk.last) >> lineBits;
  if (line >> pageShift != walk.page || end >> pageShift != walk.page)
    return false;
  const unsigned *members = &bundle.order[walk.begin];
  walk.nextLine = line;
  walk.nextSplit = walk.count;
  walk.nextSets = 0;
  if (line == end && walk.split == walk.count) {
    planEvent(members[0], walk, line, walk.line);
    return true;
  }
  if (line != end)
    walk.nextSplit = findSplit(bundle, walk, address);
  if (!walk.nextSplit ||
      (end != line &&
       (address + bundle.members[members[walk.count - 1]].offset) >> lineBits !=
           end))
    return false;
  unsigned last = walk.count;
  for (unsigned at : {0U, std::min(walk.nextSplit, walk.split),
                      std::max(walk.nextSplit, walk.split)}) {
    if (at == walk.count || at == last)
      continue;
    last = at;
    planEvent(members[at], walk, line + (at >= walk.nextSplit),
              walk.line + (at >= walk.split));
  }
  return true;
}

/// Whether all of \p walk goes from the line of \p leader, which is ahead of
/// it, to the same line and is used alike: then it does the same.
inline bool Core::planFollower(const Bundle::Walk &leader, Bundle::Walk &walk,
                               uint64_t address) const {
  uint64_t line = (address + walk.first) >> lineBits;
  if (line != leader.nextLine || walk.line != leader.line ||
      walk.key != leader.key || walk.page != leader.page ||
      (address + walk.last) >> lineBits != line || walk.split != walk.count ||
      leader.split != leader.count || leader.nextSplit != leader.count)
    return false;
  walk.nextLine = line;
  walk.nextSplit = walk.count;
  walk.nextSets = leader.nextSets;
  return true;
}

bool Core::planPass(Bundle &bundle, const uint64_t *addresses) {
  if (!bundle.isKnown || bundle.pageChanges != pageChanges)
    return false;
  claimed = shared = 0;
  events.clear();
  const Bundle::Walk *leader = nullptr;
  for (Bundle::Walk &walk : bundle.walks) {
    uint64_t address = addresses[walk.address];
    if (leader && planFollower(*leader, walk, address))
      continue;
    if (!planWalk(bundle, walk, address))
      return false;
    leader = &walk;
  }
  // Nearly in order: walks are by their first members.
  for (size_t at = 1; at < events.size(); ++at)
    for (size_t to = at; to && events[to].member < events[to - 1].member; --to)
      std::swap(events[to], events[to - 1]);
  return true;
}

/// Lines of sites as the walks say.
void Core::writeLines(const Bundle &bundle) {
  for (const Bundle::Walk &walk : bundle.walks)
    for (unsigned at = 0; at < walk.count; ++at)
      slots[bundle.members[bundle.order[walk.begin + at]].site].line =
          walk.line + (at >= walk.split);
}

/// The other way round, if the form allows it.
void Core::learn(Bundle &bundle) const {
  for (Bundle::Walk &walk : bundle.walks) {
    auto getSlot = [&](unsigned at) -> const Slot & {
      return slots[bundle.members[bundle.order[walk.begin + at]].site];
    };
    walk.line = getSlot(0).line;
    walk.split = walk.count;
    walk.page = getSlot(0).pageLine >> pageShift;
    for (unsigned at = 0; at < walk.count; ++at) {
      const Slot &slot = getSlot(at);
      if (slot.line == walk.line + 1)
        walk.split = std::min(walk.split, at);
      if (slot.line != walk.line + (at >= walk.split) ||
          slot.pageChanges != pageChanges ||
          slot.pageLine >> pageShift != walk.page)
        return;
    }
  }
  bundle.isKnown = true;
  bundle.pageChanges = pageChanges;
}

void Core::passOneByOne(Bundle &bundle, const uint64_t *addresses) {
  if (bundle.isKnown)
    writeLines(bundle);
  bundle.isKnown = false;
  uint64_t pageChangesBefore = pageChanges;
  for (const Bundle::Member &member : bundle.members) {
    uint64_t begin = addresses[member.address] + member.offset;
    touch(member.site, begin >> lineBits,
          (begin + slots[member.site].bytes - 1) >> lineBits);
  }
  if (bundle.canBeQuick && pageChanges == pageChangesBefore)
    learn(bundle);
}

/// Where sets are shared, all that walks do in them, and the first members of
/// the others.
void Core::touchShared(const Bundle &bundle) {
  for (unsigned member = 0; member < bundle.members.size(); ++member) {
    const Bundle::Walk &walk = bundle.walks[bundle.placed[member].walk];
    unsigned at = bundle.placed[member].at;
    bool isFirst = !at || at == walk.nextSplit || at == walk.split;
    if (!isFirst && !(walk.nextSets & shared))
      continue;
    uint64_t line = walk.nextLine + (at >= walk.nextSplit);
    unsigned site = bundle.members[member].site;
    slots[site].line = walk.line + (at >= walk.split);
    touch(site, line, line);
  }
}

void Core::pass(Bundle &bundle, const uint64_t *addresses) {
  begin();
  if (bundle.walks.empty())
    makeWalks(bundle);
  ++bundle.passes;
  if (!planPass(bundle, addresses))
    return passOneByOne(bundle, addresses);
  if (shared)
    touchShared(bundle);
  else
    for (const Event &event : events) {
      unsigned site = bundle.members[event.member].site;
      slots[site].line = event.previous;
      touch(site, event.line, event.line);
    }
  for (Bundle::Walk &walk : bundle.walks) {
    walk.line = walk.nextLine;
    walk.split = walk.nextSplit;
  }
}

void Core::settle(Bundle &bundle) {
  if (bundle.isKnown)
    writeLines(bundle);
  bundle.isKnown = false;
  for (const Bundle::Member &member : bundle.members)
    slots[member.site].accesses += bundle.passes;
  bundle.passes = 0;
}
