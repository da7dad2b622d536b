// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BarrierDevice.h: the driver of /dev/fujitsu_hwb. It wants all threads of
// a barrier to come through the same open file, so the process opens it once,
// for as long as it has a barrier.

#include "a64fx/BarrierDevice.h"
#include "a64fx/RegisterProbe.h"
#include "base/Syscall.h"
#include <fcntl.h>
#include <linux/ioctl.h>

using namespace mpg;

static constexpr const char *path = "/dev/fujitsu_hwb"; // HW:barrier-device

namespace {

// HW:barrier-ioctl
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

/// The open file and how many blades need it.
class File {
public:
  int acquire() {
    lock();
    if (users == 0)
      fd = int(rawCall(SYS_openat, AT_FDCWD, long(path), O_RDONLY | O_CLOEXEC));
    int result = fd;
    users += result >= 0;
    unlock();
    return result;
  }
  void release() {
    lock();
    if (--users == 0)
      rawCall(SYS_close, fd);
    unlock();
  }
  /// pre: the caller has acquired it.
  int number() const { return fd; }

private:
  void lock() {
    while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE))
      rawCall(SYS_sched_yield);
  }
  void unlock() { __atomic_store_n(&held, 0, __ATOMIC_RELEASE); }

  uint32_t held = 0;
  unsigned users = 0;
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
/// that. Memory is ordered by us: the barrier orders none. HW:barrier-sync
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
