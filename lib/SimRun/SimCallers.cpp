// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimCallers.h.

#include "SimRun/SimCallers.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;
using namespace mpg::sim;

void SimCallers::read(StringRef text) {
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    SmallVector<StringRef, 5> words;
    line.split(words, '\t');
    uint64_t begin, end, bias;
    if (words[0] != "I" || words.size() != 5 ||
        words[1].getAsInteger(10, begin) || words[2].getAsInteger(10, end) ||
        words[3].getAsInteger(10, bias))
      continue;
    files[begin] = {end, bias, words[4].str()};
  }
}

void SimCallers::name(SimArray &array, const std::vector<uint64_t> &calls) {
  std::vector<CallAddress> found;
  for (uint64_t call : calls) {
    auto file = files.upper_bound(call);
    if (file == files.begin() || (--file)->second.end <= call)
      found.push_back({"", call});
    else
      found.push_back({file->second.path, call - file->second.bias});
  }
  BlockOrigin origin = namer.origin(found);
  if (origin.hasLine) {
    // The passes know the innermost call alone.
    bool isInner = sys::path::filename(array.file) ==
                       sys::path::filename(origin.sourceFile) &&
                   array.line == origin.line;
    if (!isInner || array.name.empty())
      array.name = origin.variable;
    array.file = origin.sourceFile;
    array.line = origin.line;
  }
  array.key = array.name + (array.name.empty() ? "" : " ") + "(" +
              sys::path::filename(array.file).str() + ":" +
              std::to_string(array.line) + ")";
  unsigned number = ++keys[array.key];
  if (number == 1)
    return;
  array.name += (array.name.empty() ? "#" : " #") + std::to_string(number);
  array.key += " #" + std::to_string(number);
}
