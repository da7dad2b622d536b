// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NodeCpus.h. malloc may be in the middle of its work, or be ours: so files
// are read with system calls into buffers on the stack.

#include "numa/NodeCpus.h"
#include "base/Env.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"

using namespace mpg;

void mpg::onlineNodes(cpu_set_t &nodes) {
  // A kernel without NUMA has no such folder, and its memory is one node's.
  if (readCpuList("/sys/devices/system/node/online", nodes) &&
      CPU_COUNT(&nodes))
    return;
  CPU_ZERO(&nodes);
  CPU_SET(0, &nodes);
}

void mpg::cpusOfNode(int node, cpu_set_t &cpus) {
  LineBuffer path("/sys/devices/system/node/node", uint64_t(node));
  path.add("/cpulist");
  if (readCpuList(path.text(), cpus))
    return;
  CPU_ZERO(&cpus);
  for (int cpu = 0; node == 0 && cpu < CPU_SETSIZE; ++cpu)
    CPU_SET(cpu, &cpus);
}

/// Adds nothing for a thread that has ended since it was listed.
static void addCpus(long thread, cpu_set_t &cpus) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (!isError(
          rawCall(SYS_sched_getaffinity, thread, sizeof(mine), long(&mine))))
    CPU_OR(&cpus, &cpus, &mine);
}

void mpg::cpusOfProcess(cpu_set_t &cpus) {
  CPU_ZERO(&cpus);
  addCpus(0, cpus);
  NumberedEntries threads("/proc/self/task");
  uint64_t thread;
  while (threads.next(thread))
    addCpus(long(thread), cpus);
}

bool mpg::mayRunOnSeveralNodes() {
  cpu_set_t online, mine, cpus;
  onlineNodes(online);
  CPU_ZERO(&mine);
  addCpus(0, mine);
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

bool mpg::goToCpu(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

int mpg::distancesFrom(int node, unsigned *distances, int capacity) {
  LineBuffer path("/sys/devices/system/node/node", uint64_t(node));
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

static bool readOfCpu(unsigned cpu, const char *file, cpu_set_t &group) {
  LineBuffer path("/sys/devices/system/cpu/cpu", cpu, "/", file);
  return readCpuList(path.text(), group);
}

/// Levels of caches are numbered from the core on.
static bool readLastCache(unsigned cpu, cpu_set_t &group) {
  // Instructions and data of the first level are two entries.
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
    LineBuffer path("/sys/devices/system/node/node", node, "/cpulist");
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
  // Without an answer, takes the guess that divides least: OMP_PLACES=sockets
  // is one place then.
  CPU_ZERO(&group);
  if (level == Level::threads || level == Level::cores)
    CPU_SET(cpu, &group);
  else
    for (int other = 0; other < CPU_SETSIZE; ++other)
      CPU_SET(other, &group);
}

void mpg::readCoreGroups(CoreGroups &groups) {
  for (unsigned node = 0; node < CoreGroups::maxNodes; ++node) {
    LineBuffer path("/sys/devices/system/node/node", node, "/cpulist");
    if (!readCpuList(path.text(), groups.cpus[node]))
      CPU_ZERO(&groups.cpus[node]);
  }
  cpu_set_t possible;
  groups.possibleCpus = 0;
  if (readCpuList("/sys/devices/system/cpu/possible", possible))
    groups.possibleCpus = unsigned(CPU_COUNT(&possible));
}

/// Whether all of \p some are among \p all.
static bool isWithin(const cpu_set_t &some, const cpu_set_t &all) {
  cpu_set_t both;
  CPU_AND(&both, &some, &all);
  return CPU_EQUAL(&both, &some);
}

int mpg::getNode(const CoreGroups &groups, const cpu_set_t &cpus) {
  for (unsigned node = 0; node < CoreGroups::maxNodes; ++node)
    if (CPU_COUNT(&cpus) && isWithin(cpus, groups.cpus[node]))
      return int(node);
  return -1;
}

bool mpg::hasGroupsAlone(const CoreGroups &groups, const cpu_set_t &mine,
                         unsigned jobNodes, unsigned processes) {
  unsigned touched = 0;
  for (const cpu_set_t &cpus : groups.cpus) {
    cpu_set_t both;
    CPU_AND(&both, &cpus, &mine);
    if (CPU_COUNT(&both) == 0)
      continue;
    // The rest of the group is another process's, or may become one's.
    if (!isWithin(cpus, mine))
      return false;
    ++touched;
  }
  return touched > 0 && (processes <= 1 || processes * touched <= jobNodes);
}

unsigned mpg::processesOfJob(const char *const *environment) {
  static const Setting number = {"", ValueType::uint, "1..65536", "", "",
                                 "", Owner::mpg,      ""};
  static const Setting rank = {"", ValueType::uint, "0..65535", "", "",
                               "", Owner::mpg,      ""};
  static const char *const sizes[] = {
#define MPG_LOCAL_SIZE(name) name,
#include "mpg/ranks.def"
  };
  static const char *const ranks[] = {
#define MPG_LOCAL_RANK(name) name,
#include "mpg/ranks.def"
  };
  // Variables of several launchers may be set, as under mpirun inside of srun:
  // the largest number is the careful answer.
  uint64_t max = 1, value;
  for (const char *name : sizes)
    if (const char *text = findValue(environment, name))
      if (parseValue(number, text, value) && value > max)
        max = value;
  // If only the rank is known, there are at least rank + 1.
  for (const char *name : ranks)
    if (const char *text = findValue(environment, name))
      if (parseValue(rank, text, value) && value + 1 > max)
        max = value + 1;
  return unsigned(max);
}
