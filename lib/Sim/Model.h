// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory model: a program's accesses go in, misses come out, for several
// page sizes, page maps, sector limits and placements at once. docs/sim.md says
// what is modelled and what is not; test/unit/sim/NaiveModel.cpp is the same
// without a trick. Start reading at Core::touch.
//
// Accesses of one core are in program order; those of different cores are taken
// in the order of the calls. One Model is for one thread.

#pragma once

#include "Sim/PageFrames.h"
#include "Sim/PrefetchQueue.h"
#include "Sim/SimMachine.h"
#include <memory>

namespace mpg::sim {

class HeldLines;

/// What-ifs. Every page size is simulated with every map and every limit.
struct WhatIf {
  std::vector<uint64_t> pageBytes;
  /// Maps of physical pages. 0: virtual = physical. An empty list: caches after
  /// the first are not modelled.
  std::vector<uint64_t> mapSeeds = {0};
  /// Ways that sectors may fill, for each cache level; a level without an entry
  /// is not divided.
  std::vector<std::vector<WayLimits>> limits = {{}};
  std::vector<PlacementPolicy> placements;
  bool prefetch = true;
  std::vector<unsigned> groupOfCore = {0};

  WayLimits firstWays(unsigned limit) const {
    return limits[limit].empty() ? WayLimits() : limits[limit][0];
  }
};

enum class Count : uint8_t { demandMisses, prefetchMisses, writeBacks };

/// Places of counters in the row of a site: all that is simulated side by side
/// is in one row. Arguments are positions in WhatIf's lists, and levels of the
/// machine.
class CounterLayout {
public:
  CounterLayout(const Machine &machine, const WhatIf &whatIf);

