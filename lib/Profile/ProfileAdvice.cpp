// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The next steps, ranked by memory: how much would come onto large pages or to
// its threads' nodes. Nothing here promises time: that takes --compare, which
// is the last line each time when there is something to gain.

#include "Profile/Profile.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t maxLines = 5;
static constexpr uint64_t minBytes = 4 << 20; ///< two large pages
/// The second level of any TLB reaches as much on base pages.
static constexpr uint64_t smallProgramBytes = 8 << 20;

namespace {

class Adviser {
public:
  Adviser(const RunReport &report, const Profile &profile,
          const std::string &program)
      : report(report), profile(profile), program(program),
        children(report.hasProcesses || isPastExec() ? "--children " : ""),
        command(children + program),
        settings(report.asksForOwnMaps ? "MPG_MMAP=thp " : "") {}
  std::vector<AdviceLine> advise();

private:
  void add(uint64_t bytes, std::string text, std::string toType) {
    lines.push_back({bytes, std::move(text), std::move(toType)});
  }
  void addReason(uint64_t bytes, const std::string &what, StringRef reason,
                 std::string command);
  void addShort(ArrayRef<RunRegion> regions);
  void addShortRegions();
  void addCrowdedNodes();
  void addLibraries();
  void addOwnMappings();
  void addRefilledBlocks();
  void addUndeserving();
  std::string largestIn(ArrayRef<RunRegion> regions, bool byMain) const;
  uint64_t baseBytesIn(ArrayRef<RunRegion> regions) const;
  bool isPastExec() const;
  std::string absenceCommand() const;
  std::string auditCommand() const;

  const RunReport &report;
  const Profile &profile;
  const std::string &program;
  const std::string children, command; ///< command: of mpgrun, to its end
  std::string settings;                ///< further options for --compare
  std::vector<AdviceLine> lines;
};

} // namespace

/// Bytes of \p object on base pages when it was largest, as far as it is known.
/// 0 for what deserves no better, and for files, which have their own pages.
static uint64_t getBaseBytes(const ProfileObject &object) {
  bool isFile = object.region == RunRegion::mmap &&
                StringRef(object.name).starts_with("/");
  if (isCold(object.accesses) || !object.pages || !object.isHugeKnown ||
      !object.lookedBytes || isFile)
    return 0;
  const PageUse &pages = *object.pages;
  uint64_t large =
      std::min(pages.hugeBytes + pages.unknownBytes, pages.usedBytes);
  return uint64_t(double(pages.usedBytes - large) * double(object.peakBytes) /
                  double(object.lookedBytes));
}

static bool isIn(const ProfileObject &object, ArrayRef<RunRegion> regions) {
  return is_contained(regions, object.region);
}

/// " (grid, makeMatrix+0x1f)": the two with most on base pages, or of those
/// that the first thread touched.
std::string Adviser::largestIn(ArrayRef<RunRegion> regions, bool byMain) const {
  std::vector<std::pair<uint64_t, std::string>> names;
  for (const ProfileObject &object : profile.objects) {
    bool isMains = object.faults.threads.size() == 1 &&
                   object.faults.threads.begin()->first == profile.firstThread;
    uint64_t bytes = byMain ? object.peakBytes : getBaseBytes(object);
    if (isIn(object, regions) && bytes && (isMains || !byMain))
      names.emplace_back(bytes, object.name);
  }
  stableSort(names, [](auto &a, auto &b) { return a.first > b.first; });
  std::string text;
  for (const auto &[bytes, name] : ArrayRef(names).take_front(2))
    text += (text.empty() ? " (" : ", ") + name;
  return text.empty() ? "" : text + ")";
}

uint64_t Adviser::baseBytesIn(ArrayRef<RunRegion> regions) const {
  uint64_t sum = 0;
  for (const ProfileObject &object : profile.objects)
    if (isIn(object, regions))
      sum += getBaseBytes(object);
  return sum;
}

/// The command that audits the program which ran in the end.
std::string Adviser::auditCommand() const {
  return "mpgaudit " +
         (report.isReplaced ? shellWord(report.endedAs) : profile.program);
}

