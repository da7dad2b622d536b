// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Smaps.h.

#include "Process/Smaps.h"
#include "Node/HugePages.h"
#include "Support/Files.h"
#include "mpg/pagemap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// "7f0000-7f1000 rw-p 00000000 00:0f 123    /anon_hugepage (deleted)"
static bool parseHead(StringRef line, MappedArea &area) {
  auto [range, rest] = line.split(' ');
  auto [start, end] = range.split('-');
  if (start.getAsInteger(16, area.start) || end.getAsInteger(16, area.end) ||
      area.end < area.start || rest.size() < 4)
    return false;
  area.readable = rest[0] == 'r';
  area.writable = rest[1] == 'w';
  area.executable = rest[2] == 'x';
  area.shared = rest[3] == 's';
  SmallVector<StringRef, 5> fields;
  rest.split(fields, ' ', 4, /*KeepEmpty=*/false);
  if (fields.size() == 5)
    area.name = fields[4].ltrim().str();
  StringRef name = area.name;
  area.isFile = name.starts_with("/") && !name.starts_with("/memfd:") &&
                !name.starts_with("/anon_hugepage") &&
                !name.starts_with("/dev/zero");
  return true;
}

/// "KernelPageSize:     2048 kB"
static void parseField(StringRef line, MappedArea &area) {
  auto [key, rest] = line.split(':');
  uint64_t kilobytes;
  if (rest.ltrim().consumeInteger(10, kilobytes)) {
    return;
  }
  uint64_t bytes = kilobytes << 10;
  if (key == "Rss")
    area.residentBytes = bytes;
  else if (key == "Referenced")
    area.accessedBytes = bytes;
  else if (key == "AnonHugePages" || key == "ShmemPmdMapped" ||
           key == "FilePmdMapped")
    area.addThp(bytes, bytes ? upperPageBytes(area.pageBytes) : 0);
  else if (key == "Private_Hugetlb" || key == "Shared_Hugetlb")
    area.poolBytes += bytes;
  else if (key == "KernelPageSize")
    area.pageBytes = bytes;
}

static void parseFlags(StringRef line, MappedArea &area) {
  for (StringRef flag : split(line, ' ')) {
    area.hugetlb |= flag == "ht";
    area.asksForLargePages |= flag == "hg";
    area.refusesLargePages |= flag == "nh";
  }
}

/// "7f0000 default file=/anon_hugepage huge anon=4 N0=4 kernelpagesize_kB=2048"
static void parseNumaLine(StringRef line, MappedArea &area) {
  uint64_t pageBytes = area.pageBytes;
  std::vector<std::pair<unsigned, uint64_t>> pages;
  for (StringRef word : split(line, ' ')) {
    auto [key, value] = word.split('=');
    unsigned node;
    uint64_t count;
    if (value.getAsInteger(10, count))
      continue;
    if (key == "kernelpagesize_kB")
      pageBytes = count << 10;
    else if (key.consume_front("N") && !key.getAsInteger(10, node) &&
             node < 1024)
      pages.emplace_back(node, count);
  }
  for (auto [node, count] : pages) {
    if (area.nodes.size() <= node)
      area.nodes.resize(node + 1);
    area.nodes[node] += count * pageBytes;
  }
}

std::vector<MappedArea> mpg::parseSmaps(StringRef smaps, StringRef numaMaps) {
  std::vector<MappedArea> areas;
  SmallVector<StringRef, 0> lines;
  smaps.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    MappedArea area;
    if (isHexDigit(line[0]) && !isUpper(line[0]) && parseHead(line, area))
      areas.push_back(std::move(area));
    else if (!areas.empty() && line.consume_front("VmFlags:"))
      parseFlags(line, areas.back());
    else if (!areas.empty())
      parseField(line, areas.back());
  }
  size_t at = 0;
  for (StringRef line : split(numaMaps, '\n')) {
    uint64_t start;
    if (line.take_until([](char c) { return c == ' '; })
            .getAsInteger(16, start))
      continue;
    while (at < areas.size() && areas[at].start < start)
      ++at;
    if (at < areas.size() && areas[at].start == start)
      parseNumaLine(line, areas[at]);
  }
  return areas;
}

std::string mpg::readProc(pid_t pid, const char *name) {
  auto file =
      readUnmapped("/proc/" + std::to_string(pid) + "/" + name, UINT64_MAX);
  return file ? (*file)->getBuffer().str() : std::string();
}

static bool hasOneNode() {
  auto file = readUnmapped("/sys/devices/system/node/online");
  return file && (*file)->getBuffer().trim() == "0";
}

