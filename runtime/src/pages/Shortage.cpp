// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out after a failure why large pages are missing: the pool, a cgroup (v1
// or v2; any group above counts), address space limits, a kernel without the
// page size, the site's setting of transparent huge pages, a system call
// filter. Each cause comes with the command that removes it.

#include "pages/Shortage.h"

#include "base/Cgroup.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "pages/PagesNuma.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/resource.h>

using namespace mpg;

// The pool

static uint64_t poolNumber(size_t hugeBytes, const char *name,
                           uint64_t otherwise = 0) {
  Path path;
  path.add("/sys/kernel/mm/hugepages/hugepages-")
      .addNumber(hugeBytes >> 10)
      .add("kB/")
      .add(name);
  return readNumber(path.get(), otherwise);
}

Pool mpg::readPool(size_t hugeBytes) {
  Pool pool;
  if (isLockedIn)
    return pool;
  pool.total = poolNumber(hugeBytes, "nr_hugepages", UINT64_MAX);
  if (pool.total == UINT64_MAX)
    return Pool{};
  pool.exists = true;
  pool.free = poolNumber(hugeBytes, "free_hugepages");
  pool.reserved = poolNumber(hugeBytes, "resv_hugepages");
  pool.surplus = poolNumber(hugeBytes, "surplus_hugepages");
  pool.overcommit = poolNumber(hugeBytes, "nr_overcommit_hugepages");
  return pool;
}

uint64_t Pool::available() const {
  // For a moment the kernel may count fewer than none as reserved (seen on
  // Linux 6.18).
  uint64_t taken = int64_t(reserved) < 0 ? 0 : reserved;
  uint64_t unreserved = free > taken ? free - taken : 0;
  uint64_t more = overcommit > surplus ? overcommit - surplus : 0;
  return unreserved + more;
}

// NUMA nodes

static bool nodeHasPool(int node, size_t hugeBytes) {
  Path path;
  path.add("/sys/devices/system/node/node").addNumber(uint64_t(node));
  path.add("/hugepages/hugepages-").addNumber(hugeBytes >> 10);
  path.add("kB/nr_hugepages");
  return readNumber(path.get(), 0) != 0;
}

/// The policy of the calling thread's memory, and its nodes.
static int readPolicy(NodeSet &nodes) {
  int mode = MPOL_DEFAULT;
  rawCall(SYS_get_mempolicy, long(&mode), long(nodes.words), NodeSet::maxNodes,
          0, 0);
  return mode;
}

/// Whether some large pages lie on NUMA nodes that this process may not use:
/// the numbers of the pool are not for it alone then.
static bool isBoundToFewNodes(size_t hugeBytes) {
  NodeSet allowed = allowedNodes(), chosen;
  bool binds = (readPolicy(chosen) & 0xff) == MPOL_BIND;
  cpu_set_t online;
  if (!readCpuList("/sys/devices/system/node/online", online))
    return false;
  for (int node = 0; node < NodeSet::maxNodes; ++node) {
    bool usable = allowed.has(node) && (!binds || chosen.has(node));
    if (!usable && CPU_ISSET(node, &online) && nodeHasPool(node, hugeBytes))
      return true;
  }
  return false;
}

/// A usage limit anywhere above this process counts, too: a page that is only
/// reserved may then fail when it is touched (SIGBUS). \p groups: its groups.
static bool checkReservation(size_t hugeBytes, uint64_t &groups) {
  CgroupLimit limit = readCgroupLimit(hugeBytes);
  groups = limit.groups;
  return limit.usageLeftBytes != UINT64_MAX || limit.isHidden ||
         isBoundToFewNodes(hugeBytes);
}

bool mpg::reservationMayFail(size_t hugeBytes) {
  uint64_t groups;
  return checkReservation(hugeBytes, groups);
}

/// A hash of \p groups and of the nodes to which the calling thread is bound,
/// even and never 0; 0: unknown.
static uint64_t hashPlace(uint64_t groups) {
  NodeSet nodes;
  if (!groups)
    return 0;
  uint64_t hash = groups ^ uint64_t(readPolicy(nodes));
  for (unsigned long word : nodes.words)
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
  return (hash | 2) & ~uint64_t(1);
}

/// Hashes of where threads were at their last answers, which may be bound to
/// different nodes, and in the last bits the answers. The first one is the last
/// of all, for a place that is unknown.
static std::atomic<uint64_t> answers[17];

/// The answer for \p place, or where it goes: more than 16 places displace each
/// other.
static std::atomic<uint64_t> &answerAt(uint64_t place) {
  if (!place)
    return answers[0];
  for (unsigned i = 1; i < 17; ++i) {
    uint64_t known = answers[i].load(std::memory_order_relaxed);
    if (!known || place == (known & ~uint64_t(1)))
      return answers[i];
  }
  return answers[1 + (place >> 60)];
}

/// Looks again, and remembers the answer.
static bool updateAnswer(size_t hugeBytes) {
  uint64_t groups;
  bool answer = checkReservation(hugeBytes, groups);
  uint64_t place = hashPlace(groups);
  answers[0] = answerAt(place) = place | answer;
  return answer;
}