  unsigned accesses() const { return 0; }
  unsigned tlbMisses(unsigned page, unsigned level) const {
    return 1 + page * tlbLevels + level;
  }
  unsigned firstCache(unsigned limit, Count what) const {
    return firstCacheBegin + limit * kinds + unsigned(what);
  }
  /// \p level is 1 or more.
  unsigned cache(unsigned page, unsigned map, unsigned limit, unsigned level,
                 Count what) const {
    return chain(page, map, limit) + (level - 1) * kinds + unsigned(what);
  }
  /// Lines written to memory.
  unsigned memoryWrites(unsigned page, unsigned map, unsigned limit) const {
    return chain(page, map, limit) + (cacheLevels - 1) * kinds;
  }
  /// Lines that come from the memory of the own group or of another, or are
  /// written there.
  unsigned moved(unsigned page, unsigned map, unsigned limit,
                 unsigned placement, bool isRemote, bool written) const {
    return memoryWrites(page, map, limit) + 1 +
           (placement * 2 + unsigned(written)) * 2 + unsigned(isRemote);
  }
  /// The first counter of one page size, map and limit.
  unsigned chain(unsigned page, unsigned map, unsigned limit) const {
    return chainBegin + ((page * maps + map) * limits + limit) * chainSize;
  }
  unsigned size() const { return total; }

private:
  static constexpr unsigned kinds = 3;
  unsigned tlbLevels, cacheLevels, maps, limits;
  unsigned firstCacheBegin, chainBegin, chainSize, total;
};

/// One load or store of the program, on one array: whose row the counts go to.
/// The caller numbers loops and arrays.
struct Site {
  unsigned loop = 0;
  unsigned array = 0;
  unsigned bytes = 8; ///< of one access, at most a line
  bool store = false;
  uint8_t sector = 0; ///< of the address tag, 0 to 3
  /// DC ZVA: the line that its address is in is put into the second cache, and
  /// is not read. Neither the first cache nor a prefetcher sees it. pre: bytes
  /// is 1, and no copy or range has the site.
  bool zeroes = false;
  /// A prefetch by software into this cache and those after it, 1 or 2; 0: an
  /// access. The caches' own prefetchers do not see it. pre: as of zeroes, and
  /// it does not store.
  uint8_t prefetches = 0;
};

/// Accesses of one site in a loop, \p stride bytes apart.
struct Stream {
  Stream(unsigned site, uint64_t begin, int64_t stride)
      : site(site), begin(begin), stride(stride) {}
  unsigned site;
  uint64_t begin;
  int64_t stride;
};

/// Accesses of a basic block, in order: each at a fixed offset from one of the
/// addresses that are given with each pass. Of one core, which accesses the
/// sites in no other way until it has settled the bundle.
class Bundle {
public:
  struct Member {
    unsigned site;
    unsigned address; ///< position among those given
    uint64_t offset;  ///< modulo 2^64
  };
  explicit Bundle(std::vector<Member> members) : members(std::move(members)) {}

private:
  friend class Core;
  /// The first of consecutive members on one page.
  struct PageUse {
    PageUse(uint64_t page, unsigned site) : page(page), site(site) {}
    uint64_t page; ///< the smallest
    unsigned site;
  };
  std::vector<Member> members;
  std::vector<PageUse> pageUses; ///< of the last pass
  /// The next pass cannot go by them: none was made, or an access was on two.
  bool findsPages = true;
  /// For each page size: how often its TLBs had changed when all pages were in
  /// them; 0: they were not.
  std::vector<uint64_t> knownAt;
  uint64_t passes = 0; ///< that are not yet in the sites' counts
};

class Model;

/// A core with its first cache and its TLBs.
class Core {
public:
  void access(unsigned site, uint64_t address);
  /// \p times iterations that access each of \p streams in order.
  void affine(const std::vector<Stream> &streams, uint64_t times);
  /// Bytes one after the other (memset), in accesses of 64 bytes and a rest.
  /// The site's own width does not count.
  void range(unsigned site, uint64_t begin, uint64_t bytes);
  /// The same as a copy from one place to another (memcpy).
  void copy(unsigned from, uint64_t fromBegin, unsigned to, uint64_t toBegin,
            uint64_t bytes);
  /// One pass through \p bundle. Its counts are there when it is settled.
  void pass(Bundle &bundle, const uint64_t *addresses);
  /// The sites may be accessed in other ways from now on.
  void settle(Bundle &bundle);

private:
  friend class Model;
  struct Pages;
  struct First;
  struct Chain;
  struct Request;
  struct Slot;
  class BlockRuns;
  class PageRuns;
  static constexpr uint64_t noLine = ~uint64_t(0);
  /// A stream on its way.
  struct Cursor {
    Cursor(const Stream &stream, uint64_t inverse, unsigned bytes)
        : stream(stream), inverse(inverse), bytes(bytes) {}
    /// The lines of its first and last byte.
    uint64_t line = noLine, end = noLine;
    uint64_t next = 0; ///< the iteration in which it leaves them
    Stream stream;
    uint64_t inverse; ///< 2^32 by the stride, rounded up
    unsigned bytes;
    bool isLed = false; ///< \see findLeaders
  };
  /// A site that walks along the lines of another.
  struct Follower {
    unsigned site, leader;
  };
  /// Iterations of a loop after which all is as before, some lines further on.
  struct Period {
    uint64_t times = 0; ///< iterations; 0: none is looked for
    uint64_t next;      ///< the iteration that the next one begins with
    uint64_t lines;     ///< that all streams go on in one
    uint64_t seen;      ///< how many there were
    std::vector<uint64_t> state; ///< at its begin, \see stateBefore
  };
  /// \see CoreAgain.cpp
  struct PastLoop;
  /// The last event in a set of the first cache, for all limits.
  struct Lookup {
    uint64_t newest = noLine; ///< line, sector and store of the newest line
    uint64_t ahead = noLine;  ///< fetched ahead, and nothing came in since
  };

  Core(Model &model, unsigned group);
  void addFirst(unsigned limit);
  First &getFirst(unsigned limit);
  void addPages(uint64_t pageBytes);
  void addChain(unsigned page, unsigned map, unsigned limit);
  void addSite(const Site &site);

