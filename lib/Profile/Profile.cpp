// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Profile.h. The program's addresses are assigned in three steps: to
// variables, to blocks in use, and the rest by its mapping.

#include "Profile/Profile.h"
#include "Process/Supervisor.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <set>
#include <time.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// Looking

/// Records the places of code, for a program that will be killed. Costs only a
/// read as long as there are no new sites.
void ProfileRecorder::inspectCode(pid_t pid) {
  unsigned sites = countSites(tableFd);
  // At first the loader may still be at work.
  constexpr unsigned firstLooks = 3;
  if (sites == knownSites && looks >= firstLooks)
    return;
  ++looks;
  std::string maps = readProc(pid, "maps");
  std::optional<std::string> name =
      readLinkTarget("/proc/" + std::to_string(pid) + "/exe");
  if (maps.empty() || !name)
    return;
  knownSites = sites;
  areas = parseSmaps(maps, "");
  image = std::move(*name);
}

/// Remembers what is gone before the end: a matrix in a file, or memory that
/// processes share. Takes a fiftieth of the time at most.
void ProfileRecorder::inspectFiles(pid_t pid) {
  if (nowSeconds() < filesDue)
    return;
  clock_t begin = clock();
  std::string maps = readProc(pid, "maps");
  if (maps.empty())
    return;
  for (MappedArea &area : parseSmaps(maps, ""))
    if (area.writable && area.shared && !isStateName(area.name) &&
        StringRef(area.name).starts_with("/") &&
        area.bytes() > files[area.name].bytes())
      files[area.name] = area;
  filesDue = nowSeconds() + 50 * double(clock() - begin) / CLOCKS_PER_SEC;
}

static constexpr uint64_t codePageBytes = 4096;

void ProfileRecorder::drainInto(AddressSampler &from, ProfileFaults &into) {
  std::vector<AddressSample> samples;
  from.drain([&](const AddressSample &sample) { samples.push_back(sample); });
  if (!samples.empty())
    into.add(std::move(samples), readProfileBlocks(tableFd));
}

void ProfileRecorder::readFaults() {
  drainInto(sampler, faults);
  drainInto(tlbSampler, tlbMisses);
  codeSampler.drain([&](const AddressSample &sample) {
    ++codeSamples[sample.address / codePageBytes];
  });
}

void ProfileRecorder::start(pid_t pid) {
  counters.emplace(pid, /*onExec=*/true, /*ofProcessor=*/true);
  sampler.start(pid);
  codeSampler.start(pid);
  tlbSampler.start(pid);
  stallsBefore = readStalls();
  if (workingSet)
    workingSet->start();
}

void ProfileRecorder::inspect(pid_t pid) {
  inspectCode(pid);
  inspectFiles(pid);
  readFaults();
  if (workingSet && workingSet->isDue())
    workingSet->inspect(pid, /*atEnd=*/false);
}

void ProfileRecorder::inspectAtEnd(pid_t pid, ProgramMemory memory) {
  if (workingSet)
    workingSet->inspect(pid, /*atEnd=*/true);
  otherProcesses = describeOtherProcesses(pid);
  areas = std::move(memory.areas);
  image = std::move(memory.image);
  table = readProfileTable(tableFd);
  addVariables();
  addBlocks();
  addRest(memory.segments, memory.heap);
  addCode();
  measure(pid);
  isMeasured = true;
}

/// Constants of libraries lie in their files: not what is looked for here.
static bool isConstantOfLibrary(const std::vector<MappedArea> &areas,
                                const DataName &name) {
  auto area = find_if(areas, [&](const MappedArea &one) {
    return one.start <= name.start && name.start < one.end;
  });
  return !name.isProgram && area != areas.end() && !area->writable;
}

void ProfileRecorder::addVariables() {
  objects.resize(table.sites.size());
  for (DataName &name : ProfileSymbols(areas, image).data(minObjectBytes)) {
    if (isConstantOfLibrary(areas, name))
      continue;
    ProfileObject object;
    object.region = !name.isProgram ? RunRegion::library
                    : name.isZero   ? RunRegion::bss
                                    : RunRegion::data;
    object.name = std::move(name.name);
    object.file = std::move(name.file);
    ranges.push_back({name.start, name.end, objects.size()});
    objects.push_back(std::move(object));
  }
}

