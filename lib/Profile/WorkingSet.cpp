// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Profile.h. The kernel does not empty the TLB when it clears the bits:
// a page whose translation stays there is not counted. It has cost no walk
// either, which is what large pages save.

#include "Measure/MachineLoad.h"
#include "Profile/Profile.h"
#include "Profile/ProfileTable.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace mpg;

static constexpr double minSeconds = 1;
/// The last interval of a program says little if it is shorter.
static constexpr double minLastSeconds = 0.5;
/// An interval is at least so many times as long as looking takes.
static constexpr double timesCost = 50;
static constexpr size_t maxOthers = 1 << 20;

// Counts

void AccessCount::addSums(const AccessCount &other) {
  bytes += other.bytes;
  presentBytes += other.presentBytes;
  accessedBytes += other.accessedBytes;
  foreignBytes += other.foreignBytes;
  frames += other.frames;
  for (size_t i = 0; i < hotFrames.size(); ++i)
    hotFrames[i] += other.hotFrames[i];
  accessedInFrames += other.accessedInFrames;
}

/// Bytes of the same mean in \p wanted intervals.
void AccessCount::spreadOver(uint64_t wanted) {
  if (intervals && intervals != wanted)
    for (uint64_t *sum : {&bytes, &presentBytes, &accessedBytes, &foreignBytes})
      *sum = uint64_t(double(*sum) * double(wanted) / double(intervals));
  intervals = wanted;
}

void AccessCount::addPart(AccessCount part) {
  uint64_t max = std::max(intervals, part.intervals);
  spreadOver(max);
  part.spreadOver(max);
  addSums(part);
}

uint64_t AccessCount::allHotFrames() const {
  uint64_t all = 0;
  for (uint64_t some : hotFrames)
    all += some;
  return all;
}

std::optional<double> AccessCount::hotFramePercent() const {
  if (!frames)
    return std::nullopt;
  return 100 * double(allHotFrames()) / double(frames);
}

std::optional<double> AccessCount::skewPercent() const {
  uint64_t hot = allHotFrames();
  if (!hot)
    return std::nullopt;
  return 100 - 100 * double(accessedInFrames) / double(hot * hugeFrameBytes);
}

std::optional<uint64_t> AccessCount::hotBloatBytes() const {
  std::optional<double> hot = hotFramePercent(), skew = skewPercent();
  if (!intervals || !skew)
    return std::nullopt;
  return uint64_t(double(bytes) / double(intervals) * *hot / 100 * *skew / 100);
}

// Looking

void WorkingSet::start() {
  begin = nowSeconds();
  due = begin + minSeconds;
}

bool WorkingSet::isDue() const {
  return problem.empty() && nowSeconds() >= due;
}

/// All accessed bits of \p pid; the reason if they cannot be cleared.
static std::string clearAccessed(pid_t pid) {
  std::string name = "/proc/" + std::to_string(pid) + "/clear_refs";
  int fd = open(name.c_str(), O_WRONLY | O_CLOEXEC);
  bool isDone = fd >= 0 && write(fd, "1", 1) == 1;
  int error = errno;
  if (fd >= 0)
    close(fd);
  if (isDone)
    return "";
  if (error == ENOENT)
    return "not available: this kernel has no /proc/PID/clear_refs "
           "(CONFIG_PROC_PAGE_MONITOR)";
  return std::string("not available: /proc/PID/clear_refs cannot be written "
                     "to (") +
         strerror(error) + "): a container or the program's rights forbid it";
}

void WorkingSet::inspect(pid_t pid, bool atEnd) {
  double now = nowSeconds();
  bool saysLittle = atEnd && looks && now - begin < minLastSeconds;
  if (!problem.empty() || saysLittle)
    return;
  std::vector<MappedArea> areas = parseSmaps(readProc(pid, "smaps"), "");
  if (areas.empty()) // it has just ended
    return;
  if (llvm::none_of(areas, [](auto &area) { return area.accessedBytes; })) {
    problem = "not available: /proc/PID/smaps tells of no accesses here";
    return;
  }
  ++looks;
  seconds += now - begin;
  addAreas(areas);
  if (atEnd)
    return;
  problem = clearAccessed(pid);
  begin = nowSeconds();
  due = begin + std::max(minSeconds, timesCost * (begin - now));
}

std::string WorkingSet::missing() const {
  if (!problem.empty() || looks)
    return problem;
  return "not available: it ended before it could be looked at";
}

// By place

static uint64_t getEnd(const mpg_profile_block &block) {
  return block.start + block.bytes;
}

/// Whether \p area can say anything: base pages that are written to.
static bool isCounted(const MappedArea &area) {
  return area.writable && area.accessedBytes && !area.hugetlb &&
         !area.thpBytes && area.bytes();
}

