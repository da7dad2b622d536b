// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CoreGroups.h.

#include "numa/CoreGroups.h"
#include "base/EnvTable.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"

using namespace mpg;

bool mpg::parseCpuList(const char *text, cpu_set_t &cpus) {
  CPU_ZERO(&cpus);
  while (*text && *text != '\n') {
    uint64_t first, last;
    if (!parseNumber(text, 10, first))
      return false;
    last = first;
    if (*text == '-' && !parseNumber(++text, 10, last))
      return false;
    if (last < first || last >= CPU_SETSIZE)
      return false;
    for (uint64_t cpu = first; cpu <= last; ++cpu)
      CPU_SET(cpu, &cpus);
    if (*text == ',' && text[1] >= '0' && text[1] <= '9')
      ++text;
    else if (*text && *text != '\n')
      return false;
  }
  return true;
}

bool mpg::readCpuList(const char *path, cpu_set_t &cpus) {
  char text[4096];
  return readSmallFile(path, text, sizeof(text)) >= 0 &&
         parseCpuList(text, cpus);
}

void mpg::readCoreGroups(CoreGroups &groups) {
  for (unsigned node = 0; node < CoreGroups::maxNodes; ++node) {
    LineBuffer path;
    path.add("/sys/devices/system/node/node").addNumber(node).add("/cpulist");
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

int mpg::nodeOf(const CoreGroups &groups, const cpu_set_t &cpus) {
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
  uint64_t most = 1, value;
  for (const char *name : sizes)
    if (const char *text = findValue(environment, name))
      if (parseValue(number, text, value) && value > most)
        most = value;
  // Where only the rank is known, there are at least as many.
  for (const char *name : ranks)
    if (const char *text = findValue(environment, name))
      if (parseValue(rank, text, value) && value + 1 > most)
        most = value + 1;
  return unsigned(most);
}
