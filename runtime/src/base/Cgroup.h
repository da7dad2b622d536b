// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many large pages and how much memory the control groups of this process
// (v1 and v2, with every ancestor) still allow; and the names of such files.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace mpg {

/// The limits on large pages, of the controller hugetlb.
struct CgroupLimit {
  bool exists = false;
  uint64_t usageLeftBytes = UINT64_MAX;       ///< limit on pages in use
  uint64_t reservationLeftBytes = UINT64_MAX; ///< limit on reservations
  char file[192] = {};              ///< the file with the tightest limit
  uint64_t limitBytes = UINT64_MAX; ///< what that file says
  /// This process is in a group whose files it cannot see, as in a container
  /// without a mount of the hierarchy, or with one that is closed to it, or
  /// without /proc: there may be a limit.
  bool isHidden = false;
  uint64_t groups = 0; ///< what hashGroups() returns
};
CgroupLimit readCgroupLimit(size_t hugeBytes);

/// A hash of the names of this process's groups; 0: unknown.
uint64_t hashGroups();

/// Memory that the groups' limits leave, including the file cache that the
/// kernel would drop; UINT64_MAX: no limit. Large pages of a pool do not count.
uint64_t readCgroupMemoryLeft();

/// Whether \p bytes of transparent huge pages, each of which becomes whole when
/// one of its bytes is used, fit into the groups' limits and leave a quarter of
/// what was left at first, or 64 MiB, for other memory. Without a limit
/// at the first call, later calls cost nothing. A yes is remembered for part of
/// the remainder, so a growing heap does not ask for most of its pages.
bool hugePagesFitGroup(uint64_t bytes);

// Names of files in /proc, /sys and control groups, put together without
// allocating.

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
