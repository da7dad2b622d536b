// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Smaps.h.

#include "Process/Smaps.h"
#include "Process/LargeFolios.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

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
  else if (key == "AnonHugePages" || key == "ShmemPmdMapped" ||
           key == "FilePmdMapped")
    area.addThp(bytes, bytes ? upperPageBytes(area.pageBytes) : 0);
  else if (key == "Private_Hugetlb" || key == "Shared_Hugetlb")
    area.poolBytes += bytes;
  else if (key == "KernelPageSize")
    area.pageBytes = bytes;
}

static void parseFlags(StringRef line, MappedArea &area) {
  SmallVector<StringRef, 16> flags;
  line.split(flags, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef flag : flags) {
    area.hugetlb |= flag == "ht";
    area.asksForLargePages |= flag == "hg";
  }
}

/// "7f0000 default file=/anon_hugepage huge anon=4 N0=4 kernelpagesize_kB=2048"
static void parseNumaLine(StringRef line, MappedArea &area) {
  SmallVector<StringRef, 16> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  uint64_t pageBytes = area.pageBytes;
  std::vector<std::pair<unsigned, uint64_t>> pages;
  for (StringRef word : words) {
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
  lines.clear();
  numaMaps.split(lines, '\n', -1, /*KeepEmpty=*/false);
  size_t at = 0;
  for (StringRef line : lines) {
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

static std::string readProc(pid_t pid, const char *name) {
  auto file = MemoryBuffer::getFileAsStream("/proc/" + std::to_string(pid) +
                                            "/" + name);
  return file ? (*file)->getBuffer().str() : std::string();
}

std::vector<MappedArea> mpg::readSmaps(pid_t pid) {
  std::vector<MappedArea> areas =
      parseSmaps(readProc(pid, "smaps"), readProc(pid, "numa_maps"));
  addLargeFolios(pid, areas);
  return areas;
}
