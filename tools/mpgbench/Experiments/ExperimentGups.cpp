// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gups: RandomAccess of the HPC Challenge benchmarks: read, change and write
// words of a large table in random order. docs/mpgbench-experiments.md says
// how, and what to expect.

#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t fullBytes = 1 << 30, quickBytes = 128 << 20;
static constexpr unsigned repeats = 3;
/// Of all threads in one repetition, at most: HPC Challenge makes four for each
/// word of the table, which would take half a minute a point.
static constexpr uint64_t maxUpdates = 1 << 22;
static constexpr unsigned updatesPerWord = 4;
/// So many may be under way at once; the rules allow 1024.
static constexpr unsigned aheadLoads = 128;

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t bytes = sizeThatFits(context, quickBytes, fullBytes);
  std::vector<PlannedPoint> points;
  std::vector<PageKind> kinds = pageKinds(context.node);
  std::vector<unsigned> threadCount = threadCounts(context);
  if (context.quick) {
    kinds = baseAndLarge(context, bytes);
    threadCount = {1};
  }
  for (const PageKind &kind : kinds)
    for (unsigned threads : threadCount)
      points.push_back({{{"pages", kind.name},
                         {"threads", std::to_string(threads)},
                         {"bytes", sizeName(bytes)}},
                        whyNotNow(context.node, kind, bytes)});
  return points;
}

/// The next number of the sequence that the benchmark prescribes: powers of x
/// modulo a primitive polynomial over the field of two elements.
static uint64_t nextRandom(uint64_t random) {
  constexpr uint64_t polynomial = 7;
  return random << 1 ^ (int64_t(random) < 0 ? polynomial : 0);
}

/// Member \p index of the sequence, by squaring.
static uint64_t randomAt(uint64_t index) {
  // Squares of the powers of x below 64: x^(2i) of each bit i.
  std::array<uint64_t, 64> squares;
  uint64_t power = 1;
  for (uint64_t &square : squares) {
    square = power;
    power = nextRandom(nextRandom(power));
  }
  uint64_t result = 1;
  for (unsigned bit = index ? Log2_64(index) + 1 : 0; bit-- > 0;) {
    uint64_t squared = 0;
    for (unsigned i = 0; i < 64; ++i)
      if (result >> i & 1)
        squared ^= squares[i];
    result = index >> bit & 1 ? nextRandom(squared) : squared;
  }
  return result;
}

/// Updates [\p part) of the sequence. Threads may lose updates of each other,
/// as in RandomAccess.
__attribute__((no_sanitize("thread"))) static void
update(uint64_t *table, uint64_t mask, Part part) {
  // Streams apart from each other, so that none waits for the number before.
  uint64_t randoms[aheadLoads], each = part.count() / aheadLoads;
  for (unsigned i = 0; i < aheadLoads; ++i)
    randoms[i] = randomAt(part.begin + i * each);
  for (uint64_t turn = 0; turn < each; ++turn)
    for (uint64_t &random : randoms) {
      table[random & mask] ^= random;
      random = nextRandom(random);
    }
}

namespace {

struct Table {
  uint64_t *words;
  uint64_t count; ///< a power of two
  unsigned threads;
  uint64_t updates;

  Part getUpdates(unsigned thread) const {
    return getPart(updates, aheadLoads, thread, threads);
  }
  void updateAll(unsigned thread) const {
    update(words, count - 1, getUpdates(thread));
  }
  /// How many words are not what they were at first. pre: an even number of
  /// rounds of all updates, each of which takes back the one before.
  uint64_t wrong() const {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; ++i)
      wrong += words[i] != i;
    return wrong;
  }
};

} // namespace

static void measureTable(const Table &table, WorkerResult &result) {
  runTogether(table.threads, [&](unsigned thread) {
    Part part = getPart(table.count, largePageBytes / 8, thread, table.threads);
    for (uint64_t i = part.begin; i < part.end; ++i)
      table.words[i] = i;
  });
  static_assert(repeats % 2 == 1, "one more warms up");
  measureRepeats(result, repeats, [&] {
    return runTogether(table.threads,
                       [&](unsigned thread) { table.updateAll(thread); });
  });
  result.value = double(table.updates) / result.value * 1e-9;
  uint64_t wrong = table.wrong();
  result.figures["wrong_words"] = double(wrong);
  if (wrong > (table.threads == 1 ? 0 : table.count / 100))
    result.error = std::to_string(wrong) + " of " +
                   std::to_string(table.count) +
                   " words of the table are wrong";
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", maxBytes, result.error);
  unsigned threads = readThreads(parameters, result.error);
  measureOn(parameters, bytes, result, [&](const BenchMemory &memory) {
    uint64_t words = bit_floor(memory.bytes() / sizeof(uint64_t));
    measureTable({memory.as<uint64_t>(), words, threads,
                  std::min(maxUpdates, updatesPerWord * words)},
                 result);
  });
  return result;
}

static void conclude(ExperimentResult &result) {
  for (const std::string &threads : getValues(result, "threads"))
    comparePages(result, {{"threads", threads}},
                 "random updates, " + countThreads(threads));
}

const Experiment mpg::gupsExperiment = {
    {"gups", "random updates of a large table (HPC Challenge RandomAccess)",
     "GUP/s",
     /*higherIsBetter=*/true,
     "Updates of words of 8 bytes, 10^9 in a second, in the order that the "
     "benchmark prescribes, 128 under way in each thread. Verified: the "
     "updates "
     "once more give the first table again (one word in a hundred may be wrong "
     "with several threads).",
     "pages", "threads",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude};
