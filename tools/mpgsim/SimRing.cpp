// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimRing.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mpg;

static constexpr size_t ringBytes =
    size_t(MPG_SIM_CHUNKS + 1) * MPG_SIM_CHUNK_BYTES;

SimRing::~SimRing() {
  finish();
  if (ring)
    munmap(ring, ringBytes);
  if (file >= 0)
    close(file);
}

std::string SimRing::open() {
  file = memfd_create("mpgsim", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, ringBytes) != 0)
    return std::string("there is no shared memory: ") + strerror(errno);
  void *memory =
      mmap(nullptr, ringBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    return std::string("there is no shared memory: ") + strerror(errno);
  ring = static_cast<mpg_sim_ring *>(memory);
  memcpy(ring->magic, MPG_SIM_MAGIC, sizeof(ring->magic));
  ring->version = MPG_SIM_VERSION;
  ring->reader = getpid();
  return "";
}

/// By way of /proc, so that no open file is in the program that it did not
/// open.
std::string SimRing::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}

mpg_sim_record *SimRing::chunk(uint32_t number) {
  char *chunks = reinterpret_cast<char *>(ring) + MPG_SIM_CHUNK_BYTES;
  return reinterpret_cast<mpg_sim_record *>(
      chunks + size_t(number % MPG_SIM_CHUNKS) * MPG_SIM_CHUNK_BYTES);
}

static void wait(uint32_t *word, uint32_t value) {
  timespec moment = {0, 20 * 1000 * 1000};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &moment, nullptr, 0);
}

void SimRing::readAll(const std::atomic<bool> &isOver) {
  uint32_t taken = ring->taken;
  for (;;) {
    bool wasOver = isOver;
    uint32_t filled = __atomic_load_n(&ring->filled, __ATOMIC_SEQ_CST);
    if (filled == taken) {
      if (wasOver)
        return;
      __atomic_store_n(&ring->readerWaits, 1, __ATOMIC_SEQ_CST);
      wait(&ring->filled, filled);
      __atomic_store_n(&ring->readerWaits, 0, __ATOMIC_SEQ_CST);
      continue;
    }
    mpg_sim_record *next = chunk(taken);
    reader(next);
    memset(next, 0, MPG_SIM_CHUNK_BYTES);
    __atomic_store_n(&ring->taken, ++taken, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->ownerWaits, __ATOMIC_SEQ_CST))
      syscall(SYS_futex, &ring->taken, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

void SimRing::start(Reader newReader) {
  reader = std::move(newReader);
  sigset_t everything, before;
  sigfillset(&everything);
  pthread_sigmask(SIG_SETMASK, &everything, &before);
  thread = std::thread([this] { readAll(hasEnded); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void SimRing::finish() {
  if (!thread.joinable())
    return;
  hasEnded = true;
  thread.join();
  // The chunk that the program was filling when it ended.
  reader(chunk(ring->filled));
}
