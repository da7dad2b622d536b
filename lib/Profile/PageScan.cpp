// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PageScan.h. On which nodes the pages lie is asked for some of them:
// move_pages takes a moment for each, and an array has millions.

#include "Profile/PageScan.h"
#include "Process/Smaps.h"
#include "mpg/pagemap.h"
#include "llvm/Support/MathExtras.h"
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

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

/// False: this kernel does not tell.
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
void PageScan::lookAt(const MappedArea &area, uint64_t start, uint64_t end,
                      PageUse &use) const {
  PageUse part;
  auto share = [&](uint64_t value) {
    return uint64_t(double(value) * double(end - start) / double(area.bytes()));
  };
  uint64_t page = std::max<uint64_t>(area.pageBytes, 4096);
  uint64_t first = alignDown(start, page),
           last = std::min(alignTo(end, page), area.end);
  part.unknownBytes = share(area.unknownBytes);
  // What smaps counts by /proc/kpageflags is no entry of the upper table.
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

PageUse PageScan::look(uint64_t start, uint64_t end, unsigned nodePages) const {
  PageUse use;
  auto area = std::partition_point(
      areas.begin(), areas.end(),
      [&](const MappedArea &one) { return one.end <= start; });
  for (; area != areas.end() && area->start < end; ++area)
    lookAt(*area, std::max(start, area->start), std::min(end, area->end), use);
  if (use.usedBytes)
    findNodes(start, end, std::max(nodePages, 1u), use);
  return use;
}
