// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_barrier_* (<mpg/mpg.h>) on a given device: Fujitsu's hardware barrier as
// a table of functions, which are the kernel's driver and the registers, or a
// unit test's replacements.
//
// A blade is the barrier of one core memory group, a window the way to it from
// one CPU. The driver sets both up; waiting needs no
// system call.

#pragma once

#include "mpg/mpg.h"
#include <sched.h>
#include <stdint.h>

namespace mpg {

struct Blade {
  uint8_t group;
  uint8_t number;
};

struct BarrierDevice {
  /// Whether there is a driver.
  bool (*exists)();
  /// The one CPU that the calling thread is bound to, or -1.
  int (*boundCpu)();
  /// Takes a blade for threads on \p cpus. False if the driver refuses: CPUs
  /// of several groups, a single CPU, or no blade is free.
  bool (*allocate)(const cpu_set_t &cpus, Blade &blade);
  /// Takes a window for the calling thread's CPU; -1 if the driver refuses.
  int (*assign)(const Blade &blade);
  /// Waits for the others. pre: \p window is this CPU's, from assign().
  void (*sync)(int window);
  /// Gives the blade and all its windows back.
  void (*release)(const Blade &blade);
};

/// Of this computer. Thread-safe.
extern const BarrierDevice thisBarrierDevice;

/// As mpg_barrier_init().
int makeBarrier(const BarrierDevice &device, mpg_barrier **barrier,
                unsigned threads);

} // namespace mpg