/// The end of what is mapped from \p start on, at most \p end: a program may
/// have unmapped the rest.
static uint64_t findMappedEnd(const std::vector<MappedArea> &areas,
                              uint64_t start, uint64_t end) {
  auto area = llvm::partition_point(
      areas, [=](const MappedArea &one) { return one.end <= start; });
  uint64_t at = start;
  for (; area != areas.end() && area->start <= at && at < end; ++area)
    at = area->end;
  return std::min(at, end);
}

void ProfileRecorder::addBlocks() {
  for (size_t site = 0; site < table.sites.size(); ++site) {
    bool isMapped = table.sites[site].knows & MPG_PROFILE_MAPPED;
    objects[site].region = isMapped ? RunRegion::mmap : RunRegion::heap;
    objects[site].peakBytes = table.sites[site].peakBytes;
    objects[site].blocks = table.sites[site].blocks;
  }
  for (const mpg_profile_block &block : table.blocks)
    if (!block.diedNs) {
      uint64_t end = block.start + block.bytes;
      if (objects[block.site].region == RunRegion::mmap && !areas.empty())
        end = findMappedEnd(areas, block.start, end);
      if (end > block.start)
        ranges.push_back({block.start, end, block.site});
    }
  sortBy(ranges, &Range::start);
  // A block below another one was released unseen; of a mapping, its end was.
  std::vector<Range> apart;
  for (const Range &range : ranges) {
    if (!apart.empty() && range.start < apart.back().end &&
        objects[apart.back().object].region == RunRegion::mmap)
      apart.back().end = range.start;
    if (apart.empty() || range.start >= apart.back().end)
      apart.push_back(range);
  }
  ranges = std::move(apart);
}

// The rest

/// The name of memory between named objects; "" if its address names it.
static StringRef restName(RunRegion region) {
  switch (region) {
  case RunRegion::data:
  case RunRegion::bss:
    return "smaller variables";
  case RunRegion::heap:
  case RunRegion::threadHeap:
    return "smaller blocks, and free memory";
  case RunRegion::stack:
    return "of the first thread";
  case RunRegion::threadStack:
    return "of other threads";
  case RunRegion::library:
    return "smaller variables of libraries";
  default:
    return "";
  }
}

/// pre: in the order of addresses.
void ProfileRecorder::addGap(size_t area, uint64_t start, uint64_t end,
                             RunRegion region) {
  std::string name = restName(region).str();
  bool isMapping = name.empty();
  if (isMapping) {
    StringRef file = areas[area].name;
    name = file.empty() ? formatHex(start) : printable(file);
    bool isNext = !ranges.empty() && ranges.back().end == start &&
                  objects[ranges.back().object].region == region &&
                  (file.empty() || objects[ranges.back().object].name == name);
    if (isNext)
      name = objects[ranges.back().object].name;
  }
  auto [known, isNew] = rest.try_emplace({region, name}, objects.size());
  ranges.push_back({start, end, known->second});
  if (!isNew)
    return;
  ProfileObject object;
  object.region = region;
  object.name = std::move(name);
  objects.push_back(std::move(object));
}

void ProfileRecorder::addRest(const std::vector<ProgramSegment> &segments,
                              HeapRange heap) {
  std::vector<Range> named = std::move(ranges);
  ranges.clear();
  auto regionAt = [&](size_t area, uint64_t at) -> std::optional<RunRegion> {
    for (const ProgramSegment &segment : segments)
      if (at >= alignDown(segment.start, 4096) &&
          at < alignTo(segment.end, 4096))
        return at < segment.fileEnd ? RunRegion::data : RunRegion::bss;
    // The rest of the last large page of .bss has no variable.
    uint64_t page = std::max<uint64_t>(areas[area].pageBytes, 4096);
    for (const ProgramSegment &segment : segments)
      if (at >= segment.end && at < alignTo(segment.end, page))
        return std::nullopt;
    if (at >= heap.start && at < heap.end)
      return RunRegion::heap;
    RunRegion region = regionOfArea(areas, area);
    return region == RunRegion::threadHeap ? RunRegion::heap : region;
  };
  // Where one region ends inside of a mapping.
  std::vector<uint64_t> borders = {heap.start, heap.end, heap.tablesEnd};
  for (const ProgramSegment &segment : segments)
    borders.insert(borders.end(), {alignDown(segment.start, 4096),
                                   alignTo(segment.fileEnd, 4096),
                                   alignTo(segment.end, 4096)});
  llvm::sort(borders);
  auto next = named.begin();
  for (size_t index = 0; index < areas.size(); ++index) {
    const MappedArea &area = areas[index];
    bool isOurs = isStateName(area.name);
    if (!area.writable || isOurs || StringRef(area.name) == "[vvar]")
      continue;
    for (uint64_t at = area.start; at < area.end;) {
      while (next != named.end() && next->end <= at)
        ++next;
      uint64_t end = area.end;
      if (next != named.end() && next->start < end)
        end = std::max(next->start, at);
      auto border = std::upper_bound(borders.begin(), borders.end(), at);
      if (border != borders.end())
        end = std::min(end, *border);
      bool isTables = at >= heap.end && at < heap.tablesEnd; // only libmpg's
      std::optional<RunRegion> region = regionAt(index, at);
      if (end > at && !isTables && region)
        addGap(index, at, end, *region);
      at = end > at ? end : std::min(next->end, area.end);
    }
  }
  ranges.insert(ranges.end(), named.begin(), named.end());
}