  // These return whether the same access again would change nothing.
  bool touch(unsigned site, uint64_t line, uint64_t end);
  bool touchAnew(Slot &slot, uint64_t line, uint64_t end);
  bool touchOther(Slot &slot, uint64_t line, uint64_t end);
  bool touchSecond(Slot &slot, uint64_t line);
  bool zeroLine(Slot &slot, uint64_t line);
  bool prefetchLine(Slot &slot, uint64_t line);
  bool touchLine(Slot &slot, uint64_t line);
  bool lookupPages(Slot &slot, uint64_t line);
  bool lookupPage(Pages &size, const Slot &slot, uint64_t page);
  bool lookupFirst(const Slot &slot, uint64_t line);
  bool touchAll();
  void touchAlong();

  bool isPageKnown(const Slot &slot, uint64_t line) const;
  bool isNewest(uint64_t line, uint64_t key, uint64_t keyMask) const;
  uint64_t computeAhead(uint64_t line, uint64_t previous) const;
  bool isFetched(uint64_t target) const;
  bool follow(Slot &slot, uint64_t line);
  void missFirst(const Slot &slot, uint64_t line, First &one, Count kind,
                 const CacheSets::Outcome &outcome);
  bool insertFirst(const Slot &slot, uint64_t line);
  void fetchFirst(const Slot &slot, uint64_t line);
  void addRequest(First &one, const Request &wanted);
  void fetchBeyond(First &one, const PrefetchQueue::Beyond &beyond);
  static void append(std::vector<Request> &requests, const Request &wanted);
  void request(First &one, const Request &wanted);
  void settleHeld(First &one);
  static void setHolding(First &one, bool isOn);
  void answer();
  void answer(First &one);
  size_t answer(Chain &chain, const std::vector<Request> &requests,
                HeldLines *held);
  size_t answer(Chain &chain, unsigned level,
                const std::vector<Request> &requests,
                std::vector<Request> &next, HeldLines *held);
  void letGo();
  void letGo(First &one);
  void useMemory(const Request &request, const Chain &chain, unsigned lines);
  static Request evictedBy(const Request &request, uint64_t result);
  void countMisses(const Request &request, Chain &chain, uint64_t result,
                   unsigned lines);
  void countMoved(const Request &request, const Chain &chain, bool written,
                  unsigned lines);
  void begin();

  void copyVectors(std::initializer_list<Stream> streams, uint64_t bytes);
  void addCursor(const Stream &stream, unsigned bytes);
  void run(uint64_t times);
  void runEach(uint64_t times);
  std::vector<uint64_t> describeLoop(uint64_t times) const;
  std::vector<uint64_t> readState(const std::vector<unsigned> &sites) const;
  void writeState(const std::vector<unsigned> &sites,
                  const std::vector<uint64_t> &state);
  void repeat(const PastLoop &past);
  void record(PastLoop &past, uint64_t times);
  void runEachOrRepeat(uint64_t times);
  uint64_t runAlong(uint64_t now, uint64_t times);
  void runLines(uint64_t times);
  bool canLookUpPagesApart(uint64_t times, bool isAlong) const;
  void leadFollowers();
  static bool leavesAtOnce(const Cursor &cursor);
  bool haveSameLines(const Cursor &leader, const Cursor &cursor) const;
  bool isLedBy(const Cursor &leader, const Cursor &cursor) const;
  void halveBody();
  void findLeaders();
  void dropFollowers();
  uint64_t moveCursors(uint64_t now, uint64_t times);
  void iterate(uint64_t times);
  bool isSettled(uint64_t pageChangesBefore) const;
  uint64_t place(Cursor &cursor, uint64_t now, unsigned bits);
  void moveCursor(Cursor &cursor, uint64_t now);
  bool findPeriod(uint64_t times);
  uint64_t endPeriod(uint64_t now, uint64_t times);
  void stopPeriods();
  std::vector<uint64_t> stateBefore(uint64_t lines) const;
  void repeat(uint64_t periods);
  bool repeatInBlocks(First &one, uint64_t periods);
  void runPages(uint64_t times);

  void findPages(Bundle &bundle, const uint64_t *addresses) const;
  void lookupAllPages(Bundle &bundle, bool areNew);

