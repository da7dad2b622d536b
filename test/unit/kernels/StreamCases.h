// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the STREAM kernels for tests, and their answers, computed element by
// element. Independent of a test framework: StreamKernelsTest.cpp runs it on
// this machine, test/kernels/Inputs/stream-cases.cpp on an emulated one.
//
// Bits must be equal, except that of two NaNs either may come out.

#pragma once

#include "KernelTable.h"
#include "StreamOperations.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace streamcases {

constexpr const char *names[] = {"copy", "scale", "add", "triad"};
enum class InPlace { none, asB, asC };

/// Executes a call: the public functions, or a variant's table.
struct Runner {
  const char *name;
  const mpg::StreamKernels *table; ///< null: the public functions
};

template <typename T> struct Call {
  Operation operation;
  T *a;
  const T *b, *c;
  T s;
  size_t count;
  mpg_stream_tuning tuning;
};

inline mpg_stream_tuning makeTuning(uint32_t prefetchBytes,
                                    uint32_t zeroFillBytes,
                                    uint64_t nonTemporalBytes) {
  return {sizeof(mpg_stream_tuning), prefetchBytes, zeroFillBytes,
          nonTemporalBytes};
}

/// Everything off, each alone, the defaults of A64FX, and what makes no sense.
inline std::vector<mpg_stream_tuning> allTunings() {
  return {makeTuning(0, 0, UINT64_MAX),
          makeTuning(3072, 0, UINT64_MAX),
          makeTuning(0, 256, UINT64_MAX),
          makeTuning(0, 4096, UINT64_MAX),
          makeTuning(3072, 4096, 0),
          makeTuning(1, 1, 1),
          makeTuning(UINT32_MAX, UINT32_MAX, 0)};
}

inline auto getKernel(const mpg::StreamKernels &table, const Call<double> &x) {
  void (*const kernels[])(const mpg::StreamCall<double> &) = {
      table.copyF64, table.scaleF64, table.addF64, table.triadF64};
  return kernels[x.operation];
}

inline auto getKernel(const mpg::StreamKernels &table, const Call<float> &x) {
  void (*const kernels[])(const mpg::StreamCall<float> &) = {
      table.copyF32, table.scaleF32, table.addF32, table.triadF32};
  return kernels[x.operation];
}

template <typename T> bool run(const Runner &runner, const Call<T> &x) {
  if (!runner.table)
    return callStream(x.operation, x.a, x.b, x.c, x.s, 0, int64_t(x.count),
                      &x.tuning) == 0;
  // A table is never given an empty range, nor what this call must not do.
  if (x.count == 0)
    return true;
  mpg_stream_tuning tuning = x.tuning;
  if (x.a == x.b || x.a == x.c)
    tuning.zeroFillBytes = 0;
  bool readsC = x.operation == add || x.operation == triad;
  getKernel(*runner.table,
            x)({x.a, x.b, readsC ? x.c : nullptr, x.s, x.count, &tuning});
  return true;
}