/// Code of the program and of its libraries, a file an object. pre: all other
/// objects are there; a variable that is a constant may lie in it.
void ProfileRecorder::addCode() {
  std::set<std::string> known;
  for (const MappedArea &area : areas) {
    if (!area.isFile || !area.executable || !known.insert(area.name).second)
      continue;
    for (const MappedArea *part : findUnchanging(areas, area.name))
      if (part->executable)
        ranges.push_back({part->start, part->end, objects.size()});
    ProfileObject object;
    object.region = RunRegion::text;
    object.name = printable(sys::path::filename(area.name));
    objects.push_back(std::move(object));
  }
}

// Pages

void ProfileRecorder::measure(pid_t pid) {
  PageScan scan(pid, areas);
  std::vector<uint64_t> bytes(objects.size());
  for (const Range &range : ranges)
    bytes[range.object] += range.end - range.start;
  for (const Range &range : ranges) {
    ProfileObject &object = objects[range.object];
    object.bytes = object.lookedBytes = bytes[range.object];
    if (!object.pages)
      object.pages.emplace();
    // Small mappings are not printed.
    if (object.bytes < minObjectBytes)
      continue;
    constexpr double nodePages = 256;
    object.pages->add(
        scan.inspect(range.start, range.end,
                     unsigned(nodePages * double(range.end - range.start) /
                              double(object.bytes))));
  }
  for (ProfileObject &object : objects)
    object.peakBytes = std::max(object.peakBytes, object.bytes);
}

// After the program

void ProfileRecorder::nameSites() {
  ProfileSymbols symbols(areas, image);
  BlockNamer namer;
  std::vector<BlockOrigin> origins;
  for (const mpg_profile_site &site : table.sites) {
    std::vector<CallAddress> calls;
    for (uint64_t frame : site.frames)
      if (frame)
        calls.push_back(symbols.call(frame));
    origins.push_back(namer.origin(calls));
  }
  disambiguate(origins);
  for (size_t site = 0; site < table.sites.size(); ++site) {
    ProfileObject &object = objects[site];
    object.name = origins[site].name();
    object.file = std::move(origins[site].file);
    object.callers = std::move(origins[site].callers);
    if (object.name.empty())
      object.name = "not known where";
  }
}

/// Describes one of the blocks, if all of them were freed.
static void addFreed(ProfileObject &object, const mpg_profile_site &site) {
  constexpr uint32_t known = MPG_PROFILE_KNOWS_USED | MPG_PROFILE_KNOWS_HUGE;
  if (object.pages || !(site.knows & known))
    return;
  object.pages.emplace();
  object.lookedBytes = site.freedBytes;
  object.pages->usedBytes = std::min(site.freedUsedBytes, site.freedBytes);
  object.pages->hugeBytes =
      std::min(site.freedHugeBytes, object.pages->usedBytes);
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  object.pages->pageBytes =
      object.pages->hugeBytes ? upperPageBytes(page) : page;
  object.isHugeKnown = site.knows & MPG_PROFILE_KNOWS_HUGE;
}

void ProfileRecorder::addFaults() {
  for (size_t site = 0; site < table.sites.size(); ++site) {
    objects[site].faults = faults.atSite(uint32_t(site));
    objects[site].tlbMisses = tlbMisses.atSite(uint32_t(site)).faults;
  }
  for (const Range &range : ranges)
    if (range.object >= table.sites.size()) {
      ProfileObject &object = objects[range.object];
      object.faults.add(faults.within(range.start, range.end));
      object.tlbMisses += tlbMisses.within(range.start, range.end).faults;
    }
}

