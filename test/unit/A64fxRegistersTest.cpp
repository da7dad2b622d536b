// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields of the registers, against values worked out in other places: the
// manual's example, constants of published code, and what the machine itself
// shows; and the edges of every range.

#include "a64fx/A64fxRegisters.h"
#include <gtest/gtest.h>
#include <set>

using namespace mpg;

/// Bits 20 to 5 of MRS, as the Arm manual lays them out.
static unsigned getEncoding(Register which) {
  RegisterName name = getName(which);
  return 3u << 14 | name.op1 << 11 | name.crn << 7 | name.crm << 3 | name.op2;
}

static unsigned encodingAt(Register first, unsigned index) {
  return getEncoding(registerAt(first, index));
}

// llvm-mc's encoding of `mrs x0, S3_...`, without opcode and x0.
TEST(A64fxRegistersTest, NamesAreThoseOfTheSpecification) {
  EXPECT_EQ(getEncoding(Register::sectorL1), (0xd53bb840u >> 5 & 0xffff));
  EXPECT_EQ(getEncoding(Register::sectorL2), (0xd53bf840u >> 5 & 0xffff));
  EXPECT_EQ(getEncoding(Register::streamDetect), (0xd53bb400u >> 5 & 0xffff));
  EXPECT_EQ(encodingAt(Register::injectionControl0, 0),
            (0xd53bb600u >> 5 & 0xffff));
  EXPECT_EQ(encodingAt(Register::injectionControl0, 7),
            (0xd53bb6e0u >> 5 & 0xffff));
  EXPECT_EQ(encodingAt(Register::injectionDistance0, 0),
            (0xd53bb700u >> 5 & 0xffff));
  EXPECT_EQ(encodingAt(Register::injectionDistance0, 7),
            (0xd53bb7e0u >> 5 & 0xffff));
  EXPECT_EQ(encodingAt(Register::barrierWindow0, 0),
            (0xd53bff00u >> 5 & 0xffff));
  EXPECT_EQ(encodingAt(Register::barrierWindow0, 3),
            (0xd53bff60u >> 5 & 0xffff));
}

TEST(A64fxRegistersTest, NoTwoRegistersAreTheSame) {
  std::set<unsigned> seen;
  for (unsigned number = 0; number < unsigned(Register::count); ++number)
    EXPECT_TRUE(seen.insert(getEncoding(Register(number))).second) << number;
  EXPECT_EQ(seen.size(), 3u + 8 + 8 + 4);
}

TEST(A64fxRegistersTest, WaysOfL1) {
  EXPECT_EQ(packWaysL1({3, 1, 0, 0}), 0x13u);
  EXPECT_EQ(packWaysL1({0, 0, 0, 0}), 0u);
  EXPECT_EQ(packWaysL1({7, 7, 7, 7}), 0x7777u);
  EXPECT_EQ(packWaysL1({1, 2, 3, 4}), 0x4321u);
  uint8_t ways[4];
  unpackWaysL1(0xFFFF4321, ways);
  EXPECT_EQ(ways[0], 1);
  EXPECT_EQ(ways[1], 2);
  EXPECT_EQ(ways[2], 3);
  EXPECT_EQ(ways[3], 4);
}

TEST(A64fxRegistersTest, WaysOfL2) {
  EXPECT_EQ(packWaysL2({14, 0}), 0x0eu); // as a Fugaku node has it
  EXPECT_EQ(packWaysL2({4, 10}), 0xa04u);
  EXPECT_EQ(packWaysL2({31, 31}), 0x1f1fu);
  uint8_t ways[2];
  unpackWaysL2(0xFFFFFFFFFFFFEA44, ways);
  EXPECT_EQ(ways[0], 4);
  EXPECT_EQ(ways[1], 10);
}

TEST(A64fxRegistersTest, StreamDetectHasTheBitsThatCanBeWritten) {
  StreamDetect all{true, true, true, true, true, 15 * 256, 15 * 1024};
  uint64_t value = 0;
  ASSERT_TRUE(packStreamDetect(all, value));
  EXPECT_EQ(value, 0x8CC000000F0F0000u);
  ASSERT_TRUE(packStreamDetect({}, value));
  EXPECT_EQ(value, 0u);
}

TEST(A64fxRegistersTest, StreamDetectFieldsOneByOne) {
  const struct {
    StreamDetect fields;
    uint64_t value;
  } cases[] = {
      {{true, false, false, false, false, 0, 0}, uint64_t(1) << 63},
      {{false, true, false, false, false, 0, 0}, uint64_t(1) << 59},
      {{false, false, true, false, false, 0, 0}, uint64_t(1) << 58},
      {{false, false, false, true, false, 0, 0}, uint64_t(1) << 55},
      {{false, false, false, false, true, 0, 0}, uint64_t(1) << 54},
      {{false, false, false, false, false, 256, 0}, uint64_t(1) << 24},
      {{false, false, false, false, false, 0, 1024}, uint64_t(1) << 16},
      {{true, false, false, false, false, 1024, 4096},
       uint64_t(1) << 63 | 4 << 24 | 4 << 16},
  };
  for (const auto &one : cases) {
    uint64_t value = 0;
    EXPECT_TRUE(packStreamDetect(one.fields, value));
    EXPECT_EQ(value, one.value);
  }
}

