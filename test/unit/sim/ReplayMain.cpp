// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_sim_replay MACHINE RECORD [threads]: what 'mpgsim --record' wrote of a
// program that was compiled with sim=check, through both models. The quick one
// gets the loops and basic blocks that the compiler has summed up, and not
// their single accesses; the naive one gets each access that the program made,
// and no sums. Both must agree in every counter of every place, or a sum is
// wrong. A program with threads is compiled with sim=on, since its turns are
// cut out of the loops: then the naive one gets the loops as well, and what is
// compared is the model with several cores.

#include "Machines/MachineFile.h"
#include "NaiveModel.h"
#include "SimRun/SimDecoder.h"
#include "SimRun/SimPlaces.h"
#include <cinttypes>
#include <cstdio>
#include <cstring>

using namespace mpg::sim;

namespace {
/// Sites are places here.
class Replay {
public:
  Replay(const Machine &machine, const WhatIf &whatIf, const WhatIf &allCores)
      : groups(allCores.groupOfCore), quick(machine, whatIf),
        naive(machine, allCores) {}

  void core(unsigned number) {
    now = number < groups.size() ? number : 0;
    while (quick.coreCount() <= now)
      quick.addCore(groups[quick.coreCount()]);
    ++turns;
  }

  void access(unsigned place, uint64_t address) {
    ++single;
    quick.core(now).access(known(place), address);
    naive.access(now, known(place), address);
  }
  void instruction(uint64_t, uint64_t) {} // of what was not compiled for this
  void checked(unsigned place, uint64_t address) {
    ++inLoops;
    naive.access(now, known(place), address);
  }
  void loop(const std::vector<Stream> &streams, uint64_t times) {
    summedUp += streams.size() * times;
    quick.core(now).affine(streams, times);
    if (!hasChecked)
      naive.affine(now, streams, times);
  }
  bool bundle(unsigned first, unsigned accesses,
              const std::vector<uint64_t> &addresses) {
    const SimBundle *what = places.bundle(first);
    if (!what || what->members.size() != accesses ||
        what->addresses != addresses.size())
      return false;
    auto known = bundles.find({now, first});
    if (known == bundles.end()) {
      std::vector<Bundle::Member> members;
      for (const SimBundle::Member &member : what->members)
        members.push_back(
            {first + unsigned(members.size()), member.address, member.offset});
      known = bundles.try_emplace({now, first}, std::move(members)).first;
    }
    quick.core(now).pass(known->second, addresses.data());
    summedUp += accesses;
    if (!hasChecked)
      for (const SimBundle::Member &member : what->members)
        naive.access(now, first++, addresses[member.address] + member.offset);
    return true;
  }
  unsigned repeats(const mpg_sim_record *, unsigned) { return 0; }
  /// No more records.
  void finish() {
    for (auto &[key, bundle] : bundles)
      quick.core(key.first).settle(bundle);
  }
  void copy(const Stream &from, const Stream &to, uint64_t bytes) {
    quick.core(now).copy(from.site, from.begin, to.site, to.begin, bytes);
    naive.copy(now, {inVectors(from), inVectors(to)}, bytes);
  }
  void fill(const Stream &to, uint64_t bytes) {
    quick.core(now).range(to.site, to.begin, bytes);
    naive.copy(now, {inVectors(to)}, bytes);
  }
  void allocated(unsigned, uint64_t, uint64_t, const std::vector<uint64_t> &) {}
  void freed(uint64_t) {}
  void called(unsigned) {}
  void stack(uint64_t, uint64_t) {}
  void object(unsigned, uint64_t, uint64_t) {}
  void module(uint64_t first, const std::string &text) {
    error = places.addModule(first, text);
    for (; sites < places.count(); ++sites) {
      Site site;
      site.bytes = places.place(sites).bytes;
      site.store = places.place(sites).store;
      site.zeroes = places.place(sites).zeroes;
      site.prefetches = places.place(sites).prefetches;
      quick.addSite(site);
      naive.addSite(site);
    }
  }
  /// Says on standard output what differs; whether all is alike.
  bool compare() const;

  std::string error;
  bool hasChecked = true; ///< single accesses of loops and bundles

private:
  static Stream inVectors(const Stream &stream) {
    return {stream.site, stream.begin, 64};
  }
  unsigned known(unsigned place) const { return place < sites ? place : 0; }

  std::vector<unsigned> groups; ///< of each core
  unsigned now = 0;             ///< core
  uint64_t turns = 0;
  Model quick;
  NaiveModel naive;
  SimPlaces places;
  std::map<std::pair<unsigned, unsigned>, Bundle> bundles; ///< core and place
  unsigned sites = 0;
  uint64_t single = 0, inLoops = 0, summedUp = 0;
};
} // namespace

bool Replay::compare() const {
  if (hasChecked && inLoops != summedUp) {
    printf("loops and blocks made %" PRIu64 " accesses, their sums say %" PRIu64
           "\n",
           inLoops, summedUp);
    return false;
  }
  for (unsigned site = 0; site < sites; ++site)
    for (unsigned counter = 0; counter < quick.layout().size(); ++counter)
      if (quick.count(site, counter) != naive.count(site, counter)) {
        printf("place %u, line %u: counter %u is %" PRIu64 ", naive %" PRIu64
               "\n",
               site, places.place(site).line, counter,
               quick.count(site, counter), naive.count(site, counter));
        return false;
      }
  printf(
      "equal: %u places with %u counters, %" PRIu64
      " accesses summed up, %" PRIu64 " single; %u cores, %" PRIu64 " turns\n",
      sites, quick.layout().size(), summedUp, single, quick.coreCount(), turns);
  return true;
}

int main(int argc, char **argv) {
  Machine machine;
  bool hasThreads = argc == 4 && !strcmp(argv[3], "threads");
  if ((argc != 3 && !hasThreads) || !readMachine(argv[1], machine).empty())
    return 2;
  FILE *file = fopen(argv[2], "rb");
  if (!file)
    return 2;
  WhatIf whatIf;
  whatIf.pageBytes = machine.pageBytes;
  whatIf.mapSeeds = {1};
  if (machine.groups.count > 1)
    whatIf.placements = {PlacementPolicy::firstTouch, PlacementPolicy::oneGroup,
                         PlacementPolicy::interleave};
  WhatIf allCores = whatIf;
  allCores.groupOfCore.clear();
  for (unsigned core = 0;
       core < machine.groups.count * machine.groups.coresEach; ++core)
    allCores.groupOfCore.push_back(core / machine.groups.coresEach);
  Replay replay(machine, whatIf, allCores);
  replay.hasChecked = !hasThreads;
  SimDecoder decoder;
  std::vector<mpg_sim_record> chunk(MPG_SIM_CHUNK_BYTES /
                                    sizeof(mpg_sim_record));
  while (fread(chunk.data(), MPG_SIM_CHUNK_BYTES, 1, file) == 1)
    decoder.read(chunk.data(), replay);
  fclose(file);
  replay.finish();
  if (!replay.error.empty() || decoder.damaged()) {
    printf("damaged: %s, %" PRIu64 " records\n", replay.error.c_str(),
           decoder.damaged());
    return 1;
  }
  return replay.compare() ? 0 : 1;
}