std::vector<MappedArea> mpg::readSmaps(pid_t pid) {
  // Each of the two files has the kernel walk all page tables.
  return parseProcessSmaps(pid, readProc(pid, "smaps"),
                           hasOneNode() ? "" : readProc(pid, "numa_maps"));
}

std::vector<MappedArea> mpg::parseProcessSmaps(pid_t pid, StringRef smaps,
                                               StringRef numaMaps) {
  std::vector<MappedArea> areas = parseSmaps(smaps, numaMaps);
  if (hasOneNode())
    for (MappedArea &area : areas)
      if (area.usedBytes())
        area.nodes = {area.usedBytes()};
  addLargeFolios(pid, areas);
  return areas;
}

// Large pages that smaps does not count

uint64_t mpg::upperPageBytes(uint64_t baseBytes) {
  // A table is a base page of 8 bytes an entry.
  return baseBytes / 8 * baseBytes;
}

bool mpg::mayBeUncounted(const TransparentFacts &facts, uint64_t baseBytes,
                         bool isAdvised) {
  for (const TransparentSize &size : facts.sizes) {
    if (size.pageBytes < largePageBytes ||
        size.pageBytes >= upperPageBytes(baseBytes))
      continue;
    Fact<std::string> word = facts.effective(size.pageBytes);
    if (!word || *word == "always" || (*word == "madvise" && isAdvised))
      return true;
  }
  return false;
}

const char *const mpg::whyNotKnown =
    "on base pages of this size the kernel counts no transparent pages of "
    "2 MiB; root is shown them (/proc/kpageflags)";

namespace {

/// Whether pieces of 2 MiB are one large page.
class Pieces {
public:
  Pieces(uint64_t baseBytes, ReadWords frameFlags)
      : flags(largePageBytes / baseBytes), frameFlags(frameFlags) {}
  /// \p words: of /proc/PID/pagemap. Nothing if the kernel hides it.
  std::optional<bool> isLarge(ArrayRef<uint64_t> words);
  /// Base pages that are parts of other transparent pages.
  std::optional<uint64_t> countMiddle(ArrayRef<uint64_t> words);

private:
  std::vector<uint64_t> flags;
  ReadWords frameFlags;
};

} // namespace

// Bits of a word of /proc/PID/pagemap, and of /proc/kpageflags.
static constexpr uint64_t isPresent = uint64_t(1) << 63;
static constexpr uint64_t physicalFrameMask = (uint64_t(1) << 55) - 1;
static constexpr uint64_t isTail = 1 << 16, isTransparent = 1 << 22;

std::optional<uint64_t> Pieces::countMiddle(ArrayRef<uint64_t> words) {
  std::optional<bool> large =
      words.size() == flags.size() ? isLarge(words) : false;
  if (!large || *large)
    return large ? std::optional<uint64_t>(0) : std::nullopt;
  uint64_t pages = 0;
  for (size_t i = 0, count; i < words.size(); i += count) {
    count = 1;
    if (!(words[i] & isPresent))
      continue;
    uint64_t first = words[i] & physicalFrameMask;
    if (first == 0) // hidden from all but root
      return std::nullopt;
    while (i + count < words.size() && words[i + count] & isPresent &&
           (words[i + count] & physicalFrameMask) == first + count)
      ++count;
    MutableArrayRef<uint64_t> run(flags.data(), count);
    if (!frameFlags(first, run))
      return std::nullopt;
    pages += uint64_t(count_if(
        run, [](uint64_t word) { return (word & isTransparent) != 0; }));
  }
  return pages;
}

std::optional<bool> Pieces::isLarge(ArrayRef<uint64_t> words) {
  uint64_t first = words[0] & physicalFrameMask;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!(words[i] & isPresent))
      return false;
    if ((words[i] & physicalFrameMask) == 0) // hidden from all but root
      return std::nullopt;
    if ((words[i] & physicalFrameMask) != first + i)
      return false;
  }
  if (first % words.size() != 0)
    return false;
  if (!frameFlags(first, flags))
    return std::nullopt;
  // A head inside begins another, smaller page.
  for (size_t i = 0; i < flags.size(); ++i)
    if (!(flags[i] & isTransparent) || (i && !(flags[i] & isTail)))
      return false;
  return true;
}

