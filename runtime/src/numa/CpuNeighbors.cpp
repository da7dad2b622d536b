// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CpuNeighbors.h.

#include "numa/CpuNeighbors.h"
#include "base/Messages.h"
#include "numa/CoreGroups.h"

using namespace mpg;

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
