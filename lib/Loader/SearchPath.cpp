// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SearchPath.h. Links are followed a bounded number of times, as the kernel
// does.

#include "Loader/SearchPath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// A list that names more is damaged; every library would be looked for in
/// each of them.
static constexpr size_t maxFolders = 1024;

/// Whether \p text, after a dollar sign, is \p word or {word}, and how many
/// characters that takes; 0 if it is not. $ORIGINAL is not $ORIGIN.
static size_t matchWord(StringRef text, StringRef word) {
  if (text.consume_front("{"))
    return text.starts_with(word) && text.substr(word.size()).starts_with("}")
               ? word.size() + 2
               : 0;
  if (!text.starts_with(word))
    return 0;
  StringRef rest = text.substr(word.size());
  return rest.empty() || !(isAlnum(rest[0]) || rest[0] == '_') ? word.size()
                                                               : 0;
}

static std::string replaceWords(StringRef text, StringRef origin,
                                const PathWords &words) {
  std::pair<StringRef, StringRef> const table[] = {
      {"ORIGIN", origin}, {"LIB", words.lib}, {"PLATFORM", words.platform}};
  std::string result;
  while (!text.empty() && result.size() <= maxPathBytes) {
    size_t plain = std::min(text.find('$'), text.size());
    result += text.take_front(plain);
    text = text.drop_front(plain);
    if (text.empty())
      break;
    size_t taken = 0;
    for (auto [word, value] : table)
      if (size_t length = matchWord(text.drop_front(), word)) {
        result += value;
        taken = length + 1;
        break;
      }
    // The loader leaves a dollar sign before any other word as it is.
    if (taken == 0)
      result += '$';
    text = text.drop_front(std::max<size_t>(taken, 1));
  }
  return result;
}

std::string mpg::expandPath(StringRef path, StringRef origin,
                            const PathWords &words) {
  if (path.size() > maxPathBytes)
    return "";
  // The folder of a file is already one of this machine.
  bool ofOrigin =
      path.starts_with("$") && matchWord(path.drop_front(), "ORIGIN") != 0;
  std::string result =
      path.contains('$') ? replaceWords(path, origin, words) : path.str();
  if (result.size() > maxPathBytes)
    return "";
  if (StringRef(result).starts_with("/"))
    return ofOrigin ? result : words.sysroot + result;
  if (!words.sysroot.empty())
    return "";
  char current[maxPathBytes + 1];
  if (!getcwd(current, sizeof current))
    return "";
  return result.empty() || result == "." ? std::string(current)
                                         : std::string(current) + "/" + result;
}

std::vector<std::string> mpg::splitFolders(StringRef list, StringRef separators,
                                           StringRef origin,
                                           const PathWords &words) {
  std::vector<std::string> folders;
  if (list.empty())
    return folders;
  while (folders.size() < maxFolders) {
    size_t end = list.find_first_of(separators);
    std::string folder = expandPath(list.take_front(end), origin, words);
    folder.resize(StringRef(folder).rtrim('/').size());
    if ((!folder.empty() || list.starts_with("/")) &&
        !is_contained(folders, folder))
      folders.push_back(std::move(folder));
    if (end == StringRef::npos)
      break;
    list = list.substr(end + 1);
  }
  return folders;
}

StringRef mpg::folderOf(StringRef path) {
  size_t slash = path.rfind('/');
  if (slash == StringRef::npos)
    return ".";
  return path.take_front(std::max<size_t>(slash, 1));
}

/// As many as the kernel follows.
static constexpr unsigned maxLinks = 40;

/// What the link at \p path says; "" if it is none.
static std::string readLink(const std::string &path) {
  char target[maxPathBytes + 1];
  ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, size_t(length)) : "";
}

std::string mpg::followLinks(const std::string &path,
                             const std::string &sysroot) {
  StringRef inside = path;
  if (sysroot.empty() || !inside.consume_front(sysroot) ||
      !inside.starts_with("/"))
    return path;
  std::string done, left = inside.str();
  unsigned links = 0;
  while (!left.empty()) {
    auto [part, rest] = StringRef(left).ltrim('/').split('/');
    std::string next = rest.str();
    if (part == "..") {
      done.resize(done.find_last_of('/') == std::string::npos
                      ? 0
                      : done.find_last_of('/'));
    } else if (!part.empty() && part != ".") {
      std::string here = done + "/" + part.str();
      std::string target = readLink(sysroot + here);
      if (target.empty()) {
        done = std::move(here);
      } else {
        if (++links > maxLinks || target.size() + next.size() > maxPathBytes)
          return path;
        if (target[0] == '/')
          done.clear();
        next = target + "/" + next;
      }
    }
    left = std::move(next);
  }
  return sysroot + done;
}
