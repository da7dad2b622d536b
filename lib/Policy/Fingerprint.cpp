// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts are put together as text, so that what a fingerprint depends on
// can be read below. The title is one of them: two findings of one rule about
// one section often differ in nothing else. A title that is worded anew is
// therefore a new finding, which CHANGELOG.md has to say.

#include "Policy/Fingerprint.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace mpg;

std::string mpg::plainPath(StringRef path) {
  SmallString<256> plain(path);
  sys::path::remove_dots(plain, /*remove_dot_dot=*/true);
  return plain.str().str();
}

std::string mpg::absolutePath(StringRef path) {
  SmallString<256> absolute(path);
  // It fails where the current folder was deleted; the name then stays.
  (void)sys::fs::make_absolute(absolute);
  return plainPath(absolute);
}

/// \p path, absolute, with the links of its folders followed but not its own:
/// a link is the name that its user knows. A folder that does not exist, as of
/// the member "lib.a(x/y.o)", stays.
static std::string realName(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  SmallString<256> real;
  while (!folder.empty() && sys::fs::real_path(folder, real))
    folder = folder == "/" ? "" : sys::path::parent_path(folder);
  sys::path::append(real, path.substr(folder.size()));
  return real.str().str();
}

/// \p path without \p folder in front; "" if it lies elsewhere.
static StringRef nameInside(StringRef folder, StringRef path) {
  if (!path.consume_front(folder))
    return "";
  bool isInside = folder.ends_with("/") || path.consume_front("/");
  return isInside ? path : "";
}

/// From one absolute path to the other, by "..".
static std::string nameFrom(StringRef folder, StringRef path) {
  auto from = sys::path::begin(folder), fromEnd = sys::path::end(folder);
  auto to = sys::path::begin(path), toEnd = sys::path::end(path);
  while (from != fromEnd && to != toEnd && *from == *to) {
    ++from;
    ++to;
  }
  SmallString<256> name;
  for (; from != fromEnd; ++from)
    sys::path::append(name, "..");
  for (; to != toEnd; ++to)
    sys::path::append(name, *to);
  return name.str().str();
}

BaseFolder BaseFolder::of(StringRef file) {
  BaseFolder folder;
  folder.written = sys::path::parent_path(absolutePath(file)).str();
  folder.real = sys::path::parent_path(realName(absolutePath(file))).str();
  return folder;
}

static std::string asUtf8(StringRef name) {
  if (json::isUTF8(name))
    return name.str();
  std::string text;
  for (char byte : name) {
    if (isASCII(byte))
      text += byte;
    else
      text += "\\x" + utohexstr(uint8_t(byte), /*LowerCase=*/true);
  }
  return text;
}

std::string BaseFolder::nameOf(StringRef path) const {
  std::string absolute = absolutePath(path);
  StringRef inside = nameInside(written, absolute);
  if (!inside.empty())
    return asUtf8(inside);
  return asUtf8(nameFrom(real, realName(absolute)));
}

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
