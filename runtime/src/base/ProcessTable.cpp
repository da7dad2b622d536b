// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProcessTable.h.

#include "base/ProcessTable.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"

#include <string.h>
#include <sys/mman.h>

using namespace mpg;

void ProcessTable::open(int fd) {
  constexpr long bytes = sizeof(mpg_state_table);
  // All of it will be written to as memory.
  char last;
  if (rawCall(SYS_pread64, fd, long(&last), 1, MPG_STATE_TABLE + bytes - 1) !=
      1)
    return;
  long at = rawCall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                    MPG_STATE_TABLE);
  if (!isError(at))
    table = reinterpret_cast<mpg_state_table *>(at);
}

/// The arguments with spaces between them.
static void readCommand(char (&command)[MPG_STATE_COMMAND]) {
  long length = readSmallFile("/proc/self/cmdline", command, sizeof command);
  for (long i = 0; i + 1 < length; ++i)
    if (!command[i])
      command[i] = ' ';
}

mpg_state_process *ProcessTable::entry(bool take) {
  auto self = uint32_t(rawCall(SYS_getpid));
  if (owner == self || !table || !take)
    return owner == self ? own : nullptr;
  owner = self;
  own = nullptr;
  uint32_t index = __atomic_fetch_add(&table->taken, 1, __ATOMIC_RELAXED);
  if (index >= MPG_STATE_PROCESSES)
    return nullptr;
  own = &table->processes[index];
  own->parent = uint32_t(rawCall(SYS_getppid));
  readCommand(own->command);
  __atomic_store_n(&own->pid, self, __ATOMIC_RELEASE);
  return own;
}

void ProcessTable::writeEnd() {
  mpg_state_process *process = entry(/*take=*/true);
  LineReader lines("/proc/self/smaps_rollup");
  if (!process || !lines.opened())
    return;
  uint64_t bytes = 0, normal = 0, thp = 0, pool = 0;
  while (const char *line = lines.next()) {
    if (parseSize(line, "Anonymous:", bytes))
      normal = bytes;
    else if (parseSize(line, "AnonHugePages:", bytes))
      thp = bytes;
    else if (parseSize(line, "Shared_Hugetlb:", bytes) ||
             parseSize(line, "Private_Hugetlb:", bytes))
      pool += bytes;
  }
  process->bytes = normal + pool;
  process->hugeBytes = thp + pool;
  process->poolBytes = pool;
  process->hasEnded = 1;
}
