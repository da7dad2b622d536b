// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An A64FX for unit tests: 48 CPUs in 4 groups, with the registers of
// runtime/src/a64fx/A64fxRegisters.h as plain numbers. Each test thread sets
// its CPU. Accessing a closed register, or writing reserved bits, fails the
// test.

#pragma once

#include "a64fx/ThisMachine.h"
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <utility>

namespace mpg {

struct FakeMachine {
  static constexpr unsigned cpusOfGroup = 12, groupCount = 4;

  Reach reach[size_t(Family::count)] = {};
  unsigned budget = 14;
  bool isAlone = true;
  std::atomic<unsigned> writes{0};
  std::mutex mutex;
  std::map<std::pair<Register, unsigned>, uint64_t> values;

  /// As the system leaves it: nothing divided.
  FakeMachine() {
    for (unsigned group = 0; group < groupCount; ++group)
      values[{Register::sectorL2, group}] = 14;
  }

  /// Of \p which on \p cpu, or on its group.
  uint64_t &at(Register which, unsigned cpu) {
    bool isOfGroup = which == Register::sectorL2;
    return values[{which, isOfGroup ? cpu / cpusOfGroup : cpu}];
  }
  uint64_t l1(unsigned cpu) { return at(Register::sectorL1, cpu); }
  uint64_t l2(unsigned cpu) { return at(Register::sectorL2, cpu); }

  static inline FakeMachine *now = nullptr; ///< the one of this test
  static inline thread_local Place place = {0, 0, true, true};

  static void goTo(unsigned cpu) {
    place.cpu = cpu;
    place.node = cpu / cpusOfGroup;
  }
};

inline Family getFakeFamily(Register which) {
  if (which == Register::sectorL1)
    return Family::sectorL1;
  return which == Register::sectorL2 ? Family::sectorL2 : Family::prefetch;
}

inline uint64_t fakeRead(Register which) {
  FakeMachine &machine = *FakeMachine::now;
  EXPECT_EQ(machine.reach[size_t(getFakeFamily(which))], Reach::open);
  std::lock_guard<std::mutex> held(machine.mutex);
  return machine.at(which, FakeMachine::place.cpu);
}

/// Bits that the specification has.
inline uint64_t getFakeMask(Register which) {
  if (which == Register::sectorL1)
    return 0x7777;
  if (which == Register::sectorL2)
    return 0x1F1F;
  if (which == Register::streamDetect)
    return 0x8CC000000F0F0000;
  return which < Register::injectionDistance0 ? 0xFC00000001FFFFFC
                                              : 0x01FFFFFC01FFFFFC;
}

inline void fakeWrite(Register which, uint64_t value) {
  FakeMachine &machine = *FakeMachine::now;
  EXPECT_EQ(machine.reach[size_t(getFakeFamily(which))], Reach::open);
  EXPECT_EQ(value & ~getFakeMask(which), 0u);
  std::lock_guard<std::mutex> held(machine.mutex);
  machine.at(which, FakeMachine::place.cpu) = value;
  ++machine.writes;
}

inline void fakeOnEachNode(void (*body)(void *), void *data) {
  Place before = FakeMachine::place;
  for (unsigned group = 0; group < FakeMachine::groupCount; ++group) {
    FakeMachine::goTo(group * FakeMachine::cpusOfGroup);
    body(data);
  }
  FakeMachine::place = before;
}

inline constexpr Machine fakeMachine = {
    [](Family family) { return FakeMachine::now->reach[size_t(family)]; },
    fakeRead,
    fakeWrite,
    [] { return FakeMachine::place; },
    [] { return FakeMachine::now->budget; },
    [] { return FakeMachine::now->isAlone; },
    fakeOnEachNode};

/// Makes a FakeMachine for each test.
class FakeMachineTest : public testing::Test {
protected:
  FakeMachineTest() {
    FakeMachine::now = &machine;
    FakeMachine::place = {0, 0, true, true};
  }
  FakeMachine machine;
};

} // namespace mpg
