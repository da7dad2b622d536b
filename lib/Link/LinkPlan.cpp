// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InputScan.h. The part that needs only LLVM's Support: the plan, and a
// scan's answer as text.

#include "Link/InputScan.h"
#include "Link/LayoutObjects.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

// A second link is worth it below both: it then takes less than a second.
static constexpr uint64_t quickOutputBytes = 64 << 20;
static constexpr uint64_t quickBitcodeBytes = 1 << 20;

bool LinkPlan::operator==(const LinkPlan &other) const {
  return align == other.align && large == other.large && text == other.text &&
         lateSections == other.lateSections;
}

uint64_t mpg::minTextBytes(const LinkRequest &request) {
  return std::min(request.minBytes, segmentPageBytes(request.hugeBytes));
}

LinkPlan mpg::planOfInputs(const LinkRequest &request, const ScanResult &scan) {
  LinkPlan plan;
  plan.align = scan.dataBytes >= request.minBytes || scan.readsPipe;
  plan.large = plan.align && scan.large;
  if (plan.align)
    plan.lateSections = scan.lateSections;
  // How much code there will be only the output shows.
  plan.text = request.text;
  return plan;
}

LinkPlan mpg::planOfOutput(const LinkRequest &request, const ScanResult &scan,
                           const LinkPlan &plan, const OutputFacts &output) {
  if (!output.readable || !output.sized || scan.readsPipe)
    return plan;
  bool quick = output.fileBytes <= quickOutputBytes &&
               scan.bitcodeBytes <= quickBitcodeBytes;
  LinkPlan better = plan;
  if (quick && output.textBytes < minTextBytes(request))
    better.text = false;
  if (output.dataBytes < request.minBytes) {
    if (!quick)
      return plan;
    LinkPlan skipped;
    skipped.text = better.text;
    return skipped;
  }
  better.align = true;
  better.large |= output.large;
  better.lateSections.insert(better.lateSections.end(),
                             output.lateSections.begin(),
                             output.lateSections.end());
  return better;
}

// The answer of a scan. The text that the scanning child sends is a list of
// fields that end with a zero byte, each a letter and a value: names may hold
// any other byte.

std::string mpg::writeScanResult(const ScanResult &result) {
  std::string text;
  auto add = [&](char field, const std::string &value) {
    text += field + value + '\0';
  };
  if (result.machine)
    add('m', std::to_string(uint16_t(*result.machine)));
  add('d', std::to_string(result.dataBytes));
  add('b', std::to_string(result.bitcodeBytes));
  if (result.large)
    add('l', "");
  for (const std::string &name : result.lateSections)
    add('s', name);
  for (const std::string &name : result.slimArchives)
    add('a', name);
  for (const std::string &name : result.stackCode)
    add('x', name);
  return text;
}

ScanResult mpg::readScanResult(StringRef text) {
  ScanResult result;
  while (!text.empty()) {
    auto [field, rest] = text.split('\0');
    text = rest;
    StringRef value = field.drop_front();
    uint64_t number = 0;
    value.getAsInteger(10, number);
    switch (field.front()) {
    case 'm':
      result.machine = Machine(number);
      break;
    case 'd':
      result.dataBytes = number;
      break;
    case 'b':
      result.bitcodeBytes = number;
      break;
    case 'l':
      result.large = true;
      break;
    case 's':
      result.lateSections.push_back(value.str());
      break;
    case 'a':
      result.slimArchives.push_back(value.str());
      break;
    case 'x':
      result.stackCode.push_back(value.str());
      break;
    }
  }
  return result;
}
