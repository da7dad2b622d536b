// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NodeCpus.h.

#include "numa/NodeCpus.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "numa/CoreGroups.h"
#include <fcntl.h>
#include <stddef.h>

using namespace mpg;

void mpg::onlineNodes(cpu_set_t &nodes) {
  if (readCpuList("/sys/devices/system/node/online", nodes) &&
      CPU_COUNT(&nodes))
    return;
  CPU_ZERO(&nodes);
  CPU_SET(0, &nodes);
}

void mpg::cpusOfNode(int node, cpu_set_t &cpus) {
  LineBuffer path;
  path.add("/sys/devices/system/node/node").addNumber(uint64_t(node));
  path.add("/cpulist");
  if (readCpuList(path.text(), cpus))
    return;
  CPU_ZERO(&cpus);
  for (int cpu = 0; node == 0 && cpu < CPU_SETSIZE; ++cpu)
    CPU_SET(cpu, &cpus);
}

namespace {

/// What getdents64 gives.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

} // namespace

static void addCpusOf(long thread, cpu_set_t &cpus) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (!isError(
          rawCall(SYS_sched_getaffinity, thread, sizeof(mine), long(&mine))))
    CPU_OR(&cpus, &cpus, &mine);
}

void mpg::cpusOfProcess(cpu_set_t &cpus) {
  CPU_ZERO(&cpus);
  addCpusOf(0, cpus);
  long folder = rawCall(SYS_openat, AT_FDCWD, long("/proc/self/task"),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (isError(folder))
    return;
  alignas(DirectoryEntry) char entries[2048];
  long count;
  while ((count = rawCall(SYS_getdents64, folder, long(entries),
                          sizeof(entries))) > 0)
    for (long at = 0; at < count;) {
      auto *entry = reinterpret_cast<const DirectoryEntry *>(entries + at);
      const char *name = entry->name;
      uint64_t thread;
      if (parseNumber(name, 10, thread)) // not "." and ".."
        addCpusOf(long(thread), cpus);
      at += entry->bytes;
    }
  rawCall(SYS_close, folder);
}

bool mpg::mayRunOnSeveralNodes() {
  cpu_set_t online, mine, cpus;
  onlineNodes(online);
  CPU_ZERO(&mine);
  addCpusOf(0, mine);
  int count = 0;
  for (int node = 0; node < CPU_SETSIZE && CPU_COUNT(&online) > 1; ++node) {
    if (!CPU_ISSET(node, &online))
      continue;
    cpusOfNode(node, cpus);
    CPU_AND(&cpus, &cpus, &mine);
    if (CPU_COUNT(&cpus) && ++count == 2)
      return true;
  }
  return false;
}

int mpg::distancesFrom(int node, unsigned *distances, int capacity) {
  LineBuffer path;
  path.add("/sys/devices/system/node/node").addNumber(uint64_t(node));
  path.add("/distance");
  char text[4096];
  if (readSmallFile(path.text(), text, sizeof(text)) < 0)
    return 0;
  int count = 0;
  uint64_t distance;
  for (const char *at = text; count < capacity;) {
    while (*at == ' ')
      ++at;
    if (!parseNumber(at, 10, distance))
      break;
    distances[count++] = unsigned(distance);
  }
  return count;
}

int mpg::nodeOfThread() {
  unsigned cpu = 0, node = 0;
  rawCall(SYS_getcpu, long(&cpu), long(&node));
  return int(node);
}

static bool readOfCpu(unsigned cpu, const char *file, cpu_set_t &group) {
  LineBuffer path;
  path.add("/sys/devices/system/cpu/cpu").addNumber(cpu).add("/").add(file);
  return readCpuList(path.text(), group);
}

/// Levels of caches are numbered from the core on.
static bool readLastCache(unsigned cpu, cpu_set_t &group) {
  static const char *const files[] = {
      "cache/index4/shared_cpu_list", "cache/index3/shared_cpu_list",
      "cache/index2/shared_cpu_list", "cache/index1/shared_cpu_list",
      "cache/index0/shared_cpu_list"};
  for (const char *file : files)
    if (readOfCpu(cpu, file, group))
      return true;
  return false;
}

static bool readNode(unsigned cpu, cpu_set_t &group) {
  cpu_set_t nodes; // sysfs writes lists of nodes as those of CPUs
  if (!readCpuList("/sys/devices/system/node/has_cpu", nodes))
    return false;
  for (unsigned node = 0; node < CPU_SETSIZE; ++node) {
    LineBuffer path;
    path.add("/sys/devices/system/node/node").addNumber(node).add("/cpulist");
    if (CPU_ISSET(node, &nodes) && readCpuList(path.text(), group) &&
        CPU_ISSET(cpu, &group))
      return true;
  }
  return false;
}

static bool readGroup(unsigned cpu, Level level, cpu_set_t &group) {
  // The second names are those before Linux 5.3.
  switch (level) {
  case Level::threads:
    return false;
  case Level::cores:
    return readOfCpu(cpu, "topology/core_cpus_list", group) ||
           readOfCpu(cpu, "topology/thread_siblings_list", group);
  case Level::llCaches: // a kernel that knows no caches may know the nodes
    return readLastCache(cpu, group) || readNode(cpu, group);
  case Level::numaDomains:
    return readNode(cpu, group);
  case Level::sockets:
    return readOfCpu(cpu, "topology/package_cpus_list", group) ||
           readOfCpu(cpu, "topology/core_siblings_list", group);
  }
  return false;
}

void mpg::readNeighbors(unsigned cpu, Level level, cpu_set_t &group) {
  if (readGroup(cpu, level, group))
    return;
  CPU_ZERO(&group);
  if (level == Level::threads || level == Level::cores)
    CPU_SET(cpu, &group);
  else
    for (int other = 0; other < CPU_SETSIZE; ++other)
      CPU_SET(other, &group);
}
