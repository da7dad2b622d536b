// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_barrier_*: one interface, two barriers.
//
// The barrier in memory counts arrivals and then increments a round number that
// the waiting threads watch, first spinning and later asleep in the kernel. The
// hardware barrier needs one CPU for each thread, and the threads' CPUs are
// known only when they arrive. So the first wait is a few rounds of the barrier
// in memory: all report their CPU, thread 0 asks the driver for a blade, all
// take their window, and if one of them gets none, all stay with the barrier in
// memory.

#include "a64fx/Barrier.h"
#include "a64fx/ThisMachine.h"
#include "base/ProcessLock.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/ioctl.h>
#include <new>
#include <stdlib.h>

using namespace mpg;

static constexpr size_t lineBytes = 256; // HW:a64fx-l1d-way

namespace {

/// One thread's state, in its own cache line.
struct alignas(lineBytes) Slot {
  int cpu = -1;
  int window = -1;
};

} // namespace

struct mpg_barrier {
  mpg_barrier(const BarrierDevice &device, unsigned threads);

  void waitInMemory();
  void waitAndDecide(unsigned thread);
  bool allocateBlade();
  void decide();
  void setKind(const char *text) {
    __atomic_store_n(&kind, text, __ATOMIC_RELEASE);
  }
  Slot *slots() { return reinterpret_cast<Slot *>(this + 1); }

  alignas(lineBytes) uint32_t arrived = 0;
  alignas(lineBytes) uint32_t round = 0;
  uint32_t sleepers = 0;
  alignas(lineBytes) const BarrierDevice &device;
  const unsigned threads;
  const uint32_t process = uint32_t(rawCall(SYS_getpid));
  bool isDecided, isHardware = false, hasBlade = false;
  const char *kind;
  Blade blade = {};
};

mpg_barrier::mpg_barrier(const BarrierDevice &device, unsigned threads)
    : device(device), threads(threads), isDecided(false), kind("undecided") {
  if (threads == 1)
    kind = "software: one thread";
  else if (!device.exists())
    kind = "software: there is no driver, /dev/fujitsu_hwb";
  else
    return;
  isDecided = true;
}

static void spinOnce() {
#if defined(__aarch64__)
  __asm__ volatile("yield");
#else
  __builtin_ia32_pause();
#endif
}

void mpg_barrier::waitInMemory() {
  constexpr unsigned spins = 2000; // some ten microseconds, a guess
  uint32_t mine = __atomic_load_n(&round, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == threads) {
    __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
    // Not weaker: a thread counts itself among the sleepers, then checks the
    // round again; one of the two sees the other.
    __atomic_store_n(&round, mine + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST))
      rawCall(SYS_futex, long(&round), FUTEX_WAKE_PRIVATE, INT32_MAX);
    return;
  }
  for (unsigned spin = 0; spin < spins; ++spin) {
    if (__atomic_load_n(&round, __ATOMIC_ACQUIRE) != mine)
      return;
    spinOnce();
  }
  __atomic_add_fetch(&sleepers, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&round, __ATOMIC_SEQ_CST) == mine)
    rawCall(SYS_futex, long(&round), FUTEX_WAIT_PRIVATE, mine, 0);
  __atomic_sub_fetch(&sleepers, 1, __ATOMIC_RELAXED);
}

/// False, with the reason in `kind`, if the threads cannot have one.
bool mpg_barrier::allocateBlade() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (unsigned thread = 0; thread < threads; ++thread) {
    int cpu = slots()[thread].cpu;
    if (cpu < 0 || CPU_ISSET(cpu, &cpus)) {
      setKind("software: the threads are not bound to a CPU each");
      return false;
    }
    CPU_SET(cpu, &cpus);
  }
  if (device.allocate(cpus, blade))
    return true;
  setKind("software: the driver refuses: no barrier is free, or the threads "
          "are on several core memory groups");
  return false;
}

void mpg_barrier::decide() {
  isDecided = true;
  if (!hasBlade)
    return;
  for (unsigned thread = 0; thread < threads; ++thread) {
    if (slots()[thread].window >= 0)
      continue;
    device.release(blade);
    hasBlade = false;
    return setKind("software: the driver has no window left on a CPU");
  }
  isHardware = true;
  setKind("hardware");
}

void mpg_barrier::waitAndDecide(unsigned thread) {
  Slot &slot = slots()[thread];
  slot.cpu = device.boundCpu();
  waitInMemory();
  if (thread == 0)
    hasBlade = allocateBlade();
  waitInMemory();
  if (hasBlade)
    slot.window = device.assign(blade);
  waitInMemory();
  if (thread == 0)
    decide();
  waitInMemory();
}

int mpg::makeBarrier(const BarrierDevice &device, mpg_barrier **barrier,
                     unsigned threads) {
  constexpr unsigned maxThreads = 1 << 16;
  if (threads == 0 || threads > maxThreads)
    return -EINVAL;
  void *memory = nullptr;
  size_t bytes = sizeof(mpg_barrier) + threads * sizeof(Slot);
  if (posix_memalign(&memory, lineBytes, bytes) != 0)
    return -ENOMEM;
  *barrier = new (memory) mpg_barrier(device, threads);
  for (unsigned thread = 0; thread < threads; ++thread)
    new ((*barrier)->slots() + thread) Slot;
  return 0;
}