  Model &model;
  unsigned group;
  unsigned lineBits;
  unsigned pageShift;      ///< from a line's number to its smallest page's
  unsigned linesAhead;     ///< of the first cache's prefetcher; 0: it has none
  std::vector<Slot> slots; ///< of each site
  std::vector<uint64_t> counts; ///< rows of sites
  std::vector<Pages> pages;     ///< TLBs of each page size, smallest first
  bool tlbHitsLeaveState = true;
  uint64_t pageChanges = 1;   ///< how often a TLB has changed
  std::vector<First> first;   ///< the first cache, for all limits that differ
  std::vector<Lookup> looked; ///< up in each of its sets
  uint64_t firstMask;         ///< from a line's number to its set
  std::vector<uint64_t> evicted; ///< from it in a round, see isSettled
  bool collectsEvicted = false;
  uint64_t filledSets = 0; ///< a bit for the sets that were fetched into
  bool canSettle = true;
  std::vector<Chain> chains; ///< caches after it, in layout's order
  std::vector<std::unique_ptr<CacheSets>> ownCaches;
  std::array<std::vector<Request>, 2> passedOn; ///< from level to level

  std::vector<Cursor> cursors; ///< of the loop at hand
  std::vector<Cursor *> along; ///< those in another line in each iteration
  uint64_t turns = 1;          ///< of them in one iteration
  std::vector<Follower> followers;
  /// Other sites find lines that one has fetched into the first cache.
  bool canFollow = true;
  uint64_t runs = 0;
  uint64_t steps = 0;              ///< \see Model::steps
  Period period;                   ///< of the loop at hand
  bool isLogging = false;          ///< \see First::log
  std::vector<PastLoop> pastLoops; ///< by number of their first site
  /// Pages are not looked up with the lines, \see runPages.
  bool pagesApart = false;
  std::array<std::vector<uint64_t>, 2> tlbStates; ///< before and after
  uint64_t missWeight = 1; ///< what a miss of a TLB counts
  /// Two leaders of one site, or one that zeroes or prefetches.
  bool hasTwins = false;
};

class Model {
public:
  /// pre: \p machine is one that readMachine would take; \p whatIf has at least
  /// one page size and one limit; page sizes are powers of two, ascending, and
  /// at least a line.
  Model(const Machine &machine, const WhatIf &whatIf);
  ~Model();
  Model(const Model &) = delete;

  /// \returns its number; also between accesses.
  unsigned addSite(const Site &site);
  const Site &site(unsigned number) const { return sites[number]; }
  Core &core(unsigned number) { return *cores[number]; }
  unsigned coreCount() const { return unsigned(cores.size()); }
  /// One more, with the next number; also between accesses.
  void addCore(unsigned group);
  const CounterLayout &layout() const { return counters; }

  /// The sum over cores, of one site or of all.
  uint64_t count(unsigned site, unsigned counter) const;
  /// The same of one core.
  uint64_t count(unsigned site, unsigned counter, unsigned core) const;
  uint64_t total(unsigned counter) const;
  /// Clears the counts; the caches keep their contents.
  void resetCounts();
  /// The work that loops took: rounds, requests to the caches after the first,
  /// and blocks of them.
  uint64_t steps() const;

private:
  friend class Core;
  void answerAll() const;
  std::unique_ptr<CacheSets> makeCache(unsigned level, unsigned limit) const;
  /// Place in sharedCaches.
  size_t sharedPlace(unsigned group, unsigned page, unsigned map,
                     unsigned limit, unsigned level) const;

  Machine machine;
  WhatIf whatIf;
  CounterLayout counters;
  /// Limits that divide the first cache alike count its misses once.
  std::vector<unsigned> countedIn;
  unsigned lineBits;
  std::vector<Site> sites;
  /// Null where each core has its own.
  std::vector<std::unique_ptr<CacheSets>> sharedCaches;
  std::vector<PageNodes> nodes; ///< of each page size and placement
  std::vector<std::unique_ptr<Core>> cores;
  Core *asking = nullptr; ///< the core whose requests wait, see Core::begin
};

} // namespace mpg::sim
