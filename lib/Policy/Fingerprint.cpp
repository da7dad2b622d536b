// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts are put together as text, so that what a fingerprint depends on
// can be read below. The title is one of them: two findings of one rule about
// one section often differ in nothing else. A title that is worded anew is
// therefore a new finding, which CHANGELOG.md has to say.

#include "Policy/Fingerprint.h"
#include "Policy/PathNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace mpg;

/// The length of "0x404000", "1,466" or "1.5" at the start of \p text.
static size_t numberLength(StringRef text) {
  size_t length = 0;
  while (length < text.size() &&
         (isAlnum(text[length]) ||
          ((text[length] == '.' || text[length] == ',') &&
           length + 1 < text.size() && isDigit(text[length + 1]))))
    ++length;
  return length;
}

std::string mpg::withoutNumbers(StringRef text) {
  std::string result;
  bool inName = false; // "libmpi.so.40", "array2", "x86-64" keep theirs
  while (!text.empty()) {
    char first = text.front();
    if (inName || !isDigit(first)) {
      inName = isAlnum(first) || StringRef("_.$@").contains(first) ||
               (inName && first == '-');
      result += first;
      text = text.drop_front();
      continue;
    }
    result += '#';
    text = text.substr(numberLength(text));
    for (StringRef unit :
         {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"})
      if (text.starts_with(unit) &&
          (text.size() == unit.size() || !isAlnum(text[unit.size()])))
        text = text.substr(unit.size());
  }
  return result;
}

/// The library that a finding comes from, without its version: who loads it may
/// change, and so may its number.
static StringRef libraryOf(StringRef via) {
  StringRef last = via.substr(via.rfind('>') + 1).trim();
  last = last.substr(last.rfind('/') + 1);
  size_t end = last.find(".so");
  return end == StringRef::npos ? last : last.substr(0, end);
}

std::string mpg::fingerprintOf(const Finding &finding, StringRef path) {
  std::string parts = idText(finding.id);
  for (StringRef part :
       {StringRef(finding.sub), StringRef(finding.where.symbol),
        StringRef(finding.where.section), libraryOf(finding.via)})
    parts += '\0' + part.str();
  parts += '\0' + withoutNumbers(finding.field);
  parts += '\0' + withoutNumbers(finding.title);
  // An empty path means "in any file", and is not the current folder.
  parts += '\0' + (path.empty() ? std::string() : plainPath(path));
  std::string digits = utohexstr(xxh3_64bits(parts), /*LowerCase=*/true);
  return std::string(16 - digits.size(), '0') + digits;
}
