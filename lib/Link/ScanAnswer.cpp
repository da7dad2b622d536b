// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a scan found, as the text that the scanning child sends: without the
// rest of LLVM that the scan itself needs. The text is a list of fields that
// end with a zero byte, each a letter and a value: names may hold any other
// byte.

#include "Link/InputScan.h"

using namespace llvm;
using namespace mpg;

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
    }
  }
  return result;
}
