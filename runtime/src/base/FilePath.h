// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of files in /proc, /sys and control groups, put together without
// allocating.

#ifndef MPG_RUNTIME_FILEPATH_H
#define MPG_RUNTIME_FILEPATH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace mpg {

/// A path of bounded length; what does not fit makes it empty, so that a cut
/// off path is never opened.
class Path {
public:
  Path &add(const char *part) { return add(part, strlen(part)); }
  Path &add(const char *part, size_t length) {
    if (used + length >= sizeof text) {
      overflowed = true;
      return *this;
    }
    memcpy(text + used, part, length);
    used += length;
    text[used] = 0;
    return *this;
  }
  Path &addNumber(uint64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    do
      digits[--at] = char('0' + value % 10);
    while (value /= 10);
    return add(digits + at, sizeof digits - at);
  }
  void cutAt(size_t length) { text[used = length] = 0; }
  size_t length() const { return used; }
  const char *get() const { return overflowed ? "" : text; }

private:
  char text[512] = {};
  size_t used = 0;
  bool overflowed = false;
};

} // namespace mpg

#endif // MPG_RUNTIME_FILEPATH_H
