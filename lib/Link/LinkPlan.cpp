// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkPlan.h.

#include "Link/LinkPlan.h"

using namespace llvm;
using namespace mpg;

// A second link is worth it below both: it then takes less than a second.
static constexpr uint64_t quickOutputBytes = 64 << 20;
static constexpr uint64_t quickBitcodeBytes = 1 << 20;

bool LinkPlan::operator==(const LinkPlan &other) const {
  return align == other.align && large == other.large &&
         lateSections == other.lateSections;
}

LinkPlan mpg::planOfInputs(const LinkRequest &request, const ScanResult &scan) {
  LinkPlan plan;
  plan.align = scan.dataBytes >= request.minBytes || scan.readsPipe;
  plan.large = plan.align && scan.large;
  if (plan.align)
    plan.lateSections = scan.lateSections;
  return plan;
}

LinkPlan mpg::planOfOutput(const LinkRequest &request, const ScanResult &scan,
                           const LinkPlan &plan, const OutputFacts &output) {
  if (!output.readable || !output.sized || scan.readsPipe)
    return plan;
  if (output.dataBytes < request.minBytes) {
    bool quick = output.fileBytes <= quickOutputBytes &&
                 scan.bitcodeBytes <= quickBitcodeBytes;
    return quick ? LinkPlan() : plan;
  }
  LinkPlan better = plan;
  better.align = true;
  better.large |= output.large;
  better.lateSections.insert(better.lateSections.end(),
                             output.lateSections.begin(),
                             output.lateSections.end());
  return better;
}
