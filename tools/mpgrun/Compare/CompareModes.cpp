// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareModes.h.

#include "mpgrun/Compare/CompareModes.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral knownModes[] = {"none", "thp", "hugetlb",
                                               "interleave", "auto"};

std::vector<std::string> mpg::parseCompareModes(StringRef text,
                                                std::string &error) {
  SmallVector<StringRef, 5> words;
  text.split(words, ',');
  std::vector<std::string> modes;
  for (StringRef word : words) {
    if (word.empty())
      error = "a mode in the list is empty";
    else if (!is_contained(knownModes, word))
      error = printable(word) +
              " is no mode; known are none, thp, hugetlb, interleave and auto";
    else if (is_contained(modes, word))
      error = word.str() + " is there twice";
    if (!error.empty())
      return {};
    modes.push_back(word.str());
  }
  if (modes.size() < 2)
    error = "one mode is compared with nothing; name another one";
  return modes;
}
