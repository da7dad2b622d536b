// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Node.h. Where a group's files are follows from two lists: the
// group's path in each hierarchy (/proc/self/cgroup) and where which part of a
// hierarchy is mounted (/proc/self/mountinfo). In a container both are often
// cut, so a path that is not below the mounted part means the mount itself.

#include "Node/Node.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// Version 1 shows "no limit" as 2^63 less a page.
constexpr uint64_t unlimitedFrom = uint64_t(1) << 62;

uint64_t GroupLimit::leftBytes() const {
  if (!limitBytes)
    return UINT64_MAX;
  uint64_t usage = usageBytes.valueOr(0);
  return *limitBytes > usage ? *limitBytes - usage : 0;
}

std::string GroupLimit::liftCommand() const {
  bool isFirst = StringRef(file).ends_with("limit_in_bytes");
  return std::string("echo ") + (isFirst ? "-1" : "max") + " > " + file;
}

const GroupLimit *GroupLimits::tightest() const {
  const GroupLimit *min = nullptr;
  for (const GroupLimit &limit : limits)
    if (limit.limitBytes && (!min || limit.leftBytes() < min->leftBytes()))
      min = &limit;
  return min;
}

namespace {

/// A mounted hierarchy of groups.
struct Mount {
  std::string root;  ///< the part of the hierarchy that is mounted
  std::string place; ///< where
};

} // namespace

/// "36 35 0:29 /part /place rw,opts shared:1 - cgroup source rw,hugetlb"
static std::optional<Mount> findMount(StringRef mountInfo, StringRef type,
                                      StringRef option) {
  for (StringRef line : split(mountInfo, '\n')) {
    auto [before, after] = line.split(" - ");
    SmallVector<StringRef, 12> left, right;
    before.split(left, ' ');
    after.split(right, ' ');
    if (left.size() < 5 || right.size() < 3 || right[0] != type)
      continue;
    if (option.empty() || is_contained(split(right[2], ','), option))
      return Mount{left[3].str(), left[4].str()};
  }
  return std::nullopt;
}

/// The path after "N:controllers:"; version 2 has no controllers there.
static std::optional<std::string> findPath(StringRef groups,
                                           StringRef controller) {
  for (StringRef line : split(groups, '\n')) {
    auto [names, path] = line.split(':').second.split(':');
    if (is_contained(split(names, ','), controller) && path.starts_with("/"))
      return path.str();
  }
  return std::nullopt;
}

/// The group's folder below \p mount.
static std::string joinFolder(const Mount &mount, StringRef path) {
  StringRef rest = path;
  if (mount.root != "/" && !rest.consume_front(mount.root))
    rest = "";
  if (rest.contains("..") || (!rest.empty() && rest.front() != '/'))
    rest = "";
  return mount.place + rest.rtrim('/').str();
}

/// Reads the pair of files, and keeps it if it limits or cannot be read.
static void addLimit(const SysTree &tree, const std::string &limitFile,
                     const std::string &usageFile, bool isReservation,
                     GroupLimits &groups) {
  // The outermost group has no limits in version 2, old kernels none on
  // reservations.
  if (!tree.exists(limitFile))
    return;
  Fact<std::string> word = tree.line(limitFile);
  if (word && *word == "max")
    return;
  GroupLimit limit{limitFile, tree.number(limitFile), {}, isReservation};
  if (limit.limitBytes && *limit.limitBytes >= unlimitedFrom)
    return;
  limit.usageBytes = tree.number(usageFile);
  groups.limits.push_back(std::move(limit));
}

static void addGroup(const SysTree &tree, const std::string &folder,
                     StringRef controller, GroupLimits &groups) {
  bool isFirst = groups.version == 1;
  auto add = [&](StringRef stem, bool isReservation) {
    std::string base = (folder + "/" + stem + ".").str();
    addLimit(tree, base + (isFirst ? "limit_in_bytes" : "max"),
             base + (isFirst ? "usage_in_bytes" : "current"), isReservation,
             groups);
  };
  if (controller == "memory")
    return add("memory", false);
  add("hugetlb.2MB", false);
  add("hugetlb.2MB.rsvd", true);
}

static GroupLimits readLimits(const SysTree &tree, StringRef groupList,
                              StringRef mountInfo, StringRef controller) {
  GroupLimits groups;
  std::optional<std::string> path = findPath(groupList, controller);
  std::optional<Mount> mount;
  if (path) {
    groups.version = 1;
    mount = findMount(mountInfo, "cgroup", controller);
  } else if ((path = findPath(groupList, ""))) {
    mount = findMount(mountInfo, "cgroup2", "");
    Fact<std::string> controllers =
        mount ? tree.line(mount->place + "/cgroup.controllers")
              : Fact<std::string>();
    // Not enabled at the top of the tree means not enabled anywhere.
    if (controllers && !is_contained(split(*controllers, ' '), controller))
      return groups;
    groups.version = 2;
  } else {
    return groups;
  }
  if (!mount) {
    groups.unknown = ("/proc/self/mountinfo: the " + controller +
                      " groups are not mounted, limits cannot be seen")
                         .str();
    return groups;
  }
  groups.folder = joinFolder(*mount, *path);
  for (StringRef folder = groups.folder;; folder = folder.rsplit('/').first) {
    addGroup(tree, folder.str(), controller, groups);
    if (folder.size() <= mount->place.size())
      return groups;
  }
}

CgroupFacts mpg::readCgroupFacts(const SysTree &tree) {
  CgroupFacts facts;
  Fact<std::string> groups = tree.text("/proc/self/cgroup");
  Fact<std::string> mounts = tree.text("/proc/self/mountinfo");
  if (!groups || !mounts) {
    const std::string &why = groups ? mounts.unknown : groups.unknown;
    facts.largePages.unknown = facts.memory.unknown = why;
    facts.poolCountsAsMemory = Fact<bool>::missing(why);
    return facts;
  }
  facts.largePages = readLimits(tree, *groups, *mounts, "hugetlb");
  facts.memory = readLimits(tree, *groups, *mounts, "memory");
  // Pages of the pool count in no memory group but with this mount option
  // (Linux commit 8cba9576df60: read).
  facts.poolCountsAsMemory =
      facts.memory.version == 2 &&
      findMount(*mounts, "cgroup2", "memory_hugetlb_accounting");
  return facts;
}

/// "Max stack size             8388608              unlimited            bytes"
static Fact<uint64_t> findLimit(const Fact<std::string> &limits,
                                const std::string &path, StringRef name) {
  if (!limits)
    return Fact<uint64_t>::missing(limits.unknown);
  for (StringRef line : split(*limits, '\n')) {
    if (!line.consume_front(name) || !line.starts_with(" "))
      continue;
    StringRef word = line.ltrim().split(' ').first;
    if (word == "unlimited")
      return uint64_t(UINT64_MAX);
    if (std::optional<uint64_t> number = parseNumber(word))
      return *number;
  }
  return Fact<uint64_t>::missing(path + ": no '" + name.str() + "' in it");
}

ProcessLimits mpg::readProcessLimits(const SysTree &tree, StringRef process) {
  std::string path = ("/proc/" + process + "/limits").str();
  Fact<std::string> limits = tree.text(path);
  return {findLimit(limits, path, "Max locked memory"),
          findLimit(limits, path, "Max stack size"),
          findLimit(limits, path, "Max address space")};
}
