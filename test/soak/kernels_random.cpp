// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random calls of all kernels of <mpg/kernels.h> against loops that say what
// they mean: any length, alignment, stride, tuning and index, in place or not,
// wrong arguments too. Sources are compared as well, and the bytes around the
// destination. Started by test/soak/kernels.
//
//   kernels_random SEED COUNT    cases SEED, SEED + 1, ...; each is a seed
//
// Prints a line for each case that is wrong, and counts. Status 1 if one was.

#include "kernels_random.h"
#include "../unit/kernels/StreamOperations.h"
#include <cerrno>
#include <csignal>
#include <string>

using namespace streamcases;

static std::string fault; ///< of the case that runs; "" is right

static bool expect(bool right, const std::string &text) {
  if (!right && fault.empty())
    fault = text;
  return right;
}

static std::string number(uint64_t value) { return std::to_string(value); }

template <typename T> static T randomValue(Random &random) {
  static const T odd[] = {T(0),   T(-0.0),   T(INFINITY), T(-INFINITY),
                          T(NAN), T(1e-310), T(3e38),     T(-1.17549e-38)};
  if (random.oneOf(12))
    return odd[random.below(8)];
  return T(double(int64_t(random.next())) / 1e15);
}

template <typename T>
static void fillValues(Random &random, Guarded &array, size_t count) {
  for (size_t i = 0; i < count; ++i)
    array.set<T>(i, randomValue<T>(random));
}

static mpg_stream_tuning randomTuning(Random &random) {
  mpg_stream_tuning tuning = {};
  tuning.structBytes = sizeof(tuning);
  auto distance = [&]() -> uint32_t {
    switch (random.below(5)) {
    case 0:
      return 0;
    case 1:
      return uint32_t(256 * random.below(40));
    case 2:
      return uint32_t(random.below(10000));
    case 3:
      return UINT32_MAX - uint32_t(random.below(300));
    }
    return uint32_t(64 << random.below(8));
  };
  tuning.prefetchBytes = distance();
  tuning.zeroFillBytes = distance();
  tuning.nonTemporalBytes = random.oneOf(3)   ? UINT64_MAX
                            : random.oneOf(2) ? 0
                                              : random.below(100000);
  return tuning;
}

template <typename T> static void streamCase(Random &random) {
  const auto operation = Operation(random.below(4));
  const size_t count = random.size(random.oneOf(20) ? 400000 : 20000);
  const size_t begin = random.oneOf(2) ? 0 : random.below(count + 1);
  const size_t end =
      random.oneOf(2) ? count : begin + random.below(count - begin + 1);
  Guarded own(random, count * sizeof(T)), b(random, count * sizeof(T)),
      c(random, count * sizeof(T));
  fillValues<T>(random, b, count);
  fillValues<T>(random, c, count);
  const bool readsC = operation >= add;
  const uint64_t place = random.below(6); // 0: a is b, 1: a is c
  Guarded &a = place == 0 ? b : place == 1 && readsC ? c : own;
  const T s = randomValue<T>(random);
  const mpg_stream_tuning tuning = randomTuning(random);
  const bool tuned = !random.oneOf(4);

  const std::vector<char> beforeB = b.contents(), beforeC = c.contents();
  std::vector<T> wanted;
  for (size_t i = begin; i < end; ++i)
    wanted.push_back(expected(operation, b.get<T>(i), c.get<T>(i), s));
  std::vector<char> around = a.contents();
  int error =
      callStream(operation, a.as<T>(), b.as<T>(), readsC ? c.as<T>() : nullptr,
                 s, int64_t(begin), int64_t(end), tuned ? &tuning : nullptr);
  std::string what = "stream operation " + number(operation) + ", " +
                     number(sizeof(T)) + " bytes, [" + number(begin) + ", " +
                     number(end) + ") of " + number(count) + ", prefetch " +
                     number(tuning.prefetchBytes) + ", zero fill " +
                     number(tuning.zeroFillBytes) + ", nt " +
                     number(tuning.nonTemporalBytes);
  expect(error == 0, what + ": error " + number(uint64_t(-error)));
  for (size_t i = begin; i < end; ++i) {
    if (!expect(same(operation, a.get<T>(i), wanted[i - begin]),
                what + ": element " + number(i)))
      return;
  }
  memcpy(around.data() + a.offset() + begin * sizeof(T),
         a.as<char>() + begin * sizeof(T), (end - begin) * sizeof(T));
  expect(around == a.contents(), what + ": wrote outside of the range");
  expect(&a == &b || beforeB == b.contents(), what + ": changed b");
  expect(&a == &c || beforeC == c.contents(), what + ": changed c");
}

