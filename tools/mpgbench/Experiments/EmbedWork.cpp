// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EmbedWork.h.

#include "mpgbench/Experiments/EmbedWork.h"
#include "mpg/kernels.h"
#include "mpg/mpg.h"
#include "mpgbench/Run/BenchMemory.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

using namespace llvm;
using namespace mpg;

/// Rows are numbered by int32_t.
static constexpr uint64_t maxRows = uint64_t(1) << 31;

Expected<ZipfRanks> ZipfRanks::make(uint64_t count, double alpha) {
  if (count == 0 || count > maxRows)
    return createStringError(std::errc::invalid_argument,
                             "there must be 1 to 2^31 rows to draw from");
  if (!std::isfinite(alpha) || alpha < 0)
    return createStringError(std::errc::invalid_argument,
                             "the exponent of a Zipf distribution is a number "
                             "of 0 or more");
  ZipfRanks ranks;
  ranks.count = count;
  if (alpha == 0)
    return ranks;
  ranks.cumulated.resize(count);
  double sum = 0;
  for (uint64_t rank = 0; rank < count; ++rank)
    ranks.cumulated[rank] = sum += std::pow(double(rank + 1), -alpha);
  for (double &value : ranks.cumulated)
    value /= sum;
  return ranks;
}

uint64_t ZipfRanks::rankAt(double fraction) const {
  if (cumulated.empty())
    return std::min(uint64_t(fraction * double(count)), count - 1);
  // The first one whose sum is above: ranks of probability 0, which very large
  // exponents have, are never drawn.
  auto at = std::upper_bound(cumulated.begin(), cumulated.end(), fraction);
  return uint64_t(std::min(at, cumulated.end() - 1) - cumulated.begin());
}

/// A step that visits all of \p rows and goes far each time: near the golden
/// section of them.
static uint64_t scatterStep(uint64_t rows) {
  uint64_t step = std::max<uint64_t>(uint64_t(double(rows) * 0.618034), 1);
  while (std::gcd(step, rows) != 1)
    ++step;
  return step;
}

Expected<std::vector<int32_t>> mpg::drawRows(uint64_t rows, double alpha,
                                             uint64_t draws, uint64_t seed) {
  Expected<ZipfRanks> ranks = ZipfRanks::make(rows, alpha);
  if (!ranks)
    return ranks.takeError();
  // The distributions of <random> differ between libraries, the engines do not.
  std::mt19937_64 random(seed);
  uint64_t step = scatterStep(rows);
  std::vector<int32_t> drawn(draws);
  for (int32_t &row : drawn) {
    double fraction = double(random() >> 11) * 0x1p-53;
    row = int32_t(ranks->rankAt(fraction) * step % rows);
  }
  return drawn;
}

uint64_t mpg::countUnique(ArrayRef<int32_t> drawn, uint64_t rows) {
  std::vector<bool> isSeen(rows);
  uint64_t count = 0;
  for (int32_t row : drawn) {
    count += !isSeen[uint64_t(row)];
    isSeen[uint64_t(row)] = true;
  }
  return count;
}

namespace {

/// Where a thread works: the table, and its own range of the rest.
struct EmbedPlaces {
  const char *table = nullptr;
  const int32_t *indices = nullptr; ///< of the first pass
  uint64_t indexStride = 0;         ///< from pass to pass
  char *out = nullptr;
};

} // namespace

// Rows

/// Writes row \p number of a table to \p row: all of it says the number.
static void fillRow(const EmbedWork &work, char *row, uint64_t number) {
  auto word = uint32_t(number);
  uint64_t tail = work.rowBytes() % sizeof(word);
  char *end = row + work.rowBytes() - tail;
  for (char *at = row; at != end; at += sizeof(word))
    memcpy(at, &word, sizeof(word));
  memcpy(end, &word, tail);
}

/// Whether the results of \p thread are the rows that its indices of \p pass
/// name; some of them are looked at.
static bool isRight(const EmbedWork &work, unsigned thread,
                    const EmbedPlaces &places, unsigned pass) {
  const int32_t *indices = places.indices + pass * places.indexStride;
  uint64_t count = work.getCount(thread);
  uint64_t step = std::max<uint64_t>(count / 64, 1);
  std::vector<char> expected(work.rowBytes());
  for (uint64_t i = 0; i < count; i += step) {
    fillRow(work, expected.data(), uint64_t(indices[i]));
    if (memcmp(places.out + i * work.rowBytes(), expected.data(),
               expected.size()) != 0)
      return false;
  }
  return true;
}

/// Measures the lookups, and looks at what they gave. pre: all memory is
/// touched.
static void measureLookups(WorkerResult &result, const EmbedWork &work,
                           ArrayRef<EmbedPlaces> ofThreads) {
  // A failure is known only to the thread that it happened in.
  std::vector<std::string> errors(work.threads);
  unsigned pass = embedPasses - 1;
  measureRepeats(result, embedRepeats, [&] {
    pass = (pass + 1) % embedPasses;
    return runTogether(work.threads, [&](unsigned thread) {
      const EmbedPlaces &places = ofThreads[thread];
      mpg_embedding lookup =
          mpg_embedding_default(int64_t(work.rows), int64_t(work.dim),
                                work.elementBytes, sizeof(int32_t));
      lookup.table = places.table;
      lookup.indices = places.indices + pass * places.indexStride;
      lookup.out = places.out;
      if (mpg_embedding_lookup(&lookup, 0, int64_t(work.getCount(thread))) != 0)
        errors[thread] = mpg_kernel_error();
    });
  });
  for (unsigned thread = 0; thread < work.threads; ++thread) {
    if (result.error.empty() && !errors[thread].empty())
      result.error = "lookup: " + errors[thread];
    if (result.error.empty() && !isRight(work, thread, ofThreads[thread], pass))
      result.error = "the lookup gave other rows than asked for";
  }
  if (result.error.empty() && result.value > 0)
    result.value =
        2.0 * double(work.lookups * work.rowBytes()) / 1e9 / result.value;
}