int mpg_barrier_init(mpg_barrier **barrier, unsigned threads) {
  return makeBarrier(thisBarrierDevice, barrier, threads);
}

int mpg_barrier_wait(mpg_barrier *barrier, unsigned thread) {
  if (thread >= barrier->threads)
    return -EINVAL;
  if (barrier->isHardware)
    barrier->device.sync(barrier->slots()[thread].window);
  else if (barrier->isDecided)
    barrier->waitInMemory();
  else
    barrier->waitAndDecide(thread);
  return 0;
}

const char *mpg_barrier_kind(const mpg_barrier *barrier) {
  return __atomic_load_n(&barrier->kind, __ATOMIC_ACQUIRE);
}

void mpg_barrier_destroy(mpg_barrier *barrier) {
  if (!barrier)
    return;
  // A forked child must not free what its parent waits with.
  bool isOurs = barrier->process == uint32_t(rawCall(SYS_getpid));
  if (barrier->hasBlade && isOurs)
    barrier->device.release(barrier->blade);
  free(barrier);
}

// The device. The driver of /dev/fujitsu_hwb. It wants all threads of a barrier
// to come through the same open file, so the process opens it once, for as long
// as it has a barrier.

static constexpr const char *path = "/dev/fujitsu_hwb"; // HW:barrier-device

namespace {

// Calls of type 'F' (fujitsu/hardware_barrier, its header, tests and README:
// read, never run). 0 allocates a blade for a mask of CPUs, 1 gives the calling
// CPU a window (-1 for any), 2 takes it back, 3 frees the blade, 4 tells group
// and physical CPU. Threads must be bound, and come through the same open file;
// closing it cleans up.
struct BladeControl {
  uint8_t group;
  uint8_t number;
  uint8_t unused[2];
  uint32_t bytes; ///< of the mask
  const cpu_set_t *cpus;
};
struct WindowControl {
  uint8_t blade;
  int8_t window; ///< -1: any
};
static_assert(sizeof(BladeControl) == 16 && sizeof(WindowControl) == 2);

constexpr unsigned long allocateBlade = _IOWR('F', 0, BladeControl);
constexpr unsigned long assignWindow = _IOWR('F', 1, WindowControl);
constexpr unsigned long freeBlade = _IOW('F', 3, BladeControl);

/// The open file of this process and how many blades need it. A forked child
/// opens its own: by its parent's it would free the parent's blades.
class File {
public:
  int acquire() {
    Locked held(lock);
    auto self = uint32_t(rawCall(SYS_getpid));
    if (usersOf != self && users) {
      rawCall(SYS_close, fd);
      users = 0;
    }
    usersOf = self;
    if (users == 0)
      fd = int(rawCall(SYS_openat, AT_FDCWD, long(path), O_RDONLY | O_CLOEXEC));
    int result = fd;
    users += result >= 0;
    return result;
  }
  void release() {
    Locked held(lock);
    if (--users == 0)
      rawCall(SYS_close, fd);
  }
  /// pre: the caller has acquired it.
  int number() const { return fd; }

private:
  ProcessLock lock;
  uint32_t usersOf MPG_GUARDED_BY(lock) = 0; ///< a process
  unsigned users MPG_GUARDED_BY(lock) = 0;
  int fd = -1;
};

} // namespace

static File file;

static bool hasDriver() {
#if defined(__aarch64__)
  return !isError(rawCall(SYS_faccessat, AT_FDCWD, long(path), R_OK));
#else
  return false;
#endif
}

static int boundCpu() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) != 1)
    return -1;
  int cpu = 0;
  while (!CPU_ISSET(cpu, &cpus))
    ++cpu;
  return cpu;
}

static bool allocate(const cpu_set_t &cpus, Blade &blade) {
  int fd = file.acquire();
  if (fd < 0)
    return false;
  BladeControl control = {0, 0, {}, sizeof(cpus), &cpus};
  if (isError(rawCall(SYS_ioctl, fd, allocateBlade, long(&control)))) {
    file.release();
    return false;
  }
  blade = {control.group, control.number};
  return true;
}

static int assign(const Blade &blade) {
  WindowControl control = {blade.number, -1};
  long result = rawCall(SYS_ioctl, file.number(), assignWindow, long(&control));
  bool isWindow = control.window >= 0 && control.window < int(barrierWindows);
  return isError(result) || !isWindow ? -1 : control.window;
}

static void release(const Blade &blade) {
  BladeControl control = {blade.group, blade.number, {}, 0, nullptr};
  rawCall(SYS_ioctl, file.number(), freeBlade, long(&control));
  file.release();
}

/// Writes the opposite of what the barrier shows, and waits until it shows
/// that (Extension, page 38: read). No ISB is needed. The Extension names no
/// order of memory accesses, so there is a DMB before and after.
static void sync(int window) {
#if defined(__aarch64__)
  Register which = registerAt(Register::barrierWindow0, unsigned(window));
  __asm__ volatile("dmb ish" : : : "memory");
  uint64_t mine = ~readRegister(which) & 1;
  writeRegister(which, mine);
  __asm__ volatile("sevl" : : : "memory");
  do
    __asm__ volatile("wfe" : : : "memory");
  while ((readRegister(which) & 1) != mine);
  __asm__ volatile("dmb ish" : : : "memory");
#else
  (void)window;
#endif
}

const BarrierDevice mpg::thisBarrierDevice = {hasDriver, boundCpu, allocate,
                                              assign,    sync,     release};