std::optional<uint64_t> mpg::countLargeFolios(uint64_t start, uint64_t end,
                                              uint64_t baseBytes,
                                              ReadWords pagemap,
                                              ReadWords frameFlags) {
  constexpr uint64_t piecesAtOnce = 256;
  uint64_t at = (start + largePageBytes - 1) / largePageBytes * largePageBytes;
  size_t wordsOfPiece = largePageBytes / baseBytes;
  Pieces pieces(baseBytes, frameFlags);
  std::vector<uint64_t> words;
  uint64_t bytes = 0;
  while (at < end && end - at >= largePageBytes) {
    uint64_t count = std::min((end - at) / largePageBytes, piecesAtOnce);
    words.assign(count * wordsOfPiece, 0);
    if (!pagemap(at / baseBytes, words))
      return std::nullopt;
    for (uint64_t piece = 0; piece < count; ++piece) {
      std::optional<bool> large = pieces.isLarge(
          ArrayRef(words).slice(piece * wordsOfPiece, wordsOfPiece));
      if (!large)
        return std::nullopt;
      bytes += *large ? largePageBytes : 0;
    }
    at += count * largePageBytes;
  }
  return bytes;
}

std::optional<uint64_t> mpg::countMiddleFolios(uint64_t start, uint64_t end,
                                               uint64_t baseBytes,
                                               ReadWords pagemap,
                                               ReadWords frameFlags) {
  Pieces pieces(baseBytes, frameFlags);
  std::vector<uint64_t> words;
  uint64_t pages = 0;
  while (start < end) {
    uint64_t next =
        std::min(alignDown(start, largePageBytes) + largePageBytes, end);
    words.assign((next - start) / baseBytes, 0);
    std::optional<uint64_t> found;
    if (!pagemap(start / baseBytes, words) ||
        !(found = pieces.countMiddle(words)))
      return std::nullopt;
    pages += *found;
    start = next;
  }
  return pages * baseBytes;
}

bool mpg::mayHaveMiddle(const TransparentFacts &facts) {
  return any_of(facts.sizes, [&](const TransparentSize &size) {
    Fact<std::string> word = facts.effective(size.pageBytes);
    return size.pageBytes < largePageBytes && word && *word != "never";
  });
}

namespace {

/// A file of /proc that is an array of words.
class WordFile {
public:
  explicit WordFile(const std::string &path)
      : file(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~WordFile() {
    if (file >= 0)
      close(file);
  }
  bool read(uint64_t first, MutableArrayRef<uint64_t> words) const {
    size_t bytes = words.size() * sizeof(uint64_t);
    return file >= 0 &&
           pread(file, words.data(), bytes, off_t(first * sizeof(uint64_t))) ==
               ssize_t(bytes);
  }

private:
  int file;
};

} // namespace

bool mpg::countsAllThp() {
  return !mayBeUncounted(readTransparentFacts(SysTree("/")),
                         uint64_t(sysconf(_SC_PAGESIZE)), /*isAdvised=*/true);
}

void mpg::addLargeFolios(pid_t pid, std::vector<MappedArea> &areas) {
  uint64_t baseBytes = uint64_t(sysconf(_SC_PAGESIZE));
  TransparentFacts facts = readTransparentFacts(SysTree("/"));
  bool isUncounted = upperPageBytes(baseBytes) > largePageBytes;
  bool hasMiddle = mayHaveMiddle(facts);
  WordFile pagemapFile("/proc/" + std::to_string(pid) + "/pagemap");
  WordFile flagsFile("/proc/kpageflags");
  auto pagemap = [&](uint64_t first, MutableArrayRef<uint64_t> words) {
    return pagemapFile.read(first, words);
  };
  auto frameFlags = [&](uint64_t first, MutableArrayRef<uint64_t> words) {
    return flagsFile.read(first, words);
  };
  for (MappedArea &area : areas) {
    if (area.hugetlb)
      continue;
    if (isUncounted && area.residentBytes >= largePageBytes) {
      std::optional<uint64_t> bytes = countLargeFolios(
          area.start, area.end, baseBytes, pagemap, frameFlags);
      if (bytes && *bytes > area.thpBytes)
        area.addThp(*bytes - area.thpBytes, largePageBytes);
      // The page cache has other sizes, and no switch.
      if (!bytes && (area.isFile ||
                     mayBeUncounted(facts, baseBytes, area.asksForLargePages)))
        area.unknownBytes = area.residentBytes - area.thpBytes;
    }
    // Sizes of the page cache are the file system's.
    if (hasMiddle && !area.isFile && area.residentBytes > area.thpBytes) {
      std::optional<uint64_t> bytes = countMiddleFolios(
          area.start, area.end, baseBytes, pagemap, frameFlags);
      area.isMiddleKnown = bytes.has_value();
      area.middleBytes = bytes.value_or(0);
    }
  }
}

// Looks up the nodes of some pages only: move_pages takes a moment for each,
// and an array has millions.

void PageUse::add(const PageUse &other) {
  usedBytes += other.usedBytes;
  hugeBytes += other.hugeBytes;
  poolBytes += other.poolBytes;
  unknownBytes += other.unknownBytes;
  pageBytes = std::max(pageBytes, other.pageBytes);
  for (auto [node, pages] : other.nodes)
    nodes[node] += pages;
}

PageScan::PageScan(pid_t pid, const std::vector<MappedArea> &areas)
    : pid(pid), areas(areas),
      pagemap(open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(),
                   O_RDONLY | O_CLOEXEC)) {}