template <typename T> T readAt(const char *bytes, size_t i) {
  T value;
  memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

/// Any bit pattern at all, and now and then the special numbers.
template <typename T> std::vector<T> anyValues(size_t count) {
  std::mt19937 random;
  std::vector<T> values(count);
  const T special[] = {T(0),
                       T(-0.0),
                       T(INFINITY),
                       -T(INFINITY),
                       T(NAN),
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::max()};
  for (T &value : values) {
    value = T(int32_t(random())) / T(1000);
    if (random() % 16 == 0)
      value = special[random() % 7];
    if (random() % 16 == 0) {
      uint64_t bits = random() | uint64_t(random()) << 32;
      memcpy(&value, &bits, sizeof(T));
    }
  }
  return values;
}

/// A stretch of them, another one each time: to draw each number anew takes
/// half of the time where a processor is emulated.
template <typename T>
void fill(char *bytes, size_t count, std::mt19937 &random) {
  static const std::vector<T> values = anyValues<T>(1 << 16);
  size_t from = random() % values.size();
  while (count > 0) {
    size_t part = std::min(count, values.size() - from);
    memcpy(bytes, &values[from], part * sizeof(T));
    bytes += part * sizeof(T);
    count -= part;
    from = 0;
  }
}

/// Where the arrays of a case lie: bytes behind a border of 4 KiB.
struct Offsets {
  size_t a, b, c;
};

/// Three arrays with a wide margin on both sides, wide enough for a line that
/// is zeroed too far ahead.
class Arrays {
public:
  static constexpr size_t margin = 4352;

  explicit Arrays(size_t maxBytes)
      : bytes(maxBytes + 2 * margin + 4096), storage(3 * bytes + 4096) {}

  char *at(size_t array, size_t offset) {
    uintptr_t start = uintptr_t(storage.data()) + array * bytes;
    return reinterpret_cast<char *>((start + margin + 4095) / 4096 * 4096) +
           offset;
  }

  /// Runs one case; empty if all is right.
  template <typename T>
  std::string check(const Runner &runner, Operation operation, size_t count,
                    const Offsets &offsets, InPlace inPlace,
                    const mpg_stream_tuning &tuning) {
    char *b = at(1, offsets.b), *c = at(2, offsets.c);
    char *a = inPlace == InPlace::asB   ? b
              : inPlace == InPlace::asC ? c
                                        : at(0, offsets.a);
    size_t size = count * sizeof(T);
    memset(storage.data(), 0xa5, storage.size());
    fill<T>(b, count, random);
    fill<T>(c, count, random);
    wanted = storage;
    T s = T(1.0 / 3);
    char *result = wanted.data() + (a - storage.data());
    for (size_t i = 0; i < count; ++i) {
      T value = expected(operation, readAt<T>(b, i), readAt<T>(c, i), s);
      memcpy(result + i * sizeof(T), &value, sizeof(T));
    }
    Call<T> call = {operation,
                    reinterpret_cast<T *>(a),
                    reinterpret_cast<const T *>(b),
                    reinterpret_cast<const T *>(c),
                    s,
                    count,
                    tuning};
    if (!run(runner, call))
      return "an error: " + std::string(mpg_kernel_error());
    for (size_t i = 0; i < count; ++i)
      if (same(operation, readAt<T>(a, i), readAt<T>(result, i)))
        memcpy(result + i * sizeof(T), a + i * sizeof(T), sizeof(T));
      else
        return describe(runner, operation, count, sizeof(T), offsets, tuning) +
               "wrong at " + std::to_string(i);
    if (memcmp(storage.data(), wanted.data(), storage.size()) != 0)
      return describe(runner, operation, count, sizeof(T), offsets, tuning) +
             "something else has changed, " + std::to_string(size) +
             " bytes were asked for";
    return "";
  }

  static std::string describe(const Runner &runner, Operation operation,
                              size_t count, size_t size, const Offsets &offsets,
                              const mpg_stream_tuning &tuning) {
    return std::string(runner.name) + " " + names[operation] + ", " +
           std::to_string(count) + " x " + std::to_string(size) +
           " bytes, offsets " + std::to_string(offsets.a) + " " +
           std::to_string(offsets.b) + " " + std::to_string(offsets.c) +
           ", tuning " + std::to_string(tuning.prefetchBytes) + " " +
           std::to_string(tuning.zeroFillBytes) + " " +
           std::to_string(tuning.nonTemporalBytes) + ": ";
  }

  std::mt19937 random;

private:
  size_t bytes;
  std::vector<char> storage, wanted;
};

/// One case for each operation, both types.
inline std::string checkAll(Arrays &arrays, const Runner &runner, size_t count,
                            const Offsets &offsets, InPlace inPlace,
                            const mpg_stream_tuning &tuning) {
  for (Operation operation : {copy, scale, add, triad}) {
    std::string wrong = arrays.check<double>(runner, operation, count, offsets,
                                             inPlace, tuning);
    if (wrong.empty())
      wrong = arrays.check<float>(runner, operation, count, offsets, inPlace,
                                  tuning);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// Every length from 0 to 600, each with another alignment of each array and
/// another tuning, in place too.
inline std::string checkLengths(const Runner &runner) {
  Arrays arrays(601 * sizeof(double));
  std::vector<mpg_stream_tuning> tunings = allTunings();
  std::string wrong;
  for (size_t count = 0; count <= 600 && wrong.empty(); ++count) {
    auto inPlace = InPlace(count % 5 < 3 ? count % 5 : 0);
    Offsets offsets = {count * 7 % 64, count * 11 % 64, count * 13 % 64};
    if (count % 2)
      offsets = {count * 8 % 256, count * 24 % 256, count * 40 % 256};
    wrong = checkAll(arrays, runner, count, offsets, inPlace,
                     tunings[count % tunings.size()]);
  }
  return wrong;
}

/// Every byte from 0 to 63 for each array, lengths around the widths of vectors
/// and lines.
inline std::string checkAlignments(const Runner &runner) {
  Arrays arrays(129 * sizeof(double));
  std::vector<mpg_stream_tuning> tunings = allTunings();
  std::string wrong;
  size_t round = 0;
  for (size_t count : {1, 3, 8, 9, 33, 65, 129})
    for (size_t offset = 0; offset < 64 && wrong.empty(); ++offset) {
      Offsets offsets = {offset, offset * 5 % 64, offset * 3 % 64};
      wrong = checkAll(arrays, runner, count, offsets, InPlace::none,
                       tunings[++round % tunings.size()]);
    }
  return wrong;
}

/// Each tuning with more lines than are zeroed or prefetched ahead, in place
/// and not.
inline std::string checkTunings(const Runner &runner) {
  Arrays arrays(1500 * sizeof(double));
  std::string wrong;
  for (const mpg_stream_tuning &tuning : allTunings())
    for (size_t count : {512, 1024, 1111, 1500})
      for (auto inPlace : {InPlace::none, InPlace::asB, InPlace::asC})
        for (size_t offset : {0, 8, 4, 3, 248})
          if (wrong.empty())
            wrong = checkAll(arrays, runner, count, {offset, 16, 40}, inPlace,
                             tuning);
  return wrong;
}

/// Arrays that are larger than the caches.
inline std::string checkLarge(const Runner &runner) {
  constexpr size_t count = 150001;
  Arrays arrays(count * sizeof(double));
  std::string wrong;
  for (const mpg_stream_tuning &tuning :
       {makeTuning(3072, 4096, 0), makeTuning(0, 0, 1 << 20),
        makeTuning(0, 0, UINT64_MAX)})
    if (wrong.empty())
      wrong =
          checkAll(arrays, runner, count, {24, 0, 8}, InPlace::none, tuning);
  return wrong;
}

/// Arrays of which the page before and the page behind cannot be touched.
class FencedArray {
public:
  FencedArray() {
    page = size_t(sysconf(_SC_PAGESIZE));
    block = static_cast<char *>(
        mmap(nullptr, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(block + page, 2 * page, PROT_READ | PROT_WRITE);
  }
  ~FencedArray() { munmap(block, 4 * page); }
  char *begin() { return block + page; }
  char *end() { return block + 3 * page; }

private:
  size_t page;
  char *block;
};

/// Touches one byte too many, and the program dies.
template <typename T> std::string checkFences(const Runner &runner) {
  FencedArray a, b, c;
  std::mt19937 random;
  std::vector<mpg_stream_tuning> tunings = allTunings();
  for (size_t count = 0; count <= 300; ++count)
    for (bool atEnd : {false, true})
      for (Operation operation : {copy, scale, add, triad}) {
        size_t back = count * sizeof(T);
        char *bAt = atEnd ? b.end() - back : b.begin();
        char *cAt = atEnd ? c.end() - back : c.begin();
        char *aAt = atEnd ? a.end() - back : a.begin();
        fill<T>(bAt, count, random);
        fill<T>(cAt, count, random);
        const mpg_stream_tuning &tuning = tunings[count % tunings.size()];
        Call<T> call = {operation,
                        reinterpret_cast<T *>(aAt),
                        reinterpret_cast<const T *>(bAt),
                        reinterpret_cast<const T *>(cAt),
                        T(3),
                        count,
                        tuning};
        run(runner, call);
        for (size_t i = 0; i < count; ++i)
          if (!same(operation, readAt<T>(aAt, i),
                    expected(operation, readAt<T>(bAt, i), readAt<T>(cAt, i),
                             T(3))))
            return Arrays::describe(runner, operation, count, sizeof(T), {},
                                    tuning) +
                   "wrong at a fence";
      }
  return "";
}

struct Case {
  const char *name;
  std::string (*check)(const Runner &runner);
};

constexpr Case allCases[] = {{"lengths", checkLengths},
                             {"alignments", checkAlignments},
                             {"tunings", checkTunings},
                             {"large", checkLarge},
                             {"fences, double", checkFences<double>},
                             {"fences, float", checkFences<float>}};

/// The public functions, and on x86-64, where nothing is emulated and time is
/// not short, each variant that this processor can run.
inline std::vector<Runner> allRunners() {
  std::vector<Runner> runners = {{mpg_kernel_variant(), nullptr}};
#if defined(__x86_64__)
  runners.push_back({"plain", &mpg::plainStream});
  if (__builtin_cpu_supports("avx2"))
    runners.push_back({"avx2", &mpg::avx2Stream});
  if (__builtin_cpu_supports("avx512f"))
    runners.push_back({"avx512", &mpg::avx512Stream});
#endif
  return runners;
}

} // namespace streamcases