/// Wrong arguments: the error and its text, with nothing written.
static void streamErrorCase(Random &random) {
  Guarded a(random, 800), b(random, 800), c(random, 800);
  mpg_stream_tuning tuning = randomTuning(random);
  int64_t begin = 0, end = 100;
  double *pointers[] = {a.as<double>(), b.as<double>(), c.as<double>()};
  int wanted = -EINVAL;
  const uint64_t kind = random.below(6);
  switch (kind) {
  case 0:
    begin = -1 - int64_t(random.below(1000));
    break;
  case 1:
    begin = 1 + int64_t(random.below(99));
    end = int64_t(random.below(uint64_t(begin)));
    break;
  case 2:
    tuning.structBytes = uint32_t(random.below(24));
    break;
  case 3:
    end = INT64_MAX - int64_t(random.below(100));
    wanted = -EOVERFLOW;
    break;
  case 4:
    begin = INT64_MIN;
    end = INT64_MAX;
    break;
  default:
    pointers[random.below(3)] = nullptr;
  }
  const std::vector<char> before = a.contents();
  int got = callStream(triad, pointers[0], pointers[1], pointers[2], 2.0, begin,
                       end, &tuning);
  expect(got == wanted,
         "stream error " + number(kind) + " gives " + std::to_string(got));
  expect(*mpg_kernel_error(), "stream error without a sentence");
  expect(before == a.contents(), "stream error writes");
}

/// One call of the lookup and what it works on.
struct Lookup {
  size_t elementBytes, indexBytes, rows, dim, tableStride, outStride, count;
  size_t begin, end;

  explicit Lookup(Random &random)
      : elementBytes(random.oneOf(2) ? 2 : 4),
        indexBytes(random.oneOf(2) ? 4 : 8), rows(1 + random.size(3000)),
        dim(random.size(rows > 500 ? 70 : 5000)),
        tableStride(dim + (random.oneOf(2) ? 0 : random.below(40))),
        outStride(dim + (random.oneOf(2) ? 0 : random.below(40))),
        count(random.size(dim > 300 ? 200 : 3000)),
        begin(random.oneOf(2) ? 0 : random.below(count + 1)),
        end(random.oneOf(2) ? count : begin + random.below(count - begin + 1)) {
  }
  size_t getBytes(size_t lines, size_t stride) const {
    return lines ? ((lines - 1) * stride + dim) * elementBytes : 0;
  }
};

static int64_t badIndex(Random &random, const Lookup &x) {
  if (random.oneOf(3))
    return int64_t(x.rows);
  if (random.oneOf(2))
    return -1 - int64_t(random.below(5));
  if (x.indexBytes == 4)
    return random.oneOf(2) ? INT32_MIN : INT32_MAX;
  // Numbers whose low half is a good index, too.
  return random.oneOf(2)   ? int64_t(1 + random.below(1000)) << 32
         : random.oneOf(2) ? INT64_MIN
                           : INT64_MAX;
}

