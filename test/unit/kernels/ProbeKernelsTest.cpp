// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The probe kernels against loops that say what they mean, and what they say
// about wrong arguments.

#include "mpg/kernels.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace {

/// As <mpg/kernels.h> has it: one rounding on AArch64, two elsewhere.
float multipliedAndAdded(float a, float x, float y) {
#if defined(__aarch64__)
  return std::fma(a, x, y);
#else
  volatile float product = a * x;
  return product + y;
#endif
}

/// Floats at any address.
struct Floats {
  std::vector<char> bytes;
  size_t shift;

  Floats(size_t count, size_t shift, float seed)
      : bytes(count * sizeof(float) + shift), shift(shift) {
    for (size_t i = 0; i < count; ++i)
      set(i, seed * float(i) - 3.25f);
  }
  float get(size_t i) const {
    float value;
    memcpy(&value, &bytes[shift + i * sizeof(float)], sizeof(value));
    return value;
  }
  void set(size_t i, float value) {
    memcpy(&bytes[shift + i * sizeof(float)], &value, sizeof(value));
  }
  float *data() { return reinterpret_cast<float *>(&bytes[shift]); }
};

/// The numbers of RandomAccess one after the other, by its own definition.
std::vector<uint64_t> sequence(size_t count) {
  std::vector<uint64_t> numbers;
  uint64_t number = 1;
  for (size_t i = 0; i < count; ++i) {
    number = (number << 1) ^ (number >> 63 ? 7 : 0);
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<size_t> readCycle(void *buffer, void *first, size_t cells,
                              size_t strideBytes) {
  std::vector<size_t> order;
  void *cell = first;
  for (size_t i = 0; i < cells; ++i) {
    order.push_back(
        size_t(static_cast<char *>(cell) - static_cast<char *>(buffer)) /
        strideBytes);
    cell = mpg_chase(cell, 1);
  }
  EXPECT_EQ(cell, first);
  return order;
}

} // namespace

TEST(SaxpyProbeTest, EachLengthStrideAndAlignment) {
  constexpr size_t room = 700;
  for (int64_t stride : {1, 2, 3, 7, 64})
    for (int64_t begin : {0, 1, 5})
      for (int64_t count = 0; (begin + count) * stride < int64_t(room);
           count += count < 70 ? 1 : 37)
        for (size_t shift : {0, 1, 4, 13}) {
          Floats x(room, shift, 0.37f), y(room, shift + count % 3, 1.21f);
          Floats before = y;
          EXPECT_EQ(mpg_saxpy_f32(y.data(), x.data(), 0.7f, begin,
                                  begin + count, stride),
                    0);
          for (int64_t i = begin; i < begin + count; ++i)
            before.set(size_t(i * stride),
                       multipliedAndAdded(0.7f, x.get(size_t(i * stride)),
                                          before.get(size_t(i * stride))));
          EXPECT_EQ(y.bytes, before.bytes)
              << "stride " << stride << " count " << count;
        }
}

TEST(SaxpyProbeTest, InPlace) {
  Floats y(300, 0, 0.1f), before = y;
  EXPECT_EQ(mpg_saxpy_f32(y.data(), y.data(), 2, 0, 300, 1), 0);
  for (size_t i = 0; i < 300; ++i)
    EXPECT_EQ(y.get(i), multipliedAndAdded(2, before.get(i), before.get(i)));
}

TEST(SaxpyProbeTest, WrongArgumentsWriteNothing) {
  float x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
  const struct {
    float *y;
    const float *x;
    int64_t begin, end, stride;
    int error;
    const char *text;
  } cases[] = {
      {nullptr, x, 0, 1, 1, -EINVAL, "y is a null pointer"},
      {y, nullptr, 0, 1, 1, -EINVAL, "x is a null pointer"},
      {y, x, -1, 1, 1, -EINVAL, "begin is -1; it must not be negative"},
      {y, x, 3, 2, 1, -EINVAL, "begin is 3, after end, 2"},
      {y, x, 0, 1, 0, -EINVAL, "stride is 0; it must be at least 1"},
      {y, x, 0, 1, -7, -EINVAL, "stride is -7; it must be at least 1"},
      {y, x, 0, INT64_MAX, INT64_MAX, -EOVERFLOW,
       "element 9223372036854775806 with stride 9223372036854775807 is outside "
       "of the address space"},
      {y, x, 0, int64_t(1) << 61, 1, -EOVERFLOW,
       "y[2305843009213693951] is outside of the address space"},
  };
  for (const auto &one : cases) {
    EXPECT_EQ(mpg_saxpy_f32(one.y, one.x, 1, one.begin, one.end, one.stride),
              one.error);
    EXPECT_EQ(std::string(mpg_kernel_error()), one.text);
  }
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(mpg_saxpy_f32(nullptr, nullptr, 1, 9, 9, 1), 0);
}

TEST(ChaseProbeTest, OneCycleThroughAllCells) {
  for (size_t strideBytes : {8, 16, 24, 64, 72, 256, 4096, 4104})
    for (size_t cells : {1, 2, 3, 64, 1000})
      for (size_t spare : {size_t(0), strideBytes - 1}) {
        // Whole words, of which the spare bytes fill the last one in part.
        size_t bytes = cells * strideBytes + spare;
        std::vector<uint64_t> buffer(bytes / 8 + 1, 0xabababababababab);
        auto *start = reinterpret_cast<char *>(buffer.data());
        void *first = mpg_chase_fill(start, bytes, strideBytes, 42);
        EXPECT_NE(first, nullptr);
        if (!first)
          return;
        std::map<size_t, int> visits;
        for (size_t cell : readCycle(start, first, cells, strideBytes))
          ++visits[cell];
        EXPECT_EQ(visits.size(), cells) << strideBytes;
        EXPECT_EQ(visits.rbegin()->first, cells - 1);
        // Nothing else was written.
        size_t untouched = 0;
        for (uint64_t word : buffer)
          untouched += word == 0xabababababababab;
        EXPECT_EQ(untouched, buffer.size() - cells);
      }
}

TEST(ChaseProbeTest, CellsOfPagesAreInDifferentLines) {
  constexpr size_t strideBytes = 4096, cells = 256;
  std::vector<uint64_t> buffer(strideBytes * cells / 8);
  auto *start = reinterpret_cast<char *>(buffer.data());
  void *cell = mpg_chase_fill(start, strideBytes * cells, strideBytes, 1);
  std::map<size_t, int> offsets;
  for (size_t i = 0; i < cells; ++i, cell = mpg_chase(cell, 1)) {
    size_t offset = size_t(static_cast<char *>(cell) - start) % strideBytes;
    EXPECT_EQ(offset % 64, 0u);
    ++offsets[offset];
  }
  EXPECT_EQ(offsets.size(), 64u);
  for (const auto &[offset, count] : offsets)
    EXPECT_EQ(count, 4) << offset;
}

TEST(ChaseProbeTest, SameSeedSameCycle) {
  constexpr size_t cells = 5000, strideBytes = 64;
  std::vector<uint64_t> one(cells * 8), other(cells * 8);
  auto order = [&](std::vector<uint64_t> &buffer, uint64_t seed) {
    void *first =
        mpg_chase_fill(buffer.data(), buffer.size() * 8, strideBytes, seed);
    return readCycle(buffer.data(), first, cells, strideBytes);
  };
  std::vector<size_t> expected = order(one, 7);
  EXPECT_EQ(order(other, 7), expected);
  EXPECT_NE(order(other, 8), expected);
  // Far from the order of addresses: neighbours in the cycle are neighbours in
  // memory about once.
  size_t neighbours = 0;
  for (size_t i = 1; i < cells; ++i)
    neighbours += expected[i] == expected[i - 1] + 1;
  EXPECT_TRUE(neighbours < 20);
}

TEST(ChaseProbeTest, AnyNumberOfSteps) {
  constexpr size_t cells = 101;
  std::vector<uint64_t> buffer(cells);
  void *first = mpg_chase_fill(buffer.data(), cells * 8, 8, 3);
  void *expected = first;
  for (int64_t steps = 0; steps < 250; ++steps) {
    EXPECT_EQ(mpg_chase(first, steps), expected) << steps;
    memcpy(&expected, expected, sizeof(expected));
  }
}

TEST(ChaseProbeTest, WrongArguments) {
  alignas(8) char buffer[128] = {};
  const struct {
    void *buffer;
    size_t bytes, strideBytes;
    const char *text;
  } cases[] = {
      {nullptr, 64, 8, "buffer is a null pointer"},
      {buffer + 4, 64, 8, "buffer is not aligned to 8 bytes"},
      {buffer, 64, 0, "strideBytes is 0; it must be a multiple of 8"},
      {buffer, 64, 12, "strideBytes is 12; it must be a multiple of 8"},
      {buffer, 63, 64, "a buffer of 63 bytes has no room for a cell of 64"},
      {buffer, SIZE_MAX, 8,
       "buffer[18446744073709551614] is outside of the address space"},
  };
  for (const auto &one : cases) {
    errno = 0;
    EXPECT_EQ(mpg_chase_fill(one.buffer, one.bytes, one.strideBytes, 1),
              nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(std::string(mpg_kernel_error()), one.text);
  }
  EXPECT_EQ(mpg_chase(nullptr, 1), nullptr);
  EXPECT_EQ(std::string(mpg_kernel_error()), "cell is a null pointer");
  EXPECT_EQ(mpg_chase(buffer, -1), nullptr);
  EXPECT_EQ(std::string(mpg_kernel_error()),
            "steps is -1; it must not be negative");
}

TEST(RandomUpdateTest, TheBenchmarksNumbersWhereverARangeIsCut) {
  constexpr int64_t updates = 1000;
  const std::vector<uint64_t> numbers = sequence(updates);
  for (size_t words : {1, 2, 64, 4096})
    for (size_t shift : {0, 1, 8}) {
      std::vector<uint64_t> expected(words);
      for (size_t i = 0; i < words; ++i)
        expected[i] = i;
      std::vector<char> bytes(words * 8 + shift);
      memcpy(&bytes[shift], expected.data(), words * 8);
      auto *table = reinterpret_cast<uint64_t *>(&bytes[shift]);
      for (uint64_t number : numbers)
        expected[number % words] ^= number;
      int64_t begin = 0;
      for (int64_t end : {0, 1, 2, 63, 64, 65, 128, 300, 427, 429, 999, 1000}) {
        EXPECT_EQ(mpg_random_update_u64(table, int64_t(words), begin, end), 0);
        begin = end;
      }
      EXPECT_EQ(memcmp(table, expected.data(), words * 8), 0) << words;
    }
}

TEST(RandomUpdateTest, TwiceLeavesTheTableAsItWas) {
  std::vector<uint64_t> table(1 << 12, 5), before = table;
  EXPECT_EQ(mpg_random_update_u64(table.data(), 1 << 12, 10, 50000), 0);
  EXPECT_NE(table, before);
  EXPECT_EQ(mpg_random_update_u64(table.data(), 1 << 12, 40000, 50000), 0);
  EXPECT_EQ(mpg_random_update_u64(table.data(), 1 << 12, 10, 40000), 0);
  EXPECT_EQ(table, before);
}

TEST(RandomUpdateTest, TheFarEndOfTheSequence) {
  // The word of a table of one is the number itself, and the numbers follow
  // each other by their definition there as well.
  const int64_t far = INT64_MAX - 3;
  uint64_t one = 0, both = 0;
  EXPECT_EQ(mpg_random_update_u64(&one, 1, far, far + 1), 0);
  EXPECT_EQ(mpg_random_update_u64(&both, 1, far, far + 2), 0);
  EXPECT_EQ(one ^ both, (one << 1) ^ (one >> 63 ? 7 : 0));
  // x^(2^k) is x^(2^(k - 1)) squared: 2^62 by multiplying bit by bit.
  uint64_t power = 2;
  for (int i = 0; i < 62; ++i) {
    uint64_t product = 0;
    for (int bit = 63; bit >= 0; --bit) {
      product = (product << 1) ^ (product >> 63 ? 7 : 0);
      product ^= power >> bit & 1 ? power : 0;
    }
    power = product;
  }
  uint64_t number = 0;
  const int64_t index = (int64_t(1) << 62) - 1;
  EXPECT_EQ(mpg_random_update_u64(&number, 1, index, index + 1), 0);
  EXPECT_EQ(number, power);
}

TEST(RandomUpdateTest, WrongArgumentsWriteNothing) {
  uint64_t table[4] = {1, 2, 3, 4};
  const struct {
    uint64_t *table;
    int64_t words, begin, end;
    int error;
    const char *text;
  } cases[] = {
      {nullptr, 4, 0, 1, -EINVAL, "table is a null pointer"},
      {table, 0, 0, 1, -EINVAL, "words is 0; it must be a power of two"},
      {table, 3, 0, 1, -EINVAL, "words is 3; it must be a power of two"},
      {table, -4, 0, 1, -EINVAL, "words is -4; it must be a power of two"},
      {table, INT64_MIN, 0, 1, -EINVAL,
       "words is -9223372036854775808; it must be a power of two"},
      {table, 4, -2, 1, -EINVAL, "begin is -2; it must not be negative"},
      {table, 4, 2, 1, -EINVAL, "begin is 2, after end, 1"},
      {table, int64_t(1) << 60, 0, 1, -EOVERFLOW,
       "table[1152921504606846975] is outside of the address space"},
  };
  for (const auto &one : cases) {
    EXPECT_EQ(mpg_random_update_u64(one.table, one.words, one.begin, one.end),
              one.error);
    EXPECT_EQ(std::string(mpg_kernel_error()), one.text);
  }
  EXPECT_EQ(table[0], 1u);
  EXPECT_EQ(mpg_random_update_u64(nullptr, 1, 5, 5), 0);
}
