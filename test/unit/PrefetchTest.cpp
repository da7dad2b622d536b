// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_prefetch_set on an A64FX of numbers: the values that reach the registers,
// and that a wrong request reaches none.

#include "FakeMachine.h"
#include "a64fx/Sector.h"
#include <cerrno>

using namespace mpg;

namespace {

class PrefetchTest : public FakeMachineTest {
protected:
  int set(int entry, mpg_prefetch asked) {
    return setPrefetch(fakeMachine, entry, &asked);
  }
  uint64_t control(unsigned entry) {
    return machine.at(registerAt(Register::injectionControl0, entry), 0);
  }
  uint64_t distance(unsigned entry) {
    return machine.at(registerAt(Register::injectionDistance0, entry), 0);
  }
};

} // namespace

TEST_F(PrefetchTest, TheManualsExampleInEachEntry) {
  for (unsigned entry = 0; entry < 8; ++entry) {
    EXPECT_EQ(set(int(entry), {MPG_PREFETCH_ALLOCATE, 512,
                               MPG_PREFETCH_LINES(4), MPG_PREFETCH_LINES(40)}),
              0);
    EXPECT_EQ(control(entry), 0x9000000000000200u);
    EXPECT_EQ(distance(entry), 0x0000040000002800u);
    EXPECT_EQ(control((entry + 1) % 8), entry == 7 ? control(7) : 0u);
  }
}

TEST_F(PrefetchTest, FlagsOfAnEntry) {
  const struct {
    uint32_t flag;
    unsigned bit;
  } cases[] = {{MPG_PREFETCH_ALLOCATE, 60},
               {MPG_PREFETCH_STORE, 59},
               {MPG_PREFETCH_WEAK_L1, 62},
               {MPG_PREFETCH_WEAK_L2, 61},
               {MPG_PREFETCH_WEAK_SOFT, 58}};
  for (const auto &one : cases) {
    EXPECT_EQ(set(3, {one.flag, 0, 0, 0}), 0);
    EXPECT_EQ(control(3), uint64_t(1) << 63 | uint64_t(1) << one.bit);
  }
}

TEST_F(PrefetchTest, Stream) {
  EXPECT_EQ(
      set(MPG_PREFETCH_STREAM, {MPG_PREFETCH_OFF_L2 | MPG_PREFETCH_WEAK_L1, 0,
                                MPG_PREFETCH_LINES(3), MPG_PREFETCH_LINES(60)}),
      0);
  EXPECT_EQ(machine.at(Register::streamDetect, 0),
            uint64_t(1) << 63 | uint64_t(1) << 58 | uint64_t(1) << 55 |
                3 << 24 | 15 << 16);
  EXPECT_EQ(set(MPG_PREFETCH_STREAM,
                {MPG_PREFETCH_OFF_L1 | MPG_PREFETCH_WEAK_L2, 0, 0, 0}),
            0);
  EXPECT_EQ(machine.at(Register::streamDetect, 0),
            uint64_t(1) << 63 | uint64_t(1) << 59 | uint64_t(1) << 54);
}

TEST_F(PrefetchTest, NullIsAsAtTheStart) {
  EXPECT_EQ(set(2, {MPG_PREFETCH_ALLOCATE, 64, 256, 512}), 0);
  EXPECT_EQ(set(MPG_PREFETCH_STREAM, {0, 0, 256, 1024}), 0);
  EXPECT_EQ(setPrefetch(fakeMachine, 2, nullptr), 0);
  EXPECT_EQ(setPrefetch(fakeMachine, MPG_PREFETCH_STREAM, nullptr), 0);
  EXPECT_EQ(control(2), 0u);
  EXPECT_EQ(distance(2), 0u);
  EXPECT_EQ(machine.at(Register::streamDetect, 0), 0u);
}

TEST_F(PrefetchTest, OnlyTheCpuOfTheThread) {
  FakeMachine::goTo(5);
  EXPECT_EQ(set(0, {0, 0, 256, 0}), 0);
  EXPECT_EQ(control(0), 0u);
  EXPECT_EQ(machine.at(Register::injectionControl0, 5), uint64_t(1) << 63);
}

TEST_F(PrefetchTest, WrongRequestsWriteNothing) {
  const struct {
    int entry;
    mpg_prefetch asked;
    int error;
    const char *text;
  } cases[] = {
      {8, {0, 0, 0, 0}, -EINVAL, "no such prefetch entry"},
      {-2, {0, 0, 0, 0}, -EINVAL, "no such prefetch entry"},
      {INT32_MIN, {0, 0, 0, 0}, -EINVAL, "no such prefetch entry"},
      {0,
       {MPG_PREFETCH_OFF_L1, 0, 0, 0},
       -EINVAL,
       "a flag that this prefetch entry does not have"},
      {0,
       {1u << 31, 0, 0, 0},
       -EINVAL,
       "a flag that this prefetch entry does not have"},
      {MPG_PREFETCH_STREAM,
       {MPG_PREFETCH_STORE, 0, 0, 0},
       -EINVAL,
       "a flag that this prefetch entry does not have"},
      {0,
       {0, 3, 0, 0},
       -ERANGE,
       "a distance or stride that the register cannot hold"},
      {0,
       {0, 0, 1 << 24, 0},
       -ERANGE,
       "a distance or stride that the register cannot hold"},
      {MPG_PREFETCH_STREAM,
       {0, 0, -256, 0},
       -ERANGE,
       "a distance or stride that the register cannot hold"},
      {MPG_PREFETCH_STREAM,
       {0, 256, 0, 0},
       -ERANGE,
       "a distance or stride that the register cannot hold"},
  };
  for (const auto &one : cases) {
    EXPECT_EQ(set(one.entry, one.asked), one.error);
    EXPECT_STREQ(mpg_machine_error(), one.text);
  }
  EXPECT_EQ(machine.writes, 0u);
}

TEST_F(PrefetchTest, WhatTheMachineDoesNotAllow) {
  FakeMachine::place.staysOnCpu = false;
  EXPECT_EQ(set(0, {0, 0, 256, 0}), -EXDEV);
  FakeMachine::place.staysOnCpu = true;
  machine.reach[size_t(Family::prefetch)] = Reach::closed;
  EXPECT_EQ(set(0, {0, 0, 256, 0}), -EACCES);
  EXPECT_STREQ(mpg_machine_error(), "the prefetch registers are closed to "
                                    "programs: missing is el0ae of "
                                    "IMP_PF_CTRL_EL1");
  machine.reach[size_t(Family::prefetch)] = Reach::absent;
  EXPECT_EQ(set(0, {0, 0, 256, 0}), -ENODEV);
  EXPECT_EQ(machine.writes, 0u);
}
