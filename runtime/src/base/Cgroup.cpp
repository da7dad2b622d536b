// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call reads /proc and the groups' files anew: limits and use change.

#include "base/Cgroup.h"

#include "base/SelfMaps.h"

#include <atomic>
#include <string.h>

using namespace mpg;

namespace {

/// Where this process stands in one hierarchy of cgroups.
struct Group {
  Path directory;       ///< of the process's own group
  size_t rootBytes = 0; ///< so much of it is the mount point
  bool v2 = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Where this process is
//===----------------------------------------------------------------------===//

/// Whether \p word stands in \p list, whose words end at \p separator or 0.
static bool listHas(const char *list, const char *word, char separator) {
  size_t length = strlen(word);
  while (list) {
    if (strncmp(list, word, length) == 0 &&
        (list[length] == separator || list[length] == 0))
      return true;
    list = strchr(list, separator);
    list = list ? list + 1 : nullptr;
  }
  return false;
}

static size_t fieldLength(const char *field) { return strcspn(field, " \n"); }

/// The path after "N:controllers:" in /proc/self/cgroup: of \p controller
/// (v1), else of the unified hierarchy.
static bool ownPath(bool v2, const char *controller, Path &path) {
  LineReader lines("/proc/self/cgroup");
  while (const char *line = lines.next()) {
    const char *controllers = strchr(line, ':');
    const char *group = controllers ? strchr(controllers + 1, ':') : nullptr;
    if (!group)
      continue;
    char names[128];
    size_t length = size_t(group - controllers - 1);
    if (length >= sizeof names)
      continue;
    memcpy(names, controllers + 1, length);
    names[length] = 0;
    if (v2 ? strncmp(line, "0::", 3) == 0 : listHas(names, controller, ',')) {
      path.add(group + 1);
      return true;
    }
  }
  return false;
}

/// 36 35 98:0 /group /where/it/is options - cgroup source hugetlb,rw
static bool findMount(bool v2, const char *controller, char *root, char *mount,
                      size_t capacity) {
  LineReader lines("/proc/self/mountinfo");
  while (const char *line = lines.next()) {
    const char *type = strstr(line, " - ");
    if (!type)
      continue;
    type += 3;
    const char *options = fieldAt(type, 2);
    bool fits = v2 ? strncmp(type, "cgroup2 ", 8) == 0
                   : strncmp(type, "cgroup ", 7) == 0 && options &&
                         listHas(options, controller, ',');
    const char *from = fieldAt(line, 3);
    const char *to = fieldAt(line, 4);
    if (!fits || !from || !to || fieldLength(from) >= capacity ||
        fieldLength(to) >= capacity)
      continue;
    memcpy(root, from, fieldLength(from));
    root[fieldLength(from)] = 0;
    memcpy(mount, to, fieldLength(to));
    mount[fieldLength(to)] = 0;
    return true;
  }
  return false;
}

static bool findGroup(bool v2, const char *controller, Group &group) {
  char root[256], mount[256];
  Path own;
  if (!ownPath(v2, controller, own) ||
      !findMount(v2, controller, root, mount, sizeof root))
    return false;
  group.v2 = v2;
  group.directory.add(mount);
  group.rootBytes = group.directory.length();
  // In a container only a part of the hierarchy is mounted.
  const char *path = own.get();
  size_t hidden = strcmp(root, "/") == 0 ? 0 : strlen(root);
  if (strncmp(path, root, hidden) == 0 && strcmp(path + hidden, "/") != 0)
    group.directory.add(path + hidden);
  return true;
}

/// To the group above; false: this was the last one that can be seen.
static bool goUp(Group &group) {
  size_t length = group.directory.length();
  if (length <= group.rootBytes)
    return false;
  const char *text = group.directory.get();
  while (length > group.rootBytes && text[length - 1] != '/')
    --length;
  group.directory.cutAt(length > group.rootBytes ? length - 1 : length);
  return true;
}

/// A limit as the kernel prints it: "max" is no number, and v1 writes no limit
/// as nearly 2^63.
static uint64_t readLimit(const Path &path) {
  uint64_t value = readNumber(path.get(), UINT64_MAX);
  return value >= uint64_t(1) << 62 ? UINT64_MAX : value;
}

//===----------------------------------------------------------------------===//
// Large pages
//===----------------------------------------------------------------------===//

/// "2MB", as in the names of the controller's files.
static void addSizeName(Path &path, size_t hugeBytes) {
  if (hugeBytes >= size_t(1) << 30)
    path.addNumber(hugeBytes >> 30).add("GB");
  else if (hugeBytes >= size_t(1) << 20)
    path.addNumber(hugeBytes >> 20).add("MB");
  else
    path.addNumber(hugeBytes >> 10).add("KB");
}

static uint64_t groupNumber(const Group &group, size_t hugeBytes,
                            const char *suffix, Path &path) {
  path = group.directory;
  path.add("/hugetlb.");
  addSizeName(path, hugeBytes);
  path.add(suffix);
  return readLimit(path);
}

/// One of the two limits of one group: what is left of it, or UINT64_MAX.
static uint64_t leftOf(const Group &group, size_t hugeBytes, bool reservations,
                       CgroupLimit &limit) {
  const char *maxName =
      group.v2 ? (reservations ? ".rsvd.max" : ".max")
               : (reservations ? ".rsvd.limit_in_bytes" : ".limit_in_bytes");
  const char *nowName =
      group.v2 ? (reservations ? ".rsvd.current" : ".current")
               : (reservations ? ".rsvd.usage_in_bytes" : ".usage_in_bytes");
  Path path, ignored;
  uint64_t max = groupNumber(group, hugeBytes, maxName, path);
  if (max == UINT64_MAX)
    return UINT64_MAX;
  uint64_t now = groupNumber(group, hugeBytes, nowName, ignored);
  uint64_t left = now < max ? max - now : 0;
  uint64_t tightest = limit.usageLeftBytes < limit.reservationLeftBytes
                          ? limit.usageLeftBytes
                          : limit.reservationLeftBytes;
  if (left < tightest) {
    limit.limitBytes = max;
    size_t length = strnlen(path.get(), sizeof limit.file - 1);
    memcpy(limit.file, path.get(), length);
    limit.file[length] = 0;
  }
  return left;
}

static void readLimitsUpwards(Group group, size_t hugeBytes,
                              CgroupLimit &limit) {
  do {
    uint64_t usage = leftOf(group, hugeBytes, false, limit);
    if (usage < limit.usageLeftBytes)
      limit.usageLeftBytes = usage;
    uint64_t reservation = leftOf(group, hugeBytes, true, limit);
    if (reservation < limit.reservationLeftBytes)
      limit.reservationLeftBytes = reservation;
    if (usage != UINT64_MAX || reservation != UINT64_MAX)
      limit.exists = true;
  } while (goUp(group));
}

CgroupLimit mpg::readCgroupLimit(size_t hugeBytes) {
  CgroupLimit limit;
  Group v1, v2;
  if (findGroup(false, "hugetlb", v1))
    readLimitsUpwards(v1, hugeBytes, limit);
  if (findGroup(true, "hugetlb", v2))
    readLimitsUpwards(v2, hugeBytes, limit);
  return limit;
}

static bool isHidden(bool v2) {
  char root[256], mount[256];
  Path own;
  return ownPath(v2, "hugetlb", own) && strcmp(own.get(), "/") != 0 &&
         !findMount(v2, "hugetlb", root, mount, sizeof root);
}

bool mpg::cgroupIsHidden() { return isHidden(false) || isHidden(true); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Cache of files, of this group and those below it, which the kernel drops
/// before it ends a process.
static uint64_t fileCacheBytes(const Group &group) {
  Path path = group.directory;
  path.add("/memory.stat");
  uint64_t sum = 0;
  LineReader lines(path.get());
  while (const char *line = lines.next()) {
    const char *name = line;
    if (!group.v2 && strncmp(name, "total_", 6) == 0)
      name += 6;
    else if (!group.v2)
      continue;
    bool isCache = strncmp(name, "inactive_file ", 14) == 0 ||
                   strncmp(name, "active_file ", 12) == 0;
    uint64_t bytes = 0;
    const char *number = fieldAt(name, 1);
    if (isCache && number && parseNumber(number, 10, bytes))
      sum += bytes;
  }
  return sum;
}

static uint64_t memoryLeftOf(const Group &group) {
  Path most = group.directory, now = group.directory;
  most.add(group.v2 ? "/memory.max" : "/memory.limit_in_bytes");
  uint64_t limit = readLimit(most);
  if (limit == UINT64_MAX)
    return UINT64_MAX;
  now.add(group.v2 ? "/memory.current" : "/memory.usage_in_bytes");
  uint64_t used = readNumber(now.get(), 0), cache = fileCacheBytes(group);
  used = used > cache ? used - cache : 0;
  return limit > used ? limit - used : 0;
}

static uint64_t memoryLeft(bool v2) {
  Group group;
  if (!findGroup(v2, "memory", group))
    return UINT64_MAX;
  uint64_t least = UINT64_MAX;
  do
    if (uint64_t left = memoryLeftOf(group); left < least)
      least = left;
  while (goUp(group));
  return least;
}

uint64_t mpg::readCgroupMemoryLeft() {
  uint64_t first = memoryLeft(/*v2=*/false), second = memoryLeft(/*v2=*/true);
  return first < second ? first : second;
}

bool mpg::hugePagesFitGroup(uint64_t bytes) {
  // 0: not asked yet. The least is for the processes beside this one, which
  // take their quarters of the rest.
  constexpr uint64_t leastBytes = 64 << 20;
  static std::atomic<uint64_t> spareBytes{0};
  uint64_t spare = spareBytes.load(std::memory_order_relaxed);
  if (spare == UINT64_MAX)
    return true;
  uint64_t left = readCgroupMemoryLeft();
  if (!spare) {
    spare = left == UINT64_MAX      ? left
            : left / 4 > leastBytes ? left / 4
                                    : leastBytes;
    spareBytes.store(spare, std::memory_order_relaxed);
  }
  return left == UINT64_MAX || (left > spare && left - spare >= bytes);
}