/// Whether --children would bring libmpg into what the program became.
bool Adviser::isPastExec() const {
  return !report.hasState && report.isReplaced && !report.hasProcesses;
}

std::string Adviser::absenceCommand() const {
  return isPastExec() ? "mpgrun --advise " + command : auditCommand();
}

/// The reason for the region that misses most, not for a few bytes of .data.
static std::string worstReason(const RunReport &report,
                               ArrayRef<RunRegion> regions) {
  const RegionUse *worst = nullptr;
  uint64_t max = 0;
  for (const RegionUse &use : report.regions) {
    uint64_t missing = use.bytes - std::min(use.hugeBytes, use.bytes);
    if (is_contained(regions, use.region) && !use.reason.empty() &&
        (!worst || missing > max)) {
      worst = &use;
      max = missing;
    }
  }
  return worst ? worst->reason : "";
}

/// Memory that libmpg could have moved and did not.
void Adviser::addShort(ArrayRef<RunRegion> regions) {
  uint64_t bytes = baseBytesIn(regions);
  if (bytes < minBytes)
    return;
  std::string what = formatBytes(bytes) + largestIn(regions, /*byMain=*/false) +
                     " are on base pages";
  std::string reason = worstReason(report, regions);
  bool isHeap = is_contained(regions, RunRegion::heap);
  if (!report.hasState)
    add(bytes, what + ": " + describeAbsence(report), absenceCommand());
  else if (report.mode == "none")
    add(bytes, what + ", because the mode is none",
        "mpgrun --mode=thp " + command);
  else
    addReason(bytes, what, reason, isHeap ? "mpginfo" : auditCommand());
}

/// Prefers the remedy in \p reason to \p command.
void Adviser::addReason(uint64_t bytes, const std::string &what,
                        StringRef reason, std::string command) {
  auto [cause, remedy] = reason.split("; fix: ");
  add(bytes, what + (cause.empty() ? "" : ": " + cause.str()),
      remedy.empty() ? std::move(command) : remedy.str());
}

void Adviser::addShortRegions() {
  if (!report.hasState) // mappings may be malloc's then
    return addShort(
        {RunRegion::data, RunRegion::bss, RunRegion::heap, RunRegion::mmap});
  if (report.mode == "none")
    return addShort({RunRegion::data, RunRegion::bss, RunRegion::heap});
  addShort({RunRegion::data, RunRegion::bss});
  addShort({RunRegion::heap});
}

void Adviser::addCrowdedNodes() {
  for (const RegionUse &use : report.regions)
    if (std::optional<unsigned> node = findCrowdedNode(report, use))
      add(use.bytes,
          formatBytes(use.bytes) + " of " + regionName(use.region).str() +
              largestIn({use.region}, /*byMain=*/true) + " lie on node " +
              std::to_string(*node) +
              ", and threads run on others: initialise them in the threads "
              "that use them, or spread them",
          "numactl --interleave=all mpgrun --policy=demand:demand:demand " +
              command);
}

/// Data of libraries, which libmpg leaves alone by default.
void Adviser::addLibraries() {
  uint64_t bytes = baseBytesIn({RunRegion::library});
  std::string reason = worstReason(report, {RunRegion::library});
  if (bytes < minBytes || !report.hasState || reason.empty())
    return;
  std::string what = formatBytes(bytes) + " are data of libraries" +
                     largestIn({RunRegion::library}, /*byMain=*/false) +
                     " on base pages";
  if (StringRef(reason).ends_with("MPG_REMAP=all")) {
    settings += "MPG_REMAP=all ";
    add(bytes, what, "MPG_REMAP=all mpgrun " + command);
  } else {
    addReason(bytes, what, reason, "mpginfo");
  }
}

