// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events of a program, fed to the model: each load or store on each array
// is a site of it.

#pragma once

#include "DebugInfo/BlockOrigin.h"
#include "SimRun/SimArrays.h"
#include "SimRun/SimDecoder.h"
#include "SimRun/SimEmulated.h"
#include "SimRun/SimPlaces.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace mpg::sim {

// SimRepeats.cpp: finds loops in records of single accesses and basic blocks. A
// loop with a condition in its body is not summed up in the program: another
// iteration might access something else. Often none does for a long time, and
// each address goes on by the same number of bytes. Such iterations are a loop
// of the model. To look at their records costs a fraction of modelling each
// access, because words are compared and not read.

class SimRepeats {
public:
  /// Fewer iterations are not worth the preparation of a loop.
  static constexpr uint64_t minTimes = 8;

  /// Looks for iterations from the bundle \p first on, in \p left records.
  /// \returns how many there are; 0: fewer than minTimes, or it did not look
  /// because it found none there before. pre: a module has the place.
  uint64_t find(const mpg_sim_record *first, unsigned left);
  /// The iterations that find() has returned for \p first cannot be used.
  void reject(const mpg_sim_record *first);
  /// The records of one iteration, of those found last.
  unsigned records() const { return length; }
  /// The first record of each bundle, single access and call of it.
  const std::vector<const mpg_sim_record *> &parts() const { return theParts; }
  /// From the address in \p word, of the first iteration, to that of the next
  /// one.
  int64_t getStep(const uint64_t &word) const {
    return int64_t(*(&word + 2 * length) - word);
  }

private:
  /// The number of bundles with this first place that are skipped.
  struct Wait {
    uint16_t left = 0, next = 0;
  };
  bool findLength(const mpg_sim_record *first, unsigned left);
  bool isAlikeNext() const;

  unsigned length = 0;
  std::vector<const mpg_sim_record *> theParts;
  std::vector<Wait> waits; ///< by first place
};

// SimCallers.cpp: names of heap blocks by the calls that allocated them, with
// the program's debug information: what DebugInfo/BlockOrigin.h says, and what
// the compiler passes know of the innermost call.

class SimCallers {
public:
  /// Lines "I begin end bias path" of a module's text: where files lie.
  void read(llvm::StringRef text);

  /// Gives \p array, which has what the passes know, the place and the variable
  /// that \p calls lead to. Without calls, or without lines, it stays as it is.
  /// \p number: that SimArrays will give it.
  void name(SimArray &array, unsigned number,
            const std::vector<uint64_t> &calls);

  /// Whether the user's \p wanted is the array \p number.
  bool isNamed(unsigned number, llvm::StringRef wanted) const;

  /// At the end of the program: gives keys and distinctions to \p arrays.
  void disambiguate(SimArrays &arrays);

private:
  struct File {
    uint64_t end, bias;
    std::string path;
  };
  std::map<uint64_t, File> files; ///< by address
  BlockNamer namer;
  std::vector<BlockOrigin> origins;
  struct Named {
    size_t origin;
    unsigned order; ///< of the arrays with one variable and line
  };
  std::map<unsigned, Named> named;         ///< by number of the array
  std::map<std::string, unsigned> namings; ///< how often a name was given
};

/// Which core group the threads run on: as many as it has cores, then the next
/// group; or one on each, round and round.
enum class ThreadPlaces : uint8_t { compact, spread };

class SimProgram {
public:
  /// \p whatIf has one core, that of the first thread; others are added to the
  /// model when they come. Its placements are modelled if the program can begin
  /// threads: they cost time.
  SimProgram(const Machine &machine, const WhatIf &whatIf,
             ThreadPlaces threads = ThreadPlaces::compact)
      : machine(machine), whatIf(whatIf), threads(threads) {}

  /// Arrays of sector 1, by name or as "file:line" without folders; before the
  /// first chunk.
  void setStream(const std::vector<std::string> &names);
  /// The names of setStream() that the program has used.
  const std::set<std::string> &streamSeen() const { return seenStream; }

  /// Placements are modelled whatever the modules call.
  void expectThreads() { mayHaveThreads = true; }
  /// Names the instructions of a program under qemu. pre: no more chunks.
  void nameInstructions(SimSourceOf getSource) {
    emulated.nameAll(thePlaces, getSource);
  }
  /// \see SimEmulated
  bool hasUnseenSve() const { return emulated.hasUnseenSve(); }

