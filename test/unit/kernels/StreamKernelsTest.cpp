// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The STREAM kernels of this machine against a loop over single elements
// (StreamCases.h), and what they say about wrong arguments.

#include "StreamCases.h"

#include <cerrno>
#include <gtest/gtest.h>

using namespace streamcases;

class StreamCase : public testing::TestWithParam<Case> {};

TEST_P(StreamCase, isRightInEachVariant) {
  for (const Runner &runner : allRunners())
    EXPECT_EQ(GetParam().check(runner), "") << runner.name;
}

INSTANTIATE_TEST_SUITE_P(StreamKernels, StreamCase,
                         testing::ValuesIn(allCases));

// Only what a caller can see of the difference between the kinds of stores:
// nothing. That the public functions take the variant they name is all there
// is.
TEST(StreamKernels, runsTheBestVariant) {
#if defined(__x86_64__)
  std::string variant = mpg_kernel_variant();
  EXPECT_EQ(variant == "plain", !__builtin_cpu_supports("avx2"));
#endif
}

TEST(StreamKernels, workOnARange) {
  double a[8] = {}, b[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  ASSERT_EQ(mpg_stream_scale_f64(a, b, 2, 3, 5, nullptr), 0);
  const double wanted[8] = {0, 0, 0, 6, 8, 0, 0, 0};
  EXPECT_EQ(memcmp(a, wanted, sizeof(a)), 0);
}

/// The sentence for the last wrong call, if it was refused with \p error.
static std::string refused(int result, int error) {
  EXPECT_EQ(result, -error);
  return mpg_kernel_error();
}

TEST(StreamKernels, nameTheNullPointer) {
  double x[4] = {};
  EXPECT_EQ(
      refused(mpg_stream_triad_f64(nullptr, x, x, 1, 0, 4, nullptr), EINVAL),
      "a is a null pointer");
  EXPECT_EQ(
      refused(mpg_stream_triad_f64(x, nullptr, x, 1, 0, 4, nullptr), EINVAL),
      "b is a null pointer");
  EXPECT_EQ(refused(mpg_stream_add_f64(x, x, nullptr, 0, 4, nullptr), EINVAL),
            "c is a null pointer");
}

TEST(StreamKernels, acceptNullForNothing) {
  EXPECT_EQ(mpg_stream_copy_f32(nullptr, nullptr, 0, 0, nullptr), 0);
  EXPECT_EQ(mpg_stream_triad_f64(nullptr, nullptr, nullptr, 1, 7, 7, nullptr),
            0);
}

TEST(StreamKernels, nameTheWrongEnd) {
  float x[4] = {};
  EXPECT_EQ(refused(mpg_stream_copy_f32(x, x, -1, 4, nullptr), EINVAL),
            "begin is -1; it must not be negative");
  EXPECT_EQ(refused(mpg_stream_copy_f32(x, x, 4, 3, nullptr), EINVAL),
            "begin is 4, after end, 3");
  EXPECT_EQ(
      refused(mpg_stream_copy_f32(x, x, INT64_MAX, INT64_MIN, nullptr), EINVAL),
      "begin is 9223372036854775807, after end, -9223372036854775808");
}

TEST(StreamKernels, nameTheArrayThatIsTooLarge) {
  double x[4] = {};
  EXPECT_EQ(
      refused(mpg_stream_scale_f64(x, x, 1, INT64_MAX - 1, INT64_MAX, nullptr),
              EOVERFLOW),
      "a[9223372036854775806] is outside of the address space");
  // 4 elements fit into 32 bytes, but not into the last 31 of all.
  auto *late = reinterpret_cast<double *>(UINTPTR_MAX - 30);
#ifndef __aarch64__ // where the top byte is not part of the address
  EXPECT_EQ(refused(mpg_stream_add_f64(x, x, late, 3, 4, nullptr), EOVERFLOW),
            "c[3] is outside of the address space");
#else
  (void)late;
#endif
}

TEST(StreamKernels, nameTheWrongTuning) {
  double x[4] = {};
  mpg_stream_tuning tuning = {};
  EXPECT_EQ(refused(mpg_stream_copy_f64(x, x, 0, 4, &tuning), EINVAL),
            "tuning->structBytes is 0, not 24");
  EXPECT_EQ(mpg_stream_tuning_default(nullptr), -EINVAL);
  EXPECT_EQ(mpg_stream_tuning_default(&tuning), -EINVAL);
}

TEST(StreamKernels, haveADefaultTuning) {
  mpg_stream_tuning tuning = makeTuning(1, 1, 1);
  ASSERT_EQ(mpg_stream_tuning_default(&tuning), 0);
  EXPECT_EQ(tuning.structBytes, sizeof(tuning));
#if defined(__x86_64__)
  EXPECT_EQ(tuning.zeroFillBytes, 0u);
  // Arrays that fit into L1 never leave the caches, those of a gigabyte do.
  EXPECT_GT(tuning.nonTemporalBytes, 64u << 10);
  EXPECT_LT(tuning.nonTemporalBytes, 1u << 30);
#endif
}

TEST(StreamKernels, writeNothingWhenTheyRefuse) {
  double a[2] = {5, 5}, b[2] = {1, 1};
  EXPECT_NE(mpg_stream_add_f64(a, b, nullptr, 0, 2, nullptr), 0);
  EXPECT_EQ(a[0], 5);
}
