// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Zipf.h.

#include "mpgbench/Experiments/Zipf.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>

using namespace llvm;
using namespace mpg;

/// Rows are numbered by int32_t.
static constexpr uint64_t mostRows = uint64_t(1) << 31;

Expected<ZipfRanks> ZipfRanks::make(uint64_t count, double alpha) {
  if (count == 0 || count > mostRows)
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

double ZipfRanks::probability(uint64_t rank) const {
  assert(rank < count);
  if (cumulated.empty())
    return 1 / double(count);
  return cumulated[rank] - (rank == 0 ? 0 : cumulated[rank - 1]);
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
