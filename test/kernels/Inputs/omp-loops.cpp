// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of <mpg/kernels_omp.hpp> with teams of 1, 2, 3 and 7 threads
// against plain loops. Also compiled without OpenMP. Prints "right", or what is
// wrong.

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mpg/kernels_omp.hpp>
#include <vector>

static int wrong = 0;

static void expect(bool right, const char *what, int64_t count) {
  if (!right && ++wrong < 20)
    printf("wrong: %s, count %lld\n", what, (long long)count);
}

template <typename T> static T plusProduct(T b, T s, T c) {
#ifdef __aarch64__
  return std::fma(s, c, b);
#else
  volatile T product = s * c;
  return b + product;
#endif
}

/// Element i is at any address.
template <typename T> struct Array {
  std::vector<char> bytes;
  size_t shift;
  Array(int64_t count, size_t shift, double step)
      : bytes(size_t(count) * sizeof(T) + shift + 16), shift(shift) {
    for (int64_t i = 0; i < count; ++i)
      set(i, T(step * double(i) - 1.7));
  }
  T *data() { return reinterpret_cast<T *>(&bytes[shift]); }
  T get(int64_t i) const {
    T value;
    memcpy(&value, &bytes[shift + size_t(i) * sizeof(T)], sizeof(T));
    return value;
  }
  void set(int64_t i, T value) {
    memcpy(&bytes[shift + size_t(i) * sizeof(T)], &value, sizeof(T));
  }
};

template <typename T>
static void checkStream(int64_t count, size_t shift,
                        const mpg_stream_tuning *tuning) {
  Array<T> a(count, shift, 0.1), b(count, 8, 0.7), c(count, 3, 1.3);
  Array<T> expected = a;
  const T s = T(0.3);
  auto compare = [&](int error, const char *what) {
    expect(error == 0 && a.bytes == expected.bytes, what, count);
  };
  for (int64_t i = 0; i < count; ++i)
    expected.set(i, b.get(i));
  compare(mpg::streamCopy(a.data(), b.data(), count, tuning), "copy");
  for (int64_t i = 0; i < count; ++i)
    expected.set(i, s * b.get(i));
  compare(mpg::streamScale(a.data(), b.data(), s, count, tuning), "scale");
  for (int64_t i = 0; i < count; ++i)
    expected.set(i, b.get(i) + c.get(i));
  compare(mpg::streamAdd(a.data(), b.data(), c.data(), count, tuning), "add");
  for (int64_t i = 0; i < count; ++i)
    expected.set(i, plusProduct(b.get(i), s, c.get(i)));
  compare(mpg::streamTriad(a.data(), b.data(), c.data(), s, count, tuning),
          "triad");
  for (int64_t i = 0; i < count; ++i)
    expected.set(i, plusProduct(a.get(i), s, c.get(i)));
  compare(mpg::streamTriad(a.data(), a.data(), c.data(), s, count, tuning),
          "triad in place");
}

static void checkSaxpy(int64_t count, size_t shift, int64_t stride) {
  const int64_t elements = count * stride;
  Array<float> y(elements, shift, 0.4), x(elements, 1, 0.9), expected = y;
  for (int64_t i = 0; i < elements; i += stride)
    expected.set(i, plusProduct(y.get(i), 0.7f, x.get(i)));
  int error = mpg::saxpy(y.data(), x.data(), 0.7f, count, stride);
  expect(error == 0 && y.bytes == expected.bytes, "saxpy", count);
}

/// No two parts write to one line, and together they are everything.
static void checkBorders(int64_t count, size_t shift, uint64_t stepBytes) {
  auto line = [&](int64_t i) {
    return (uint64_t(shift) + uint64_t(i) * stepBytes) / 256;
  };
  const char *first = reinterpret_cast<const char *>(uintptr_t(shift));
  for (int64_t parts : {1, 2, 3, 7, 48}) {
    expect(mpg::team::beginOf(0, parts, first, stepBytes, count) == 0 &&
               mpg::team::beginOf(parts, parts, first, stepBytes, count) ==
                   count,
           "ends", count);
    for (int64_t part = 1; part < parts; ++part) {
      int64_t before =
          mpg::team::beginOf(part - 1, parts, first, stepBytes, count);
      int64_t border = mpg::team::beginOf(part, parts, first, stepBytes, count);
      expect(before <= border && border <= count, "order of borders", count);
      if (border && border < count)
        expect(line(border - 1) < line(border), "a line of two", count);
      // Near to where schedule(static) has it.
      expect(border - count / parts * part <=
                 count % parts + int64_t(255 / stepBytes) + 1,
             "far border", count);
    }
  }
}