/// Row i of the output is row index[i] of the table.
static void lookupCase(Random &random) {
  const Lookup x(random);
  Guarded table(random, x.getBytes(x.rows, x.tableStride)),
      out(random, x.getBytes(x.count, x.outStride)),
      indices(random, x.count * x.indexBytes);
  for (size_t i = 0, n = x.getBytes(x.rows, x.tableStride) / 2; i < n; ++i)
    table.set<uint16_t>(i, uint16_t(random.next()));
  std::vector<int64_t> index(x.count);
  for (int64_t &one : index)
    one = int64_t(random.below(random.oneOf(4) ? 1 : x.rows));
  if (x.count && random.oneOf(4))
    for (uint64_t more = 1 + random.below(3); more; --more)
      index[random.below(x.count)] = badIndex(random, x);
  for (size_t i = 0; i < x.count; ++i)
    x.indexBytes == 4 ? indices.set<int32_t>(i, int32_t(index[i]))
                      : indices.set<int64_t>(i, index[i]);
  size_t bad = x.begin;
  while (bad < x.end && index[bad] >= 0 && size_t(index[bad]) < x.rows)
    ++bad;

  mpg_embedding call =
      mpg_embedding_default(int64_t(x.rows), int64_t(x.dim),
                            uint32_t(x.elementBytes), uint32_t(x.indexBytes));
  call.table = table.as<char>();
  call.indices = indices.as<char>();
  call.out = out.as<char>();
  call.tableStride = int64_t(x.tableStride);
  call.outStride = int64_t(x.outStride);
  if (random.oneOf(2))
    call.tableTag = uint32_t(random.below(256));
  std::vector<char> expected = out.contents();
  const std::vector<char> before[] = {table.contents(), indices.contents()};
  if (bad == x.end)
    for (size_t i = x.begin; i < x.end; ++i)
      memcpy(expected.data() + out.offset() + i * x.outStride * x.elementBytes,
             table.as<char>() +
                 size_t(index[i]) * x.tableStride * x.elementBytes,
             x.dim * x.elementBytes);
  int error = mpg_embedding_lookup(&call, int64_t(x.begin), int64_t(x.end));
  std::string what =
      "lookup of " + number(x.dim) + " of " + number(x.tableStride) + " x " +
      number(x.elementBytes) + " bytes, index " + number(x.indexBytes) +
      ", out stride " + number(x.outStride) + ", [" + number(x.begin) + ", " +
      number(x.end) + ") of " + number(x.count) + ", rows " + number(x.rows);
  if (bad < x.end) {
    std::string sentence = "indices[" + number(bad) + "] is " +
                           std::to_string(index[bad]) + ", and";
    expect(error == -ERANGE, what + ": no error for " + sentence);
    expect(!strncmp(mpg_kernel_error(), sentence.c_str(), sentence.size()),
           what + ": " + mpg_kernel_error() + " instead of " + sentence);
  } else {
    expect(error == 0, what + ": error " + mpg_kernel_error());
  }
  expect(expected == out.contents(), what + ": wrong rows");
  expect(before[0] == table.contents() && before[1] == indices.contents(),
         what + ": changed what it reads");
}

static void saxpyCase(Random &random) {
  const size_t stride = random.oneOf(2) ? 1 : 1 + random.size(300);
  const size_t count = random.size(20000 / stride);
  const size_t begin = random.oneOf(2) ? 0 : random.below(count + 1);
  const size_t elements = count ? (count - 1) * stride + 1 : 0;
  Guarded ownX(random, elements * 4), y(random, elements * 4);
  Guarded &x = random.oneOf(5) ? y : ownX;
  fillValues<float>(random, ownX, elements);
  fillValues<float>(random, y, elements);
  const float a = randomValue<float>(random);
  std::vector<float> expected;
  for (size_t i = begin; i < count; ++i)
    expected.push_back(
        plusProduct(y.get<float>(i * stride), a, x.get<float>(i * stride)));
  std::vector<char> around = y.contents();
  const std::vector<char> beforeX = x.contents();
  int error = mpg_saxpy_f32(y.as<float>(), x.as<float>(), a, int64_t(begin),
                            int64_t(count), int64_t(stride));
  std::string what = "saxpy [" + number(begin) + ", " + number(count) +
                     ") stride " + number(stride);
  expect(error == 0, what + ": error");
  for (size_t i = begin; i < count; ++i) {
    expect(same(triad, y.get<float>(i * stride), expected[i - begin]),
           what + ": element " + number(i));
    memcpy(around.data() + y.offset() + i * stride * 4,
           y.as<float>() + i * stride, 4);
  }
  expect(around == y.contents(), what + ": wrote something else");
  expect(&x == &y || beforeX == x.contents(), what + ": changed x");
}

