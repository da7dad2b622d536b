// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunks of a lane from the side that fills them: in a program compiled
// with --mpg-sim, and in qemu. Nothing here allocates.

#pragma once

#include "mpg/sim.h"
#include <cerrno>
#include <csignal>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The chunk that \p lane of \p ring fills now.
static inline mpg_sim_record *mpg_sim_chunk(mpg_sim_ring *ring,
                                            const mpg_sim_lane *lane) {
  char *chunks = reinterpret_cast<char *>(ring) + MPG_SIM_CHUNK_BYTES;
  uint64_t number = uint64_t(lane - ring->lane) * MPG_SIM_CHUNKS +
                    lane->filled % MPG_SIM_CHUNKS;
  return reinterpret_cast<mpg_sim_record *>(chunks +
                                            number * MPG_SIM_CHUNK_BYTES);
}

/// Hands the lane's chunk to mpgsim and waits for another one. False: mpgsim
/// was killed and takes no more chunks. Changes errno.
static inline bool mpg_sim_hand_over_chunk(mpg_sim_ring *ring,
                                           mpg_sim_lane *lane) {
  auto futex = [](uint32_t *word, int operation, uint32_t value,
                  const timespec *timeout) {
    return syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
  };
  uint32_t filled = lane->filled + 1;
  __atomic_store_n(&lane->filled, filled, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&ring->handed, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->readerWaits, __ATOMIC_SEQ_CST))
    futex(&ring->handed, FUTEX_WAKE, 1, nullptr);
  for (;;) {
    uint32_t taken = __atomic_load_n(&lane->taken, __ATOMIC_SEQ_CST);
    if (filled - taken < MPG_SIM_CHUNKS)
      return true;
    __atomic_store_n(&lane->ownerWaits, 1, __ATOMIC_SEQ_CST);
    timespec second = {1, 0};
    long status = futex(&lane->taken, FUTEX_WAIT, taken, &second);
    __atomic_store_n(&lane->ownerWaits, 0, __ATOMIC_SEQ_CST);
    if (status && errno == ETIMEDOUT && kill(ring->reader, 0) && errno == ESRCH)
      return false;
  }
}

/// The lowest lane without a thread; 0: there is none.
static inline unsigned mpg_sim_take_lane(mpg_sim_ring *ring) {
  for (unsigned number = 1; number < ring->lanes; ++number) {
    uint32_t noThread = 0;
    if (__atomic_compare_exchange_n(&ring->lane[number].isTaken, &noThread, 1,
                                    false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      __atomic_fetch_add(&ring->lane[number].threads, 1, __ATOMIC_SEQ_CST);
      return number;
    }
  }
  return 0;
}