/// What [start, end) has of \p area, taken as evenly spread.
static AccessCount computeShare(const MappedArea &area, uint64_t start,
                                uint64_t end) {
  double share = double(end - start) / double(area.bytes());
  AccessCount part;
  part.bytes = end - start;
  part.presentBytes = uint64_t(double(area.residentBytes) * share);
  part.accessedBytes = uint64_t(double(*area.accessedBytes) * share);
  bool isWhole = area.start >= start && area.end <= end;
  // Ends of a block share a piece of this length with what lies beside it.
  if (!isWhole && area.bytes() > 2 * hugeFrameBytes)
    part.foreignBytes = part.bytes;
  bool isHugeFrame = isWhole && area.bytes() == hugeFrameBytes &&
                     area.start % hugeFrameBytes == 0;
  if (!isHugeFrame || !area.residentBytes)
    return part;
  part.frames = 1;
  if (uint64_t accessed = *area.accessedBytes) {
    ++part.hotFrames[std::min<uint64_t>((accessed - 1) * 4 / hugeFrameBytes,
                                        3)];
    part.accessedInFrames = accessed;
  }
  return part;
}

void WorkingSet::Sums::add(const AccessCount &interval, bool isFilling) {
  AccessCount &sum = isFilling ? filling : settled;
  sum.addSums(interval);
  ++sum.intervals;
}

/// Whether memory of so much before and \p now is being filled, or will be. The
/// share of a block in a mapping with others grows and shrinks a little.
static bool isBeingFilled(uint64_t before, uint64_t now) {
  return now == 0 || now > before + before / 20;
}

void WorkingSet::addOther(const MappedArea &area, uint64_t bytes) {
  if (others.size() >= maxOthers && !others.count(area.start))
    return;
  AccessCount interval = computeShare(area, area.start, area.start + bytes);
  Piece &piece = others[area.start];
  if (piece.end != area.end) // another mapping
    piece = {};
  piece.end = area.end;
  piece.lookedAt = looks;
  piece.sums.add(interval,
                 isBeingFilled(piece.presentBytes, interval.presentBytes));
  piece.presentBytes = interval.presentBytes;
}

/// \p counts: of each of \p blocks.
void WorkingSet::addBlocks(const std::vector<mpg_profile_block> &blocks,
                           const std::vector<AccessCount> &counts) {
  std::map<uint64_t, uint64_t> now;
  std::map<std::pair<uint32_t, bool>, AccessCount> ofSites;
  for (size_t i = 0; i < blocks.size(); ++i) {
    uint64_t start = blocks[i].start;
    now[start] = counts[i].presentBytes;
    bool isFilling = isBeingFilled(presentBytes[start], counts[i].presentBytes);
    ofSites[{blocks[i].site, isFilling}].addSums(counts[i]);
  }
  for (const auto &[key, count] : ofSites)
    if (count.bytes)
      sites[key.first].add(count, key.second);
  presentBytes = std::move(now);
}

/// pre: in the order of addresses, as \p areas.
void WorkingSet::addAreas(const std::vector<MappedArea> &areas) {
  std::vector<mpg_profile_block> blocks = readProfileBlocks(tableFd);
  erase_if(blocks, [](auto &block) { return block.diedNs != 0; });
  stableSort(blocks, [](auto &a, auto &b) { return a.start < b.start; });
  std::vector<AccessCount> counts(blocks.size());
  size_t next = 0;
  for (const MappedArea &area : areas) {
    if (!isCounted(area))
      continue;
    while (next < blocks.size() && getEnd(blocks[next]) <= area.start)
      ++next;
    uint64_t at = area.start, left = area.bytes();
    for (size_t i = next; i < blocks.size() && blocks[i].start < area.end;
         ++i) {
      // By pages: the edges of a block that is a mapping are its own.
      uint64_t start = std::max(alignDown(blocks[i].start, 4096), at),
               end = std::min(alignTo(getEnd(blocks[i]), 4096), area.end);
      if (start >= end)
        continue;
      counts[i].addSums(computeShare(area, start, end));
      left -= end - start;
      at = end;
    }
    if (left)
      addOther(area, left);
  }
  addBlocks(blocks, counts);
  for (auto piece = others.begin(); piece != others.end();)
    piece = piece->second.lookedAt == looks ? std::next(piece)
                                            : others.erase(piece);
}

AccessCount WorkingSet::atSite(uint32_t site) const {
  auto found = sites.find(site);
  return found == sites.end() ? AccessCount() : found->second.best();
}

static AccessCount computePart(const AccessCount &all, double share) {
  auto part = [&](uint64_t sum) { return uint64_t(double(sum) * share); };
  AccessCount some;
  some.intervals = all.intervals;
  some.bytes = part(all.bytes);
  some.presentBytes = part(all.presentBytes);
  some.accessedBytes = part(all.accessedBytes);
  return some;
}

AccessCount WorkingSet::within(uint64_t start, uint64_t end) const {
  AccessCount count;
  auto piece = others.upper_bound(start);
  if (piece != others.begin())
    --piece;
  for (; piece != others.end() && piece->first < end; ++piece) {
    uint64_t from = piece->first, pieceEnd = piece->second.end;
    const AccessCount &best = piece->second.sums.best();
    uint64_t first = std::max(start, from), last = std::min(end, pieceEnd);
    if (first >= last)
      continue;
    if (last - first == pieceEnd - from) {
      count.addPart(best);
      continue;
    }
    AccessCount part =
        computePart(best, double(last - first) / double(pieceEnd - from));
    if (pieceEnd - from > 2 * hugeFrameBytes)
      part.foreignBytes = part.bytes;
    count.addPart(part);
  }
  return count;
}
