// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Policy/PathNames.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

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