bool mpg::reservationMayFailNow(size_t hugeBytes) {
  uint64_t place = hashPlace(isLockedIn ? 0 : hashGroups()),
           known = answerAt(place).load(std::memory_order_relaxed);
  if (!place || place == (known & ~uint64_t(1)))
    return known & 1;
  return updateAnswer(hugeBytes);
}

bool mpg::reservationMayFailAtStart(size_t hugeBytes) {
  static size_t askedBytes = 0;
  static bool answer;
  if (askedBytes != hugeBytes)
    answer = updateAnswer(hugeBytes);
  askedBytes = hugeBytes;
  return answer;
}

// Words

static uint64_t pagesFor(uint64_t bytes, size_t hugeBytes) {
  return (bytes + hugeBytes - 1) / hugeBytes;
}

static void explainPool(LineBuffer &line, const Pool &pool, size_t hugeBytes,
                        uint64_t missingBytes) {
  line.addAll("the pool of ", Bytes(hugeBytes));
  if (pool.total == 0 && pool.overcommit == 0)
    line.add(" pages is empty (nr_hugepages is 0)");
  else
    line.addAll(" pages has ", pool.available(), " of ", pool.total, " left");
  // The default size has a short name, the others only the long one.
  line.addAll("; fix: echo ", pool.total + pagesFor(missingBytes, hugeBytes),
              " > /sys/kernel/mm/hugepages/hugepages-", hugeBytes >> 10,
              "kB/nr_hugepages");
}

namespace {

/// A resource limit on memory, and where the kernel counts what it is about.
struct LimitKind {
  int resource;
  int usedField; ///< of /proc/self/statm, in pages
  const char *name, *command;
};

} // namespace

static const LimitKind limitKinds[] = {
    {RLIMIT_AS, 0, "RLIMIT_AS", "ulimit -v unlimited"},
    {RLIMIT_DATA, 5, "RLIMIT_DATA", "ulimit -d unlimited"}};

static MemoryLimit readLimit(const LimitKind &kind) {
  MemoryLimit limit;
  uint64_t values[2] = {UINT64_MAX, UINT64_MAX};
  rawCall(SYS_prlimit64, 0, kind.resource, 0, long(values));
  if (values[0] == UINT64_MAX)
    return limit;
  char text[128];
  uint64_t pages = 0;
  const char *at = nullptr;
  if (readSmallFile("/proc/self/statm", text, sizeof text) > 0)
    at = fieldAt(text, kind.usedField);
  if (at)
    parseNumber(at, 10, pages);
  uint64_t used = pages * basePageBytes();
  limit.bytes = values[0];
  limit.leftBytes = used < limit.bytes ? limit.bytes - used : 0;
  return limit;
}

MemoryLimit mpg::readMemoryLimit() {
  MemoryLimit min;
  if (isLockedIn)
    return min;
  for (const LimitKind &kind : limitKinds)
    if (MemoryLimit limit = readLimit(kind); limit.leftBytes < min.leftBytes)
      min = limit;
  return min;
}

uint64_t mpg::readPromisesLeft() {
  char text[16];
  uint64_t max = 0, promised = 0;
  if (isLockedIn)
    return UINT64_MAX;
  if (readSmallFile("/proc/sys/vm/overcommit_memory", text, sizeof text) <= 0 ||
      text[0] != '2' || !readMemoryInfo("CommitLimit:", max) ||
      !readMemoryInfo("Committed_AS:", promised))
    return UINT64_MAX;
  return promised < max ? max - promised : 0;
}

/// Whether the kernel commits no more memory; false if that is not the reason.
static bool explainPromises(LineBuffer &line, uint64_t missingBytes) {
  uint64_t left = readPromisesLeft();
  if (left >= missingBytes)
    return false;
  line.addAll("vm.overcommit_memory is 2, and CommitLimit leaves ", Bytes(left),
              "; fix: a pool of large pages, which does not count, or a higher "
              "vm.overcommit_ratio");
  return true;
}

/// A limit of the process on its memory; false if none is near.
static bool explainLimits(LineBuffer &line, uint64_t missingBytes) {
  for (const LimitKind &kind : limitKinds) {
    MemoryLimit limit = readLimit(kind);
    if (limit.leftBytes >= missingBytes)
      continue;
    line.addAll("the address space limit is reached (", kind.name, " is ",
                Bytes(limit.bytes), "); fix: ", kind.command);
    return true;
  }
  return false;
}

static bool explainCgroup(LineBuffer &line, const CgroupLimit &limit,
                          bool poolHasThem, uint64_t missingBytes) {
  // Where the files are hidden but the pool has what was refused, a group is
  // the likeliest reason.
  bool isReached = limit.usageLeftBytes < missingBytes ||
                   limit.reservationLeftBytes < missingBytes;
  if (!isReached && !(limit.isHidden && poolHasThem))
    return false;
  if (!isReached) {
    line.add("probably the limit of a cgroup, whose files are hidden from this "
             "process; fix: ask for more large pages in the job, or mount "
             "/proc and cgroups in the container");
    return true;
  }
  line.addAll("the cgroup limit ", limit.file, " is ", Bytes(limit.limitBytes),
              "; fix: ask for more in the job, or echo ",
              limit.limitBytes + missingBytes, " to that file");
  return true;
}