  /// One chunk of mpg/sim.h, of so many records at most.
  void read(const mpg_sim_record *chunk, unsigned records = recordsOfChunk) {
    decoder.read(chunk, *this, records);
  }
  /// The same for what allocates and names memory alone; accesses are ignored.
  void readNames(const mpg_sim_record *chunk, unsigned records);
  /// While this is on, accesses fill caches and TLBs and are in no count.
  void setWarmingUp(bool isOn);

  /// pre: finish was called.
  const Model &model() const { return *theModel; }
  /// No more chunks.
  void finish();
  bool hasPlacements() const { return !whatIf.placements.empty(); }
  unsigned getGroup(unsigned core) const {
    return threads == ThreadPlaces::spread ? core % machine.groups.count
                                           : core / machine.groups.coresEach;
  }
  bool hasAccesses() const { return siteCount() != 0; }
  const SimPlaces &places() const { return thePlaces; }
  const SimArrays &arrays() const { return theArrays; }
  /// By number of the array.
  std::vector<PageUse> pageUses() const { return pageUse.byArray(); }
  PageHeat pageHeat(unsigned array, unsigned maxRows) const {
    return pageUse.computeHeat(array, maxRows);
  }
  unsigned siteCount() const { return unsigned(siteIsCounted.size()); }
  /// False: the site is one that warms up.
  bool isCounted(unsigned site) const { return siteIsCounted[site]; }
  uint64_t warmUpAccesses() const;
  /// Bytes from the first to the last page that the accesses of \p site reach.
  uint64_t getReach(unsigned site) const {
    return spans[site].end - spans[site].begin;
  }
  uint64_t accessedBytes() const;
  /// Calls of functions that no module of the program has, by name.
  std::map<std::string, uint64_t> callsNotSeen() const;
  /// Why a module could not be used; empty if all could.
  const std::string &moduleError() const { return firstError; }
  uint64_t damaged() const { return decoder.damaged(); }
  /// The same for two runs of one program, and not for two builds of it.
  uint64_t build() const { return modulesHash; }

  // For the decoder.
  void access(unsigned place, uint64_t address) {
    Found &one = foundFor(place, address);
    if (uint64_t page = address >> SimPageUse::pageBits; page != one.page) {
      one.page = page;
      usePage(one.site, address);
    }
    now->access(one.site, address);
  }
  void instruction(uint64_t word, uint64_t address) {
    access(emulated.getPlace(word, thePlaces), address);
  }
  void checked(unsigned, uint64_t) {}
  bool bundle(unsigned first, unsigned accesses,
              const std::vector<uint64_t> &addresses);
  unsigned repeats(const mpg_sim_record *record, unsigned left);
  void loop(const std::vector<Stream> &streams, uint64_t times);
  void copy(const Stream &from, const Stream &to, uint64_t bytes);
  void fill(const Stream &to, uint64_t bytes);
  void allocated(unsigned place, uint64_t address, uint64_t bytes,
                 const std::vector<uint64_t> &callers);
  void freed(uint64_t address) { theArrays.remove(address); }
  void called(unsigned place, uint64_t times = 1);
  void stack(uint64_t address, uint64_t bytes);
  void object(unsigned number, uint64_t address, uint64_t bytes);
  void module(uint64_t first, const std::string &text);
  void core(unsigned number);

private:
  /// The last result for a place.
  struct Found {
    uint64_t begin = 1, end = 0;
    uint64_t changes = 0;         ///< of the arrays
    uint64_t page = ~uint64_t(0); ///< that it accessed last
    SimPageUse::Walked walked;    ///< in its last loop
    unsigned site = 0;
  };

  /// The model's view of a bundle, as long as each of its addresses stays in
  /// its array.
  struct Bound {
    struct Address {
      uint64_t min = 0, max = 0;   ///< offsets from it
      uint64_t begin = 1, end = 0; ///< \see Found
      /// Accesses to \c room bytes from \c onPage on stay on the page that was
      /// used last, and in its array.
      uint64_t onPage = 0, room = 0;
      bool isCounted = false; ///< so does the pass at hand

