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
