// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loader/SysrootPath.h"
#include "Loader/SearchPath.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

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