void ProfileRecorder::countCode(Profile &profile) {
  profile.codeMissing = codeSampler.missing();
  for (auto [page, samples] : codeSamples)
    profile.codeSamples += samples;
  for (const Range &range : ranges) {
    ProfileObject &object = objects[range.object];
    if (object.region != RunRegion::text)
      continue;
    auto page = codeSamples.lower_bound(range.start / codePageBytes);
    for (; page != codeSamples.end() && page->first * codePageBytes < range.end;
         ++page)
      object.codeSamples += page->second;
  }
}

void ProfileRecorder::addAccesses(Profile &profile) {
  if (!workingSet)
    return;
  profile.workingSet.emplace();
  profile.workingSet->missing = workingSet->missing();
  if (!profile.workingSet->missing.empty())
    return;
  profile.workingSet->intervals = workingSet->intervals();
  profile.workingSet->meanSeconds = workingSet->meanSeconds();
  for (size_t site = 0; site < table.sites.size(); ++site)
    objects[site].accesses = workingSet->atSite(uint32_t(site));
  for (const Range &range : ranges)
    if (range.object >= table.sites.size())
      objects[range.object].accesses.addPart(
          workingSet->within(range.start, range.end));
}

/// Counts lost samples in proportion: a busy machine loses many.
void ProfileRecorder::addLostFaults() {
  if (!sampler.lost() || !faults.all())
    return;
  double factor = 1 + double(sampler.lost()) / double(faults.all());
  for (ProfileObject &object : objects)
    object.faults.scale(factor);
}

void ProfileRecorder::addFilesOfBefore() {
  for (const auto &[name, area] : files) {
    if (rest.count({RunRegion::shared, printable(name)}) ||
        rest.count({RunRegion::mmap, printable(name)}))
      continue;
    ProfileObject object;
    object.region = RunRegion::shared;
    object.name = printable(name);
    object.peakBytes = area.bytes();
    object.faults = faults.within(area.start, area.end);
    objects.push_back(std::move(object));
  }
}

void ProfileRecorder::finish(Profile &profile) {
  readFaults();
  if (!isMeasured) {
    table = readProfileTable(tableFd);
    // The program may have ended before the first look at it.
    if (std::optional<ProgramMemory> told = readToldMemory(tableFd)) {
      areas = std::move(told->areas);
      image = std::move(told->image);
    }
    if (!areas.empty())
      addVariables();
    objects.resize(std::max(objects.size(), table.sites.size()));
    addBlocks();
    addCode();
    for (const Range &range : ranges)
      objects[range.object].bytes += range.end - range.start;
    for (ProfileObject &object : objects)
      object.peakBytes = std::max(object.peakBytes, object.bytes);
  }
  profile.isMeasured = isMeasured;
  profile.blocksLost = table.blocksLost;
  profile.sites = table.sites.size();
  if (counters)
    profile.counters = counters->read();
  std::optional<MemoryStalls> stallsAfter = readStalls();
  if (stallsBefore && stallsAfter)
    profile.stalls = stallsBetween(*stallsBefore, *stallsAfter);
  profile.defrag = readDefrag();
  profile.faults = sampler.count();
  profile.faultsLost = sampler.lost();
  profile.faultsMissing = sampler.missing();
  profile.isUserFaults = sampler.isUserOnly();
  profile.tlbMissesMissing = tlbSampler.missing();
  profile.tlbMisses = tlbMisses.all();
  profile.otherProcesses = otherProcesses;
  nameSites();
  addFaults();
  countCode(profile);
  addAccesses(profile);
  for (size_t site = 0; site < table.sites.size(); ++site)
    addFreed(objects[site], table.sites[site]);
  addFilesOfBefore();
  addLostFaults();
  if (any_of(objects,
             [](const ProfileObject &one) { return one.faults.faults > 0; }))
    profile.faultCosts = measureFaultCosts();
  for (ProfileObject &object : objects)
    if (object.peakBytes >=
        (object.region == RunRegion::text ? minCodeBytes : minObjectBytes))
      profile.objects.push_back(std::move(object));
  sortByMost(profile.objects, &ProfileObject::peakBytes);
}