TEST(A64fxRegistersTest, StreamDetectDistancesThatDoNotFit) {
  uint64_t value = 42;
  for (int64_t bytes : {-256, 1, 255, 257, 16 * 256, 1 << 30})
    EXPECT_FALSE(packStreamDetect({true, {}, {}, {}, {}, bytes, 0}, value));
  for (int64_t bytes : {-1024, 1, 256, 1023, 16 * 1024, 1 << 30})
    EXPECT_FALSE(packStreamDetect({true, {}, {}, {}, {}, 0, bytes}, value));
  EXPECT_EQ(value, 42u); // untouched
}

// Microarchitecture Manual 1.8.1, page 76.
TEST(A64fxRegistersTest, InjectionOfTheManualsExample) {
  Injection fields;
  fields.used = fields.allocate = true;
  fields.offsetBytes = 512;
  fields.distanceL1Bytes = 1024;
  fields.distanceL2Bytes = 10240;
  uint64_t control = 0, distance = 0;
  ASSERT_TRUE(packInjection(fields, control, distance));
  EXPECT_EQ(control, 0x9000000000000200u);
  EXPECT_EQ(distance, 0x0000040000002800u);
}

// BLIS writes 0x24 << 58 and 0x20 << 58 with the stride beside them.
TEST(A64fxRegistersTest, InjectionAsPublishedCodeWritesIt) {
  uint64_t control = 0, distance = 0;
  Injection fields;
  fields.used = true;
  fields.offsetBytes = 2048;
  ASSERT_TRUE(packInjection(fields, control, distance));
  EXPECT_EQ(control, uint64_t(0x20) << 58 | 2048);
  fields.allocate = true;
  ASSERT_TRUE(packInjection(fields, control, distance));
  EXPECT_EQ(control, uint64_t(0x24) << 58 | 2048);
}

TEST(A64fxRegistersTest, InjectionFlagsOneByOne) {
  const struct {
    bool Injection::*flag;
    unsigned bit;
  } cases[] = {{&Injection::used, 63},     {&Injection::weakL1, 62},
               {&Injection::weakL2, 61},   {&Injection::allocate, 60},
               {&Injection::forStore, 59}, {&Injection::weakSoftware, 58}};
  for (const auto &one : cases) {
    Injection fields;
    fields.*one.flag = true;
    uint64_t control = 0, distance = 42;
    ASSERT_TRUE(packInjection(fields, control, distance));
    EXPECT_EQ(control, uint64_t(1) << one.bit);
    EXPECT_EQ(distance, 0u);
  }
}

TEST(A64fxRegistersTest, SignedBytes) {
  const struct {
    int64_t bytes;
    uint64_t field;
  } cases[] = {{0, 0},
               {4, 4},
               {-4, 0x1FFFFFC},
               {(1 << 24) - 4, 0x0FFFFFC},
               {-(1 << 24), 0x1000000},
               {256, 256},
               {-256, 0x1FFFF00}};
  for (const auto &one : cases) {
    uint64_t control = 0, distance = 0;
    Injection fields;
    fields.offsetBytes = fields.distanceL1Bytes = one.bytes;
    ASSERT_TRUE(packInjection(fields, control, distance)) << one.bytes;
    EXPECT_EQ(control, one.field);
    EXPECT_EQ(distance, one.field << 32);
    fields = {};
    fields.distanceL2Bytes = one.bytes;
    ASSERT_TRUE(packInjection(fields, control, distance));
    EXPECT_EQ(distance, one.field);
  }
}

TEST(A64fxRegistersTest, SignedBytesThatDoNotFit) {
  for (int64_t bytes :
       {int64_t(1), int64_t(2), int64_t(-3), int64_t(1) << 24,
        -(int64_t(1) << 24) - 4, int64_t(1) << 40, INT64_MIN, INT64_MAX}) {
    uint64_t control = 42, distance = 42;
    for (int64_t Injection::*field :
         {&Injection::offsetBytes, &Injection::distanceL1Bytes,
          &Injection::distanceL2Bytes}) {
      Injection fields;
      fields.*field = bytes;
      EXPECT_FALSE(packInjection(fields, control, distance)) << bytes;
    }
    EXPECT_EQ(control, 42u);
    EXPECT_EQ(distance, 42u);
  }
}