static void chaseCase(Random &random) {
  const size_t strideBytes = random.oneOf(2) ? size_t(8) << random.below(10)
                                             : 8 * (1 + random.below(600));
  const size_t cells = 1 + random.size(random.oneOf(4) ? 3000 : 100);
  const size_t bytes = cells * strideBytes + random.below(strideBytes);
  std::vector<uint64_t> memory(bytes / 8 + 1, 0);
  auto *start = reinterpret_cast<char *>(memory.data());
  void *first = mpg_chase_fill(start, bytes, strideBytes, random.next());
  std::string what =
      "chase of " + number(cells) + " cells of " + number(strideBytes);
  if (!expect(first, what + ": " + mpg_kernel_error()))
    return;
  std::vector<bool> seen(cells);
  void *cell = first;
  for (size_t i = 0; i < cells; ++i) {
    size_t at = size_t(static_cast<char *>(cell) - start);
    if (!expect(at + 8 <= cells * strideBytes && !seen[at / strideBytes] &&
                    at % strideBytes + 8 <= strideBytes,
                what + ": cell " + number(i)))
      return;
    seen[at / strideBytes] = true;
    memcpy(&cell, cell, sizeof(cell));
  }
  expect(cell == first, what + ": no cycle");
  const size_t steps = random.below(4 * cells), part = random.below(steps + 1);
  expect(mpg_chase(first, int64_t(steps)) ==
             mpg_chase(mpg_chase(first, int64_t(part)), int64_t(steps - part)),
         what + ": steps in two parts");
  expect(mpg_chase(first, int64_t(steps)) ==
             mpg_chase(first, int64_t(steps % cells)),
         what + ": once around");
}

static void updateCase(Random &random) {
  const size_t words = size_t(1) << random.below(14);
  const size_t updates = random.size(3000);
  Guarded table(random, words * 8);
  std::vector<uint64_t> expected(words);
  for (size_t i = 0; i < words; ++i)
    expected[i] = table.get<uint64_t>(i);
  uint64_t one = 1;
  for (size_t i = 0; i < updates; ++i) {
    one = one << 1 ^ (one >> 63 ? 7 : 0);
    expected[one % words] ^= one;
  }
  std::vector<char> around = table.contents();
  for (size_t begin = 0; begin < updates;) {
    size_t end = begin + 1 + random.below(updates - begin);
    expect(mpg_random_update_u64(table.as<uint64_t>(), int64_t(words),
                                 int64_t(begin), int64_t(end)) == 0,
           "update: error");
    begin = end;
  }
  memcpy(around.data() + table.offset(), expected.data(), words * 8);
  expect(around == table.contents(), "update: " + number(updates) +
                                         " updates of " + number(words) +
                                         " words");
}

static void runCase(uint64_t seed) {
  Random random(seed);
  switch (random.below(10)) {
  case 0:
  case 1:
    return streamCase<double>(random);
  case 2:
  case 3:
    return streamCase<float>(random);
  case 4:
    return streamErrorCase(random);
  case 5:
    return saxpyCase(random);
  case 6:
    return chaseCase(random);
  case 7:
    return updateCase(random);
  default:
    return lookupCase(random);
  }
}

static uint64_t runningSeed;

/// A read outside of an array ends the program: say where.
static void printWhere(int signal) {
  char text[64];
  int length = snprintf(text, sizeof(text), "seed %llu: signal %d\n",
                        (unsigned long long)runningSeed, signal);
  _exit(write(1, text, size_t(length)) == length ? 1 : 2);
}

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  for (int one : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    signal(one, printWhere);
  const uint64_t seed = strtoull(arguments[1], nullptr, 10);
  const uint64_t cases = strtoull(arguments[2], nullptr, 10);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < cases; ++i) {
    fault.clear();
    runningSeed = seed + i;
    runCase(runningSeed);
    if (fault.empty())
      continue;
    ++wrong;
    printf("seed %llu: %s\n", (unsigned long long)(seed + i), fault.c_str());
    fflush(stdout);
  }
  printf("%s: %llu cases, %llu right, %llu wrong\n", mpg_kernel_variant(),
         (unsigned long long)cases, (unsigned long long)(cases - wrong),
         (unsigned long long)wrong);
  return wrong != 0;
}
