// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads libmpg's memory file, and the kernel's list of the program's mappings
// at its end. The program can write to the file, so sizes in it are checked
// before they are used.

#include "Process/StateFile.h"
#include "Support/Files.h"
#include <cerrno>
#include <cstddef>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

/// While it lives, files may grow up to the hard limit: a limit for the
/// program's files (ulimit -S -f) is not meant for ours, and exceeding it is
/// SIGXFSZ.
class WideFileLimit {
public:
  WideFileLimit() {
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit wide = {before.rlim_max, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &wide);
  }
  ~WideFileLimit() { setrlimit(RLIMIT_FSIZE, &before); }
  bool allows(size_t bytes) const { return bytes <= before.rlim_max; }

private:
  rlimit before = {RLIM_INFINITY, RLIM_INFINITY};
};

} // namespace

static_assert(sizeof(mpg_state) <= MPG_STATE_TABLE, "the table lies after it");
static_assert(MPG_STATE_TABLE + sizeof(mpg_state_table) <= MPG_STATE_SMAPS &&
                  MPG_STATE_SMAPS + sizeof(mpg_state_smaps) <= MPG_STATE_END &&
                  MPG_STATE_END + sizeof(mpg_state_smaps) <= MPG_STATE_PROFILE,
              "the mappings lie between the tables");

int mpg::makeStateFile(bool withProcesses, bool withMappings) {
  constexpr off_t table = MPG_STATE_TABLE + sizeof(mpg_state_table);
  constexpr off_t all = MPG_STATE_END + sizeof(mpg_state_smaps);
  WideFileLimit limit;
  if (!limit.allows(sizeof(mpg_state))) {
    errno = EFBIG;
    return -1;
  }
  // Not close-on-exec: the program inherits it.
  int fd = openMemoryFile(MPG_STATE_NAME, 0);
  if (fd < 0)
    return -1;
  auto empty = std::make_unique<mpg_state>();
  empty->magic = MPG_STATE_MAGIC;
  empty->structBytes = sizeof(mpg_state);
  if (pwrite(fd, empty.get(), sizeof(mpg_state), 0) ==
      ssize_t(sizeof(mpg_state))) {
    // A hole: only what is written takes memory.
    if (withProcesses && limit.allows(table))
      (void)!ftruncate(fd, table);
    const uint32_t isWanted = 1;
    if (withMappings && limit.allows(all) && !ftruncate(fd, all))
      (void)!pwrite(fd, &isWanted, sizeof(isWanted), MPG_STATE_SMAPS);
    return fd;
  }
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

std::unique_ptr<mpg_state> mpg::readStateFile(int fd) {
  std::string bytes(sizeof(mpg_state), '\0');
  ssize_t count = fd < 0 ? -1 : pread(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(count < 0 ? 0 : size_t(count));
  return checkedState(bytes);
}

void mpg::readProcesses(int fd, RunReport &report) {
  auto table = std::make_unique<mpg_state_table>();
  constexpr ssize_t bytes = sizeof(mpg_state_table);
  if (fd >= 0 && pread(fd, table.get(), bytes, MPG_STATE_TABLE) == bytes)
    addProcesses(report, *table);
  // Each has counted itself, by smaps.
  if (!countsAllThp())
    for (ProcessUse &use : report.processes)
      use.unknownBytes = use.bytes - use.hugeBytes;
}

void mpg::requestEnd(int fd) {
  const uint32_t isWanted = 1;
  char last; // the file may be shorter (ulimit -f)
  constexpr off_t end = MPG_STATE_END + sizeof(mpg_state_smaps);
  if (fd >= 0 && pread(fd, &last, 1, end - 1) == 1)
    (void)!pwrite(fd, &isWanted, sizeof(isWanted), MPG_STATE_END);
}

/// The list of mappings at \p offset; empty if libmpg has not noted it.
static std::string readMappings(int fd, off_t offset) {
  struct {
    uint32_t isWanted, bytes;
  } head = {};
  static_assert(sizeof(head) == offsetof(mpg_state_smaps, text));
  if (fd < 0 || pread(fd, &head, sizeof(head), offset) != sizeof(head) ||
      !head.isWanted || head.bytes > MPG_STATE_SMAPS_TEXT)
    return {};
  std::string text(head.bytes, '\0');
  if (pread(fd, text.data(), text.size(), offset + off_t(sizeof(head))) !=
      ssize_t(text.size()))
    return {};
  return text;
}

/// Adds libmpg's own words until now.
static void addTold(int stateFd, ProgramMemory &memory) {
  if (std::unique_ptr<mpg_state> state = readStateFile(stateFd))
    memory.heap = getHeap(*state);
  memory.peakAreas = parseSmaps(readMappings(stateFd, MPG_STATE_SMAPS), "");
}

std::optional<ProgramMemory> mpg::readProgramMemory(pid_t pid, int stateFd) {
  std::string link = "/proc/" + std::to_string(pid) + "/exe";
  ProgramMemory memory;
  memory.areas = readSmaps(pid);
  std::optional<std::string> image = readLinkTarget(link);
  if (memory.areas.empty() || !image)
    return std::nullopt;
  memory.image = std::move(*image);
  // By the link: the file may have been replaced or deleted meanwhile.
  memory.segments = locateSegments(link, memory.areas, memory.image);
  memory.hasState = any_of(memory.areas, [](const MappedArea &area) {
    return isStateName(area.name);
  });
  if (!memory.hasState) // present contents were written before an exec
    return memory;
  addTold(stateFd, memory); // all of it is taken afterwards
  return memory;
}

std::optional<ProgramMemory> mpg::readToldMemory(int stateFd) {
  std::string text = readMappings(stateFd, MPG_STATE_END);
  auto [image, smaps] = StringRef(text).split('\n');
  ProgramMemory memory;
  memory.areas = parseProcessSmaps(/*pid=*/0, smaps, "");
  if (memory.areas.empty())
    return std::nullopt;
  memory.image = image.str();
  memory.segments = locateSegments(memory.image, memory.areas);
  memory.hasState = memory.isTold = true;
  addTold(stateFd, memory);
  return memory;
}

void mpg::addMemory(const ProgramMemory &memory, RunReport &report) {
  report.measured = true;
  report.isTold = memory.isTold;
  report.endedAs = memory.hasState ? "" : memory.image;
  for (const MappedArea &area : memory.areas)
    report.peakHugetlbBytes += area.hugetlb ? area.bytes() : 0;
  report.regions = classifyAreas(memory.areas, memory.segments, memory.heap);
  append_range(report.regions, classifyText(memory.areas, memory.image,
                                            report.asksForLibraries));
  addPeakMappings(
      report, classifyAreas(memory.peakAreas, memory.segments, memory.heap));
}
