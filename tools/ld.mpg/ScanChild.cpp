// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScanChild.h. The answer is a list of fields that end with a zero byte,
// each a letter and a value: names may hold any other byte.

#include "ScanChild.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static std::string writeResult(const ScanResult &result) {
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

static ScanResult readResult(StringRef text) {
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

Expected<ScanChild> ScanChild::start(const LinkRequest &request,
                                     ArrayRef<LinkInput> inputs,
                                     uint64_t enoughBytes) {
  ScanChild scan;
  Expected<MemoryFile> answer = MemoryFile::create("");
  if (!answer)
    return answer.takeError();
  scan.answer = std::move(*answer);
  Expected<Child> child = Child::startQuiet([&] {
    ScanResult result = scanFiles(request, inputs, enoughBytes);
    _exit(scan.answer.append(writeResult(result)) ? 0 : 1);
  });
  if (!child)
    return child.takeError();
  scan.child = *child;
  return scan;
}

ScanResult ScanChild::finish() {
  return child.wait() ? readResult(answer.contents()) : ScanResult();
}