      bool isOnPage(uint64_t value) const { return value - onPage < room; }
      /// pre: \p value is in the array.
      void stayOn(uint64_t value) {
        uint64_t page = (value + min) & -(uint64_t(1) << SimPageUse::pageBits);
        uint64_t pageEnd = page + (uint64_t(1) << SimPageUse::pageBits);
        uint64_t first = std::max(page, begin) - min;
        uint64_t last = std::min(pageEnd, end) - max;
        onPage = first;
        // None if accesses of this pass are on the next page.
        room = int64_t(last - first) > 0 && value - first < last - first
                   ? last - first
                   : 0;
      }
    };
    const SimBundle *what = nullptr; ///< as the module describes it
    std::vector<Address> addresses;
    std::optional<Bundle> bundle;
    uint64_t changes = 0; ///< of the arrays
  };

  struct Names;

  /// Found for accesses that are counted, or for those that warm up: they have
  /// different sites.
  struct View {
    /// By core, then by place; what one thread finds is of no use to another.
    std::vector<std::vector<Found>> foundByCore{1};
    /// By core, then by first place.
    std::vector<std::vector<std::unique_ptr<Bound>>> boundByCore{1};
  };

  /// Where the addresses of a pass go.
  struct Reach {
    bool isBound; ///< to the arrays of the sites
    bool isKnown; ///< to pages that are counted already
  };

  Found &foundFor(unsigned place, uint64_t address) {
    if (found && place < found->size()) {
      Found &last = (*found)[place];
      if (address >= last.begin && address < last.end &&
          last.changes == theArrays.changes())
        return last;
    }
    return find(place, address);
  }
  unsigned findSite(unsigned place, uint64_t address) {
    return foundFor(place, address).site;
  }
  Found &find(unsigned place, uint64_t address);
  bool isStream(unsigned array);
  unsigned getArray(const SimPlace &place, unsigned found);

  void begin();
  void useView();
  Bound *boundFor(unsigned first);
  Reach getReach(const Bound &bound,
                 const std::vector<uint64_t> &addresses) const;
  bool bind(Bound &bound, unsigned first,
            const std::vector<uint64_t> &addresses);
  void usePages(Bound &bound, unsigned first,
                const std::vector<uint64_t> &addresses);
  void usePages(unsigned site, uint64_t begin, uint64_t bytes);
  void useStream(const Stream &stream, uint64_t times, Found &one);
  uint64_t addRepeated(uint64_t times);
  uint64_t addRepeatedAccess(const mpg_sim_record &record, uint64_t times);
  uint64_t addRepeatedBundle(const mpg_sim_record *record, uint64_t times);
  void usePage(unsigned site, uint64_t address) {
    if (isWarmingUp)
      return;
    pageUse.add(theModel->site(site).array, address);
    spans[site].add(address);
  }

  Machine machine;
  WhatIf whatIf;
  ThreadPlaces threads;
  std::unique_ptr<Model> theModel; ///< from the first access on
  View views[2];                   ///< the second one warms up
  bool isWarmingUp = false;
  Core *now = nullptr; ///< who accesses
  unsigned nowNumber = 0;
  std::vector<Found> *found = nullptr;
  std::vector<std::unique_ptr<Bound>> *bounds = nullptr;
  unsigned stackArray = 0;
  SimPlaces thePlaces;
  SimArrays theArrays;
  SimPageUse pageUse;
  SimDecoder decoder;
  SimEmulated emulated;
  bool mayHaveThreads = false;
  /// From place << 32 | 1 << 31 for what warms up | array.
  std::unordered_map<uint64_t, unsigned> siteNumbers;
  std::vector<bool> siteIsCounted;
  /// Where the accesses of a site are; whole pages.
  struct Span {
    uint64_t begin = ~uint64_t(0), end = 0;
    void add(uint64_t address) {
      uint64_t page = address >> SimPageUse::pageBits << SimPageUse::pageBits;
      begin = std::min(begin, page);
      end = std::max(end, page + (uint64_t(1) << SimPageUse::pageBits));
    }
  };
  std::vector<Span> spans; ///< of each site
  /// By place, and by who called it.
  std::map<std::pair<unsigned, std::vector<uint64_t>>, unsigned> heapArrays;
  SimCallers callers;
  std::unordered_map<unsigned, unsigned> localArrays; ///< by SimPlace::local
  std::vector<uint64_t> calls;                        ///< by place
  std::set<std::string> wantedStream, seenStream;
  std::vector<Stream> resolved; ///< of the loop at hand
  SimRepeats repeatFinder;
  std::vector<unsigned> repeatedPlaces; ///< of resolved
  std::vector<Bound *> repeatedBounds;
  std::string firstError;
  uint64_t modulesHash = 0;
};

} // namespace mpg::sim
