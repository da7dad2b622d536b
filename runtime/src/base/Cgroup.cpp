// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call reads /proc and the groups' files again: limits and use change.

#include "base/Cgroup.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"

#include <atomic>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

using namespace mpg;

namespace {

/// This process's place in one hierarchy of cgroups.
struct Group {
  Path own;       ///< as /proc/self/cgroup has it; empty: it is in none
  Path directory; ///< of the process's own group; empty: it cannot be seen
  size_t rootBytes = 0; ///< so much of it is the mount point
  bool v2 = false;
  bool hasRoot = false; ///< the mount point is the hierarchy's root

  bool isSeen() const { return directory.length(); }
  /// The root of a hierarchy has no limits.
  bool isUnlimited() const {
    return hasRoot && directory.length() == rootBytes;
  }
  bool isHidden() const;
};

/// The groups of one controller: its place in the controller's v1 hierarchy and
/// in the unified one.
struct Groups {
  explicit Groups(const char *controller);
  Group v1, v2;
  uint64_t hash = 0; ///< of all

private:
  void readOwn(const char *controller);
  bool findUsual(const char *controller);
  void readMounts(const char *controller);
};

} // namespace

// The group of this process

/// Whether \p list contains \p word. Its words end at \p separator, the list at
/// \p end or 0.
static bool listHas(const char *list, const char *word, char separator,
                    char end = 0) {
  size_t length = strlen(word);
  while (list) {
    char next = list[length];
    if (strncmp(list, word, length) == 0 &&
        (next == separator || next == end || next == 0))
      return true;
    for (; *list && *list != separator && *list != end; ++list) {
    }
    list = *list == separator ? list + 1 : nullptr;
  }
  return false;
}

static size_t fieldLength(const char *field) { return strcspn(field, " \n"); }

/// Whether "/" is the start of a namespace and not the machine's root. True if
/// that is unknown.
static bool isInNamespace() {
  constexpr ino_t initial = 0xEFFFFFFB; // the same in all kernels
  struct stat status = {};
  return isError(rawCall(SYS_newfstatat, AT_FDCWD, long("/proc/self/ns/cgroup"),
                         long(&status), 0)) ||
         status.st_ino != initial;
}

/// Whether the group's files are there and not below a mount that covers them,
/// or in a folder that this user may not look into.
static bool canBeSeen(Path directory) {
  directory.add("/cgroup.procs");
  return exists(directory.get());
}

static uint64_t addToHash(uint64_t hash, const char *line) {
  for (; *line; ++line)
    hash = (hash ^ uint8_t(*line)) * 0x100000001B3;
  return hash | 1;
}

uint64_t mpg::hashGroups() {
  uint64_t hash = 0;
  LineReader lines("/proc/self/cgroup");
  while (const char *line = lines.next())
    hash = addToHash(hash, line);
  return hash;
}

/// "N:controllers:/path", and "0::/path" of the unified hierarchy.
void Groups::readOwn(const char *controller) {
  LineReader lines("/proc/self/cgroup");
  while (const char *line = lines.next()) {
    hash = addToHash(hash, line);
    const char *names = strchr(line, ':');
    const char *path = names ? strchr(names + 1, ':') : nullptr;
    if (!path)
      continue;
    Group &group = strncmp(line, "0::", 3) == 0 ? v2 : v1;
    bool fits = group.v2 || listHas(names + 1, controller, ',', ':');
    if (fits && !group.own.length())
      group.own.add(path + 1);
  }
}

/// The group's folder below \p mount and \p name, if it is there.
static bool findBelow(Group &group, const char *mount, const char *name) {
  Path place;
  place.add(mount).add(name);
  size_t rootBytes = place.length();
  if (strcmp(group.own.get(), "/") != 0)
    place.add(group.own.get());
  if (!canBeSeen(place))
    return false;
  group.directory = place;
  group.rootBytes = rootBytes;
  group.hasRoot = true;
  return true;
}

/// Looks where systemd mounts the hierarchies, which takes a tenth of the time
/// of the list of mounts. False: not all are there, or a namespace gives the
/// paths another meaning.
bool Groups::findUsual(const char *controller) {
  constexpr const char *mount = "/sys/fs/cgroup";
  if (isInNamespace())
    return false;
  if (v1.own.length()) {
    Path name;
    name.add("/").add(controller);
    if (!findBelow(v1, mount, name.get()))
      return false;
  }
  return !v2.own.length() ||
         findBelow(v2, mount, v1.own.length() ? "/unified" : "");
}

/// 36 35 98:0 /group /where/it/is options - cgroup source hugetlb,rw
void Groups::readMounts(const char *controller) {
  LineReader lines("/proc/self/mountinfo");
  while (const char *line = lines.next()) {
    const char *type = strstr(line, " - cgroup");
    if (!type)
      continue;
    type += 3;
    const char *options = fieldAt(type, 2);
    Group &group = strncmp(type, "cgroup2 ", 8) == 0 ? v2 : v1;
    bool fits = group.v2 || (strncmp(type, "cgroup ", 7) == 0 && options &&
                             listHas(options, controller, ','));
    const char *root = fieldAt(line, 3), *mount = fieldAt(line, 4);
    if (!fits || !group.own.length() || group.isSeen() || !root || !mount)
      continue;
    group.directory.add(mount, fieldLength(mount));
    group.rootBytes = group.directory.length();
    // In a container only a part of the hierarchy is mounted.
    const char *path = group.own.get();
    size_t rootLength = fieldLength(root);
    size_t hidden = rootLength == 1 ? 0 : rootLength;
    if (strncmp(path, root, hidden) == 0 && strcmp(path + hidden, "/") != 0)
      group.directory.add(path + hidden);
    // "/..": mounted from outside of the namespace, where the path has no
    // meaning.
    if (strncmp(root, "/..", 3) == 0 || !canBeSeen(group.directory))
      group.directory.cutAt(0);
  }
}

