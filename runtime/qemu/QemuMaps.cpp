// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "QemuMaps.h"
#include <cinttypes>
#include <cstdio>
#include <cstring>

static uint64_t base;

void setQemuBase(uint64_t value) {
  __atomic_store_n(&base, value, __ATOMIC_RELAXED);
}

/// Fills \p map from a line of /proc/self/maps; paths may have blanks.
static bool readLine(char *line, QemuMap &map) {
  int pathAt = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
             &map.begin, &map.end, &map.offset, &pathAt) != 3)
    return false;
  line[strcspn(line, "\n")] = '\0';
  map.path[0] = '\0';
  if (pathAt && line[pathAt] == '/')
    snprintf(map.path, sizeof(map.path), "%s", line + pathAt);
  return true;
}

bool findQemuMap(uint64_t address, QemuMap &map) {
  FILE *file = fopen("/proc/self/maps", "re");
  if (!file)
    return false;
  uint64_t added = __atomic_load_n(&base, __ATOMIC_RELAXED);
  char line[PATH_MAX + 128];
  bool isFound = false;
  while (!isFound && fgets(line, sizeof(line), file))
    isFound = readLine(line, map) && address + added >= map.begin &&
              address + added < map.end;
  fclose(file);
  map.begin -= added;
  map.end -= added;
  return isFound;
}