static bool explainNodes(LineBuffer &line, size_t hugeBytes) {
  if (!isBoundToFewNodes(hugeBytes))
    return false;
  line.addAll("the NUMA nodes that this process may use (cpuset, numactl) have "
              "too few free pages of ",
              Bytes(hugeBytes),
              "; fix: more pages in "
              "/sys/devices/system/node/node*/hugepages/hugepages-",
              hugeBytes >> 10, "kB/nr_hugepages");
  return true;
}

/// Without sysfs, pools and settings are unknown; containers hide it.
static bool explainHiddenFiles(LineBuffer &line) {
  char text[64];
  // This one is there on every kernel, whatever it is configured with.
  if (readSmallFile("/sys/kernel/uevent_seqnum", text, sizeof text) > 0 ||
      readSmallFile("/sys/kernel/mm/ksm/run", text, sizeof text) > 0)
    return false;
  line.add("/sys is hidden, so the available large pages are unknown; "
           "fix: mount sysfs in the container");
  return true;
}

/// On base pages that are not of 4 KiB the common switch is about another size.
static void explainNo2Mib(LineBuffer &line) {
  char text[64];
  bool hasSwitch =
      readSmallFile(MPG_THP_FOLDER MPG_THP_2M, text, sizeof text) > 0;
  line.addAll("on base pages of ", Bytes(basePageBytes()),
              hasSwitch
                  ? " the separate switch for 2 MiB is off; "
                    "fix: echo madvise > " MPG_THP_FOLDER MPG_THP_2M
                  : " this kernel has no transparent huge pages of 2 MiB; "
                    "fix: set up a pool of large pages");
}

static void explainThp(LineBuffer &line, uint64_t missingBytes) {
  char text[64];
  if (readSmallFile(MPG_THP_FOLDER "enabled", text, sizeof text) <= 0) {
    if (explainHiddenFiles(line))
      return;
    line.add("this kernel has no transparent huge pages; fix: set up a pool of "
             "large pages");
    return;
  }
  int error = tryAdvice();
  bool isOff = !thpOf2MibIsOn();
  if (isOff && !thpIsCounted())
    explainNo2Mib(line);
  else if (isOff && strstr(text, "[never]"))
    line.add("transparent huge pages are switched off; fix: echo madvise "
             "> " MPG_THP_FOLDER "enabled");
  else if (isOff)
    line.add("transparent huge pages of 2 MiB are switched off; fix: echo "
             "inherit > " MPG_THP_FOLDER MPG_THP_2M);
  else if (!thpIsAllowed())
    line.add("transparent huge pages are switched off for this process; fix: "
             "do not start it under PR_SET_THP_DISABLE");
  else if (error == EPERM || error == EACCES || error == ENOSYS)
    line.add("madvise is forbidden; fix: allow it in the job's system call "
             "filter");
  else if (!hugePagesFitGroup(missingBytes))
    line.add("the memory limit of the job's control group leaves too little "
             "for pages that are whole when a byte of them is used; fix: ask "
             "for more memory in the job");
  else
    line.add("the kernel had no free memory in pieces of that size; fix: echo "
             "1 > /proc/sys/vm/compact_memory, or set up a pool of large "
             "pages");
}

void mpg::explainShortage(LineBuffer &line, Source source, size_t hugeBytes,
                          uint64_t missingBytes, int error) {
  if (isLockedIn) {
    line.add("the cause is not investigated in a process that has sandboxed "
             "itself (seccomp)");
    return;
  }
  if (source == Source::thp) {
    if (error != ENOMEM || !(explainLimits(line, missingBytes) ||
                             explainPromises(line, missingBytes)))
      explainThp(line, missingBytes);
    return;
  }
  Pool pool = readPool(hugeBytes);
  if (!pool.exists && explainHiddenFiles(line))
    return;
  if (!pool.exists) {
    line.addAll("this kernel has no pages of ", Bytes(hugeBytes),
                "; fix: a kernel with CONFIG_HUGETLBFS, or unset "
                "XOS_MMM_L_HUGETLB_SZ");
    return;
  }
  if (error == EPERM || error == EACCES || error == ENOSYS) {
    line.addAll("the system call for it is forbidden (",
                error == ENOSYS ? "ENOSYS" : "no permission",
                "); fix: allow mmap, mremap and memfd_create in the job's "
                "system call filter");
    return;
  }
  // From the process outwards: its own limits, its groups, its nodes, and only
  // then the machine's pool.
  if (explainLimits(line, missingBytes))
    return;
  missingBytes = roundUp(missingBytes, hugeBytes); // as an operator would say
  bool poolHasThem = pool.available() * hugeBytes >= missingBytes;
  if (explainCgroup(line, readCgroupLimit(hugeBytes), poolHasThem,
                    missingBytes) ||
      (poolHasThem && explainNodes(line, hugeBytes)))
    return;
  explainPool(line, pool, hugeBytes, missingBytes);
}