PageScan::~PageScan() {
  if (pagemap >= 0)
    close(pagemap);
}

/// False: this kernel cannot.
bool PageScan::scan(uint64_t start, uint64_t end, PageUse &use) const {
  mpg_scan_region regions[512];
  mpg_scan request = mpg_scan_for(regions, std::size(regions), end);
  for (uint64_t at = start; at < end; at = request.walkEnd) {
    request.start = at;
    int count = ioctl(pagemap, MPG_PAGEMAP_SCAN, &request);
    if (count < 0 || request.walkEnd <= at)
      return false;
    for (int i = 0; i < count; ++i) {
      uint64_t bytes = regions[i].end - regions[i].start;
      use.usedBytes += bytes;
      use.hugeBytes += regions[i].categories & MPG_PAGE_HUGE ? bytes : 0;
    }
  }
  return true;
}

/// pre: [start, end) is a part of \p area.
void PageScan::scanArea(const MappedArea &area, uint64_t start, uint64_t end,
                        PageUse &use) const {
  PageUse part;
  auto share = [&](uint64_t value) {
    return uint64_t(double(value) * double(end - start) / double(area.bytes()));
  };
  uint64_t page = std::max<uint64_t>(area.pageBytes, 4096);
  uint64_t first = alignDown(start, page),
           last = std::min(alignTo(end, page), area.end);
  part.unknownBytes = share(area.unknownBytes);
  // Pages that smaps counts by /proc/kpageflags have no upper entry.
  if (pagemap < 0 || part.unknownBytes || !scan(first, last, part)) {
    part.usedBytes = share(area.usedBytes());
    part.hugeBytes = share(area.hugeBytes());
  }
  part.usedBytes = std::min(part.usedBytes, end - start);
  part.hugeBytes = std::min(part.hugeBytes, part.usedBytes);
  if (area.hugetlb)
    part.poolBytes = part.hugeBytes;
  part.pageBytes = part.hugeBytes && !area.hugetlb
                       ? std::max(area.thpPageBytes, upperPageBytes(page))
                       : area.pageBytes;
  use.add(part);
}

void PageScan::findNodes(uint64_t start, uint64_t end, unsigned count,
                         PageUse &use) const {
  std::vector<void *> pages;
  uint64_t step = std::max<uint64_t>((end - start) / count, 4096);
  for (uint64_t at = start; at < end && pages.size() < count; at += step)
    pages.push_back(reinterpret_cast<void *>(uintptr_t(alignDown(at, 4096))));
  std::vector<int> status(pages.size(), -1);
  if (syscall(SYS_move_pages, pid, pages.size(), pages.data(), nullptr,
              status.data(), 0) != 0)
    return;
  for (int node : status)
    if (node >= 0)
      ++use.nodes[node];
}

PageUse PageScan::inspect(uint64_t start, uint64_t end,
                          unsigned nodePages) const {
  PageUse use;
  auto area = std::partition_point(
      areas.begin(), areas.end(),
      [&](const MappedArea &one) { return one.end <= start; });
  for (; area != areas.end() && area->start < end; ++area)
    scanArea(*area, std::max(start, area->start), std::min(end, area->end),
             use);
  if (use.usedBytes)
    findNodes(start, end, std::max(nodePages, 1u), use);
  return use;
}

std::vector<const MappedArea *>
mpg::findUnchanging(const std::vector<MappedArea> &areas, StringRef name) {
  auto isOfFile = [&](const MappedArea &area) { return area.name == name; };
  auto begin = find_if(areas, isOfFile);
  auto end = std::find_if(areas.rbegin(), areas.rend(), isOfFile).base();
  std::vector<const MappedArea *> found;
  for (; begin < end; ++begin) {
    bool isCopied = begin->name.empty() && !begin->shared;
    if (begin->readable && !begin->writable && (isOfFile(*begin) || isCopied))
      found.push_back(&*begin);
  }
  return found;
}