/// Each file is read once: the list of mounts takes longer than all the rest.
Groups::Groups(const char *controller) {
  v2.v2 = true;
  readOwn(controller);
  if ((v1.own.length() || v2.own.length()) && !findUsual(controller))
    readMounts(controller);
}

/// In a container without a mount of the hierarchy. The root, which has no
/// limit, is a group like others for those who are in a namespace of groups.
bool Group::isHidden() const {
  return !isSeen() && own.length() &&
         (strcmp(own.get(), "/") != 0 || isInNamespace());
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

/// A limit as the kernel prints it: "max" is not a number, and v1 writes nearly
/// 2^63 for no limit.
static uint64_t readLimit(const Path &path) {
  uint64_t value = readNumber(path.get(), UINT64_MAX);
  return value >= uint64_t(1) << 62 ? UINT64_MAX : value;
}

// Large pages

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

/// The remainder of one of the two limits of a group, or UINT64_MAX.
static uint64_t readLeft(const Group &group, size_t hugeBytes,
                         bool reservations, CgroupLimit &limit) {
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
    uint64_t usage = readLeft(group, hugeBytes, false, limit);
    if (usage < limit.usageLeftBytes)
      limit.usageLeftBytes = usage;
    uint64_t reservation = readLeft(group, hugeBytes, true, limit);
    if (reservation < limit.reservationLeftBytes)
      limit.reservationLeftBytes = reservation;
    if (usage != UINT64_MAX || reservation != UINT64_MAX)
      limit.exists = true;
  } while (goUp(group));
}

CgroupLimit mpg::readCgroupLimit(size_t hugeBytes) {
  CgroupLimit limit;
  Groups groups("hugetlb");
  if (groups.v1.isSeen())
    readLimitsUpwards(groups.v1, hugeBytes, limit);
  if (groups.v2.isSeen())
    readLimitsUpwards(groups.v2, hugeBytes, limit);
  limit.isHidden = groups.v1.isHidden() || groups.v2.isHidden() ||
                   !exists("/proc/self/maps");
  limit.groups = groups.hash;
  return limit;
}

// Memory

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

static uint64_t readMemoryLeft(const Group &group) {
  if (group.isUnlimited())
    return UINT64_MAX;
  Path max = group.directory, now = group.directory;
  max.add(group.v2 ? "/memory.max" : "/memory.limit_in_bytes");
  uint64_t limit = readLimit(max);
  if (limit == UINT64_MAX)
    return UINT64_MAX;
  now.add(group.v2 ? "/memory.current" : "/memory.usage_in_bytes");
  uint64_t used = readNumber(now.get(), 0), cache = fileCacheBytes(group);
  used = used > cache ? used - cache : 0;
  return limit > used ? limit - used : 0;
}

static uint64_t memoryLeft(Group group) {
  if (!group.isSeen())
    return UINT64_MAX;
  uint64_t min = UINT64_MAX;
  do
    if (uint64_t left = readMemoryLeft(group); left < min)
      min = left;
  while (goUp(group));
  return min;
}

uint64_t mpg::readCgroupMemoryLeft() {
  Groups groups("memory");
  uint64_t first = memoryLeft(groups.v1), second = memoryLeft(groups.v2);
  return first < second ? first : second;
}

/// Bytes that a yes still holds for: the files take longer to read than a page
/// to clear. Small enough for 64 processes of a group that have one each.
static std::atomic<uint64_t> promisedBytes{0};

static bool reservePromised(uint64_t bytes) {
  uint64_t promised = promisedBytes.load(std::memory_order_relaxed);
  while (bytes <= promised)
    if (promisedBytes.compare_exchange_weak(promised, promised - bytes,
                                            std::memory_order_relaxed))
      return true;
  return false;
}

static void promise(uint64_t fitting) {
  constexpr uint64_t processes = 64, maxBytes = 64 << 20;
  uint64_t bytes = fitting / processes;
  promisedBytes.store(bytes < maxBytes ? bytes : maxBytes,
                      std::memory_order_relaxed);
}

bool mpg::hugePagesFitGroup(uint64_t bytes) {
  // 0: not asked yet. The least is for the processes beside this one, which
  // take their quarters of the rest.
  constexpr uint64_t minBytes = 64 << 20;
  static std::atomic<uint64_t> spareBytes{0};
  uint64_t spare = spareBytes.load(std::memory_order_relaxed);
  if (spare == UINT64_MAX || reservePromised(bytes))
    return true;
  if (isLockedIn)
    return false;
  uint64_t left = readCgroupMemoryLeft();
  if (!spare) {
    spare = left == UINT64_MAX    ? left
            : left / 4 > minBytes ? left / 4
                                  : minBytes;
    spareBytes.store(spare, std::memory_order_relaxed);
  }
  if (left == UINT64_MAX)
    return true;
  bool fits = left > spare && left - spare >= bytes;
  promise(fits ? left - spare - bytes : 0);
  return fits;
}
