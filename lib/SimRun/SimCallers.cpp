// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimProgram.h.

#include "SimRun/SimProgram.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;
using namespace mpg::sim;

void SimCallers::read(StringRef text) {
  for (StringRef line : split(text, '\n')) {
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

/// As \p array is known to the passes.
static BlockOrigin makeOrigin(const SimArray &array) {
  BlockOrigin origin;
  origin.place =
      sys::path::filename(array.file).str() + ":" + std::to_string(array.line);
  origin.hasLine = array.line != 0;
  origin.sourceFile = array.file;
  origin.line = array.line;
  origin.variable = array.name;
  return origin;
}

void SimCallers::name(SimArray &array, unsigned number,
                      const std::vector<uint64_t> &calls) {
  std::vector<CallAddress> found;
  for (uint64_t call : calls) {
    auto file = files.upper_bound(call);
    if (file == files.begin() || (--file)->second.end <= call)
      found.push_back({"", call});
    else
      found.push_back({file->second.path, call - file->second.bias});
  }
  if (!found.empty())
    found.front() = namer.findAllocating(found.front());
  BlockOrigin origin = namer.origin(found);
  if (!origin.hasLine)
    origin = makeOrigin(array);
  // The passes know the innermost call alone.
  bool isInner = sys::path::filename(array.file) ==
                     sys::path::filename(origin.sourceFile) &&
                 array.line == origin.line;
  if (isInner && origin.variable.empty() && !isReservedName(array.name))
    origin.variable = array.name;
  array.name = origin.variable;
  array.file = origin.sourceFile;
  array.line = origin.line;
  named[number] = {origins.size(), ++namings[origin.name()]};
  origins.push_back(std::move(origin));
}

bool SimCallers::isNamed(unsigned number, StringRef wanted) const {
  auto known = named.find(number);
  return known != named.end() &&
         origins[known->second.origin].isNamed(wanted, known->second.order);
}

void SimCallers::disambiguate(SimArrays &arrays) {
  mpg::disambiguate(origins);
  for (const auto &[number, one] : named)
    arrays.distinguish(number, origins[one.origin].name(),
                       origins[one.origin].distinction);
}
