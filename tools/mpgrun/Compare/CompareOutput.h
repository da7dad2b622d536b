// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input and output of a compared program: its input, the same in each run;
// files without a name that take its outputs; whether two outputs are the same;
// and the number that it prints about itself. libmpg's own lines do not count:
// only some modes have them.

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mpg {

/// A file descriptor that is closed on exec, is none of 0, 1 and 2, and is
/// closed at the end of its life.
class OwnedFd {
public:
  OwnedFd() = default;
  /// Takes over \p fd, which may be below zero.
  explicit OwnedFd(int fd);
  OwnedFd(OwnedFd &&other) : fd(other.fd) { other.fd = -1; }
  OwnedFd &operator=(OwnedFd &&other);
  ~OwnedFd();
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd = -1;
};

/// The program's input: each run reads it from the same place on.
class CompareInput {
public:
  /// Looks at standard input of this process as it stands now.
  CompareInput();
  /// For one run; below zero with errno set if it cannot be opened.
  OwnedFd open() const;
  /// Whether runs read /dev/null although this process was given something.
  bool isReplaced() const { return replaced; }

private:
  bool isFile = false, replaced = false;
  off_t start = 0;
};

/// A file without a name in the folder for temporary files, else in memory;
/// below zero with errno set if there is neither. Writers append to it.
OwnedFd makeOutputFile();

/// SHA-256 of the file's content in hexadecimal, \p withoutLibmpg: without the
/// lines that begin as libmpg's do: "mpg: ", "[WARN] xos LPG ".
std::string digestOutput(int fd, bool withoutLibmpg);

/// Where two outputs begin to differ, counted from 1 as cmp does; nothing if
/// they are the same.
std::optional<uint64_t> firstDifference(int one, int other, bool withoutLibmpg);

/// Calls \p visit with each line in order, without its end, which may be a
/// carriage return, too. Cuts a line after 64 KiB.
void forEachLine(int fd, bool withoutLibmpg,
                 llvm::function_ref<void(llvm::StringRef)> visit);

/// At most \p lines of the end of the file, of its last 4 KiB.
std::string lastLines(int fd, unsigned lines);

// The program's own number. Its solver's time, its rate, found by a regular
// expression: mpgrun --compare --metric compares that in place of the time from
// exec to the end. Ambiguous text is an error, never a guess.

struct Metric {
  std::string regex; ///< with one group, which holds the number
  bool isMoreBetter = false;

  /// "less is better"
  llvm::StringRef direction() const {
    return isMoreBetter ? "more is better" : "less is better";
  }
};

/// "REGEX" or "less:REGEX", where less is better, or "more:REGEX". Nothing if
/// it cannot be used; \p error then says why.
std::optional<Metric> parseMetric(llvm::StringRef text, std::string &error);

struct MetricReading {
  double value = 0;
  std::string text;    ///< as the program printed it
  std::string problem; ///< reason for a missing value; empty if there is one
};

/// The number in the last line that matches, of what the program wrote to the
/// file \p output or, if no line there does, to \p messages; skips libmpg's
/// lines. In a line it is the first match.
MetricReading readMetric(const Metric &metric, int output, int messages);

} // namespace mpg
