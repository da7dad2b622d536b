// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory model a second time, as docs/sim.md describes it and without
// tricks: every access goes to every level, sets are searched completely, age
// is a time stamp. It shares the description of the machine and the numbering
// of counters with lib/Sim, nothing else.

#pragma once

#include "Sim/Model.h"
#include <list>
#include <map>

namespace mpg::sim {

class NaiveModel {
public:
  NaiveModel(const Machine &machine, const WhatIf &whatIf);
  void addSite(const Site &site);
  void access(unsigned core, unsigned site, uint64_t address);
  void affine(unsigned core, const std::vector<Stream> &streams,
              uint64_t times);
  void copy(unsigned core, const std::vector<Stream> &streams, uint64_t bytes);
  uint64_t count(unsigned site, unsigned counter) const;

private:
  struct Entry {
    uint64_t number, filled, used;
    unsigned sector;
    bool dirty;
  };
  struct Memory { // a cache or a TLB
    uint64_t sets = 1;
    unsigned ways = 1, sectors = 1;
    Replacement replacement = Replacement::lru;
    bool hitRelabels = false;
    IndexHash hash;
    unsigned lineBytes = 1;
    WayLimits limits = {};
    std::map<uint64_t, std::vector<Entry>> entries; // by set
  };
  /// One core's view for one page size, map and limit.
  struct View {
    unsigned page, map, limit;
  };

  /// A stream of misses of a first cache.
  struct MissStream {
    uint64_t front;
    int64_t steps;
    uint64_t last; ///< the miss that belonged to it, by number
    unsigned site;
  };
  struct Misses {
    uint64_t count = 0;
    std::list<MissStream> streams;
  };

  static Memory makeCache(const CacheLevel &level, unsigned lineBytes,
                          const WayLimits &limits);
  uint64_t getSet(const Memory &memory, uint64_t index) const;
  Entry *find(Memory &memory, uint64_t number, uint64_t index);
  size_t findVictim(const Memory &memory, const std::vector<Entry> &set,
                    unsigned sector) const;
  bool access(Memory &memory, uint64_t number, uint64_t index, unsigned sector,
              bool store, Entry &evicted);
  uint64_t physicalLine(const View &view, uint64_t line) const;
  Memory &cache(unsigned core, const View &view, unsigned level);

  void touch(unsigned core, unsigned site, uint64_t address, unsigned bytes);
  void lookupPages(unsigned core, unsigned site, uint64_t line);
  void touchLine(unsigned core, unsigned site, uint64_t line);
  void zeroLine(unsigned core, unsigned site, uint64_t line);
  void prefetchLine(unsigned core, unsigned site, uint64_t line);
  void touchFirst(unsigned core, unsigned site, uint64_t line, unsigned limit,
                  Count kind);
  void fetchAhead(unsigned core, unsigned site, uint64_t line,
                  uint64_t previous);
  void fetch(unsigned core, unsigned site, uint64_t line, const View &view,
             unsigned level, Count kind);
  void followMisses(unsigned core, unsigned site, uint64_t line,
                    unsigned limit);
  void fetchBeyond(unsigned core, const MissStream &ended, unsigned limit,
                   int64_t firstAhead);
  void writeBack(unsigned core, unsigned site, uint64_t line, const View &view,
                 unsigned level);
  void countMoved(unsigned core, unsigned site, uint64_t line, const View &view,
                  bool written);
  std::vector<View> views() const;

  Machine machine;
  WhatIf whatIf;
  CounterLayout layout;
  std::vector<Site> sites;
  uint64_t now = 0;
  std::map<std::vector<unsigned>, Memory> memories;
  std::map<std::pair<unsigned, unsigned>, Misses> misses; ///< by core and limit
  std::map<std::vector<uint64_t>, unsigned> firstTouchers;
  std::map<std::pair<unsigned, unsigned>, uint64_t> lastLines;
  std::map<std::pair<unsigned, unsigned>, uint64_t> counts;
};

} // namespace mpg::sim