// On pages of one kind

void mpg::measureOnPages(WorkerResult &result, const EmbedWork &work,
                         StringRef pages) {
  BenchMemory table(work.rows * work.rowBytes(), pages);
  BenchMemory out(work.lookups * work.rowBytes(), pages);
  for (const BenchMemory *memory : {&table, &out})
    if (!memory->error().empty()) {
      result.error = memory->error();
      return;
    }
  std::vector<EmbedPlaces> ofThreads;
  for (unsigned thread = 0; thread < work.threads; ++thread) {
    uint64_t first = work.getFirst(thread);
    ofThreads.push_back({table.as<char>(), work.indices.data() + first,
                         work.lookups,
                         out.as<char>() + first * work.rowBytes()});
  }
  runTogether(work.threads, [&](unsigned thread) {
    uint64_t begin = work.rows * thread / work.threads;
    uint64_t end = work.rows * (thread + 1) / work.threads;
    for (uint64_t row = begin; row < end; ++row)
      fillRow(work, table.as<char>() + row * work.rowBytes(), row);
    memset(ofThreads[thread].out, 0, work.getCount(thread) * work.rowBytes());
  });
  for (const BenchMemory *memory : {&table, &out}) {
    memory->addBacking(result.backing);
    if (result.error.empty())
      result.error = memory->checkBacking();
  }
  if (result.error.empty())
    measureLookups(result, work, ofThreads);
}

// On the nodes

namespace {

struct FreeBlock {
  void operator()(char *block) const { free(block); }
};
using Block = std::unique_ptr<char, FreeBlock>;

Block allocate(uint64_t bytes) {
  return Block(static_cast<char *>(malloc(bytes)));
}

/// Owns the copies.
struct Replica {
  mpg_replica *copies = nullptr;
  ~Replica() {
    if (copies)
      loadedFunction<decltype(mpg_replica_free)>("mpg_replica_free")(copies);
  }
};

} // namespace

/// Copies \p table to all nodes, or says why not.
static std::string replicate(const char *table, uint64_t bytes,
                             Replica &replica) {
  auto *make = loadedFunction<decltype(mpg_replicate)>("mpg_replicate");
  if (!make || !findLoaded("mpg_local_copy") || !findLoaded("mpg_replica_free"))
    return "libmpg in this process has no mpg_replicate";
  replica.copies = make(table, bytes);
  return replica.copies ? "" : "mpg_replicate found no memory";
}

void mpg::measureOnNodes(WorkerResult &result, const EmbedWork &work,
                         bool isReplicated) {
  uint64_t tableBytes = work.rows * work.rowBytes();
  Block table = allocate(tableBytes);
  if (!table) {
    result.error = "malloc gives no memory for the table";
    return;
  }
  for (uint64_t row = 0; row < work.rows; ++row)
    fillRow(work, table.get() + row * work.rowBytes(), row);
  Replica replica;
  if (isReplicated)
    result.error = replicate(table.get(), tableBytes, replica);
  if (!result.error.empty())
    return;
  auto *localCopy = loadedFunction<decltype(mpg_local_copy)>("mpg_local_copy");
  std::vector<Block> outs(work.threads), indices(work.threads);
  std::vector<EmbedPlaces> ofThreads(work.threads);
  // Each thread takes its memory itself, bound as it will be: its first touch
  // puts it onto its node.
  runTogether(work.threads, [&](unsigned thread) {
    uint64_t count = work.getCount(thread);
    outs[thread] = allocate(std::max<uint64_t>(count * work.rowBytes(), 1));
    indices[thread] =
        allocate(std::max<uint64_t>(embedPasses * count * sizeof(int32_t), 1));
    if (!outs[thread] || !indices[thread])
      return;
    memset(outs[thread].get(), 0, count * work.rowBytes());
    auto *own = reinterpret_cast<int32_t *>(indices[thread].get());
    for (unsigned pass = 0; pass < embedPasses; ++pass)
      memcpy(own + pass * count,
             work.indices.data() + pass * work.lookups + work.getFirst(thread),
             count * sizeof(int32_t));
    ofThreads[thread] = {isReplicated
                             ? static_cast<char *>(localCopy(replica.copies))
                             : table.get(),
                         own, count, outs[thread].get()};
  });
  for (const EmbedPlaces &places : ofThreads)
    if (!places.out)
      result.error = "malloc gives no memory for the results";
  if (!result.error.empty())
    return;
  measureLookups(result, work, ofThreads);
  addRangeBacking(ofThreads[0].table, tableBytes, result.backing);
}
