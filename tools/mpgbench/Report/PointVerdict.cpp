// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PointVerdict.h.

#include "mpgbench/Report/PointVerdict.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static constexpr double smallestRatio = 1.02;

/// The kind of most pages that lay under the arrays; "" if nothing is known.
static StringRef mainBacking(const PointResult &point) {
  Backing backing = backingOf(point);
  double normal = double(backing.normalBytes), thp = double(backing.thpBytes),
         hugetlb = double(backing.hugetlbBytes);
  if (normal + thp + hugetlb <= 0)
    return "";
  if (hugetlb >= std::max(normal, thp))
    return "hugetlb";
  return thp >= normal ? "THP" : "normal";
}

/// What explains a difference at once: other pages than before.
static std::string backingChange(const PointResult &before,
                                 const PointResult &after) {
  StringRef first = mainBacking(before), second = mainBacking(after);
  if (first == second || first.empty() || second.empty())
    return {};
  return ("; " + first + " pages before, " + second + " after").str();
}

/// Why there is no verdict; "" if there can be one.
static std::string whyNot(const PointResult &before, const PointResult &after,
                          const Ratio &ratio) {
  if (before.samples.empty() || after.samples.empty()) {
    if (after.samples.empty() && before.samples.empty())
      return "not measured";
    return after.samples.empty() ? "not measured after" : "not measured before";
  }
  if (before.isBusy || after.isBusy)
    return std::string("no verdict: busy") + (!after.isBusy    ? " before"
                                              : !before.isBusy ? " after"
                                                               : "");
  return ratio.interval ? "" : "too few rounds";
}

/// pre: there can be a verdict.
static void judgeRatio(PointVerdict &verdict, bool higherIsBetter) {
  using Kind = PointVerdict::Kind;
  double factor = std::max(verdict.ratio.value, 1 / verdict.ratio.value);
  if (!verdict.ratio.isReal()) {
    verdict.kind = Kind::same;
    verdict.text = "no difference seen";
  } else if (factor < smallestRatio) {
    verdict.kind = Kind::small;
    verdict.text = "below 2 %";
  } else {
    bool isBetter = (verdict.ratio.value > 1) == higherIsBetter;
    verdict.kind = isBetter ? Kind::better : Kind::worse;
    verdict.text =
        formatv("{0} {1:f2}x", isBetter ? "faster" : "slower", factor);
  }
}

PointVerdict mpg::judgePoint(const PointResult &before,
                             const PointResult &after, bool higherIsBetter) {
  PointVerdict verdict;
  verdict.ratio = unpairedRatio(valuesOf(before), valuesOf(after));
  verdict.text = whyNot(before, after, verdict.ratio);
  if (verdict.text.empty())
    judgeRatio(verdict, higherIsBetter);
  verdict.text += backingChange(before, after);
  return verdict;
}