/// Memory past malloc, which libmpg leaves alone by default.
void Adviser::addOwnMappings() {
  uint64_t bytes = baseBytesIn({RunRegion::mmap});
  if (bytes < minBytes || !report.hasState || report.asksForOwnMaps)
    return;
  settings += "MPG_MMAP=thp ";
  add(bytes,
      formatBytes(bytes) + " are mappings of the program's own" +
          largestIn({RunRegion::mmap}, /*byMain=*/false) +
          " on base pages: MPG_MMAP=thp asks for large ones; what has none "
          "then is in pieces below 4 MiB, or past the C library",
      settings + "mpgrun " + command);
}

/// Blocks that are given back to the system and come again, empty, each time.
void Adviser::addRefilledBlocks() {
  for (const ProfileObject &object : profile.objects) {
    if (object.blocks < 10 || !object.pages || !object.pages->pageBytes)
      continue;
    // In pages of its size. Skips what was filled at most three times.
    uint64_t filled = object.faults.faults * object.pages->pageBytes;
    if (filled < 3 * object.peakBytes || filled < 64 * minBytes)
      continue;
    add(filled / 4,
        object.name + " allocates " + std::to_string(object.blocks) +
            " blocks and frees them again: " +
            std::to_string(object.faults.faults) +
            " page faults; allocate once, or have malloc keep the memory",
        "MALLOC_MMAP_THRESHOLD_=68719476736 MALLOC_TRIM_THRESHOLD_=68719476736 "
        "mpgrun " +
            command);
  }
}

/// Memory with few or scattered accesses; only with --working-set.
void Adviser::addUndeserving() {
  for (const ProfileObject &object : profile.objects) {
    const AccessCount &count = object.accesses;
    if (object.region == RunRegion::text)
      continue;
    if (isCold(count) && object.peakBytes >= minBytes)
      add(object.peakBytes,
          formatBytes(object.peakBytes) + " (" + object.name +
              ") are hardly accessed: the pool need not hold large pages for "
              "them",
          "mpgrun --profile --working-set " + command);
    else if (isSparse(count) && *count.hotBloatBytes() >= minBytes)
      add(*count.hotBloatBytes(),
          "of the large pages of " + object.name + " " +
              formatBytes(*count.hotBloatBytes()) +
              " would not be accessed: bring its data together",
          "mpgrun --profile --working-set " + command);
  }
}

std::vector<AdviceLine> Adviser::advise() {
  uint64_t all = 0;
  for (const ProfileObject &object : profile.objects)
    if (object.region != RunRegion::stack &&
        object.region != RunRegion::threadStack &&
        object.region != RunRegion::text)
      all += object.peakBytes;
  if (all < smallProgramBytes && profile.isMeasured) {
    add(all,
        (all ? "its large objects are " + formatBytes(all) +
                   " in all: caches and TLBs hold nearly as much, so pages "
                   "decide little here"
             : "it has no object of " + formatBytes(minObjectBytes) +
                   " and more: pages decide little here") +
            (profile.otherProcesses.empty() ? ""
                                            : "; " + profile.otherProcesses),
        "mpgrun --profile " + command);
    return lines;
  }
  addShortRegions();
  addCrowdedNodes();
  addLibraries();
  addOwnMappings();
  addRefilledBlocks();
  addUndeserving();
  if (lines.empty() && !profile.isMeasured) {
    add(0, "its memory could not be looked at in the end, and this says why",
        "mpgrun --profile " + command);
    return lines;
  }
  sortByMost(lines, &AdviceLine::bytes);
  if (lines.size() >= maxLines)
    lines.resize(maxLines - 1);
  add(0,
      lines.empty() ? "nothing is missing; whether large pages make it faster "
                      "is a question of time"
                    : "then see whether it has become faster",
      settings + "mpgrun --compare " + children + "-- " + program);
  return lines;
}

std::vector<AdviceLine> mpg::adviseNext(const RunReport &report,
                                        const Profile &profile,
                                        const std::string &command) {
  return Adviser(report, profile, command).advise();
}

void mpg::writeAdvice(raw_ostream &out, ArrayRef<AdviceLine> lines) {
  unsigned number = 0;
  for (const AdviceLine &line : lines)
    out << "mpgrun: " << ++number << ". " << printable(line.text) << ": "
        << line.command << "\n";
}