/// Threads may lose a few updates to each other; one alone does not.
static void checkUpdates(bool alone) {
  // Large enough: a store waits for its line while the other threads go on, and
  // in a small table they come by the same word meanwhile.
  const int64_t words = 1 << 20, updates = words + 5;
  std::vector<uint64_t> table(words, 1), expected = table;
  mpg_random_update_u64(expected.data(), words, 0, updates);
  expect(mpg::randomUpdate(table.data(), words, updates) == 0, "update", 0);
  int64_t lost = 0;
  for (int64_t i = 0; i < words; ++i)
    lost += table[size_t(i)] != expected[size_t(i)];
  expect(alone ? lost == 0 : lost <= words / 100, "lost updates", lost);
}

static void checkErrors() {
  double a[4] = {1, 2, 3, 4};
  auto says = [](const char *sentence) {
    return !strcmp(mpg_kernel_error(), sentence);
  };
  double *none = nullptr;
  expect(mpg::streamCopy(a, none, 4) == -EINVAL && says("b is a null pointer"),
         "null", 4);
  expect(mpg::streamCopy(a, a, -1) == -EINVAL, "negative", -1);
  const int64_t huge = INT64_MAX / 8 + 1;
  expect(mpg::streamScale(a, a, 2.0, huge) == -EOVERFLOW && a[0] == 1, "huge",
         huge);
  mpg_stream_tuning tuning = {1, 0, 0, 0};
  expect(mpg::streamAdd(a, a, a, 4, &tuning) == -EINVAL, "tuning", 4);
  float f[4] = {1, 2, 3, 4};
  expect(mpg::saxpy(f, f, 1, 4, 0) == -EINVAL &&
             says("stride is 0; it must be at least 1"),
         "stride", 0);
  expect(mpg::saxpy(f, f, 1, INT64_MAX, INT64_MAX) == -EOVERFLOW && f[0] == 1,
         "huge stride", 0);
  uint64_t table[3] = {1, 2, 3};
  expect(mpg::randomUpdate(table, 3, 100) == -EINVAL && table[0] == 1 &&
             says("words is 3; it must be a power of two"),
         "words", 3);
  expect(mpg::streamCopy(none, none, 0) == 0, "nothing", 0);
}

static void checkAll(bool alone) {
  const mpg_stream_tuning past = {sizeof(past), 512, 1024, 0};
  for (int64_t count : {0, 1, 2, 6, 31, 32, 33, 63, 64, 65, 257, 1000, 100003})
    for (size_t shift : {0, 8, 3}) {
      checkStream<double>(count, shift, nullptr);
      checkStream<float>(count, shift, &past);
      for (int64_t stride : {1, 2, 5, 100})
        if (count * stride < 200000)
          checkSaxpy(count, shift, stride);
    }
  checkUpdates(alone);
  checkErrors();
}

int main() {
  for (int64_t count : {1, 2, 5, 64, 1000, 12345})
    for (size_t shift : {4096, 4104, 4300})
      for (uint64_t stepBytes : {4, 8, 12, 400})
        checkBorders(count, shift, stepBytes);
#ifdef _OPENMP
  omp_set_dynamic(0);
  for (int threads : {1, 2, 3, 7}) {
    omp_set_num_threads(threads);
    checkAll(threads == 1);
  }
  // Each thread of a team works on its own arrays.
#pragma omp parallel num_threads(3)
  {
    std::vector<double> a(1000), b(1000, omp_get_thread_num());
    int error = mpg::streamCopy(a.data(), b.data(), 1000);
#pragma omp critical
    expect(error == 0 && a == b, "inside of a team", 1000);
  }
#else
  checkAll(true);
#endif
  if (!wrong)
    printf("right\n");
  return wrong != 0;
}
