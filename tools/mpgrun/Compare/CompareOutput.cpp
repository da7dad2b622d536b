// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareOutput.h. Outputs may be larger than memory: they are read in
// blocks.

#include "mpgrun/Compare/CompareOutput.h"
#include "Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SHA256.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

OwnedFd::OwnedFd(int given) : fd(given) {
  if (given < 0 || given > 2)
    return;
  // One of the standard files was closed; the program's would land on ours.
  fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
  int error = errno;
  close(given);
  errno = error;
}

OwnedFd &OwnedFd::operator=(OwnedFd &&other) {
  std::swap(fd, other.fd);
  return *this;
}

OwnedFd::~OwnedFd() {
  if (fd >= 0)
    close(fd);
}

// Input

static bool isNullDevice(const struct stat &status) {
  struct stat null;
  return S_ISCHR(status.st_mode) && stat("/dev/null", &null) == 0 &&
         null.st_rdev == status.st_rdev;
}

CompareInput::CompareInput() {
  struct stat status;
  if (fstat(0, &status) != 0)
    return; // closed: there is nothing to replace
  start = lseek(0, 0, SEEK_CUR);
  if (S_ISREG(status.st_mode) && start >= 0) {
    // Through /proc: a file that is deleted or was renamed has no other name.
    OwnedFd probe(::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC));
    isFile = bool(probe);
  }
  replaced = !isFile && !isNullDevice(status);
}

OwnedFd CompareInput::open() const {
  // Opened again: a duplicate would share its place with the other runs.
  OwnedFd fd(
      ::open(isFile ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC));
  if (fd && isFile && lseek(fd.get(), start, SEEK_SET) < 0)
    return OwnedFd();
  return fd;
}

// Output

OwnedFd mpg::makeOutputFile() {
  int fd = openDeletedFile("mpgrun-output", O_APPEND | O_CLOEXEC);
  if (fd < 0) {
    fd = memfd_create("mpgrun-output", MFD_CLOEXEC);
    if (fd >= 0)
      fcntl(fd, F_SETFL, O_APPEND);
  }
  return OwnedFd(fd);
}

namespace {

/// Gives the bytes of a file one after the other, libmpg's lines left out.
class OutputReader {
public:
  OutputReader(int fd, bool withoutLibmpg)
      : fd(fd), withoutLibmpg(withoutLibmpg) {}
  /// At least one more byte in \p block; false at the end.
  bool next(SmallVectorImpl<char> &block);

private:
  void filter(StringRef bytes, SmallVectorImpl<char> &block);
  void appendByte(char byte, SmallVectorImpl<char> &block);

  int fd;
  bool withoutLibmpg;
  off_t at = 0;
  /// The beginning of a line, held back until it is known whose line it is.
  std::string held;
  enum { lineStart, ownLine, otherLine } state = lineStart;
  bool isAtEnd = false;
};

} // namespace

/// How lines of libmpg begin; the second is the vendor's form.
static constexpr StringLiteral libmpgLines[] = {"mpg: ", "[WARN] xos LPG "};

void OutputReader::appendByte(char byte, SmallVectorImpl<char> &block) {
  if (state == lineStart) {
    held.push_back(byte);
    if (is_contained(libmpgLines, held)) {
      held.clear();
      state = ownLine;
    } else if (none_of(libmpgLines, [&](StringRef line) {
                 return line.starts_with(held);
               })) {
      block.append(held.begin(), held.end());
      held.clear();
      state = otherLine;
    }
  } else if (state == otherLine) {
    block.push_back(byte);
  }
  if (byte == '\n')
    state = lineStart;
}

bool OutputReader::next(SmallVectorImpl<char> &block) {
  block.clear();
  static constexpr size_t blockBytes = 1 << 16;
  SmallVector<char, 0> bytes(blockBytes);
  while (block.empty() && !isAtEnd) {
    ssize_t count = pread(fd, bytes.data(), blockBytes, at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      isAtEnd = true;
      block.append(held.begin(), held.end()); // the line never went on
      break;
    }
    at += count;
    if (!withoutLibmpg)
      block.append(bytes.begin(), bytes.begin() + count);
    else
      for (char byte : ArrayRef(bytes.data(), size_t(count)))
        appendByte(byte, block);
  }
  return !block.empty();
}

std::string mpg::digestOutput(int fd, bool withoutLibmpg) {
  OutputReader reader(fd, withoutLibmpg);
  SmallVector<char, 0> block;
  SHA256 hash;
  while (reader.next(block))
    hash.update(StringRef(block.data(), block.size()));
  return toHex(hash.final(), /*LowerCase=*/true);
}

std::optional<uint64_t> mpg::firstDifference(int one, int other,
                                             bool withoutLibmpg) {
  OutputReader left(one, withoutLibmpg), right(other, withoutLibmpg);
  SmallVector<char, 0> leftBlock, rightBlock;
  size_t leftAt = 0, rightAt = 0;
  for (uint64_t place = 1;; ++place) {
    if (leftAt == leftBlock.size()) {
      left.next(leftBlock);
      leftAt = 0;
    }
    if (rightAt == rightBlock.size()) {
      right.next(rightBlock);
      rightAt = 0;
    }
    if (leftBlock.empty() && rightBlock.empty())
      return std::nullopt;
    if (leftBlock.empty() || rightBlock.empty() ||
        leftBlock[leftAt++] != rightBlock[rightAt++])
      return place;
  }
}

void mpg::forEachLine(int fd, bool withoutLibmpg,
                      function_ref<void(StringRef)> visit) {
  static constexpr size_t maxBytes = 1 << 16;
  OutputReader reader(fd, withoutLibmpg);
  SmallVector<char, 0> block;
  std::string line;
  while (reader.next(block))
    for (char byte : block) {
      if (byte == '\n' || byte == '\r') {
        visit(line);
        line.clear();
      } else if (line.size() < maxBytes) {
        line.push_back(byte);
      }
    }
  visit(line);
}

std::string mpg::lastLines(int fd, unsigned lines) {
  static constexpr off_t tailBytes = 4096;
  off_t end = lseek(fd, 0, SEEK_END);
  std::string tail(tailBytes, '\0');
  ssize_t count = pread(fd, tail.data(), tail.size(),
                        end > tailBytes ? end - tailBytes : 0);
  StringRef text = StringRef(tail).take_front(count < 0 ? 0 : size_t(count));
  text = text.rtrim();
  size_t from = text.size();
  for (unsigned line = 0; line < lines && from != StringRef::npos; ++line)
    from = text.rfind('\n', from);
  return text.substr(from == StringRef::npos ? 0 : from + 1).str();
}

// The program's own number. The expressions are POSIX's extended ones, as grep
// -E has them. There "\d" is the letter d: such a one would match nothing, or
// something else, so it is refused and not taken for what it is elsewhere.

/// An escape without a meaning in an extended expression, and its replacement.
static std::string findForeignEscape(StringRef regex) {
  for (size_t at = 0; at + 1 < regex.size(); ++at) {
    if (regex[at] != '\\')
      continue;
    char letter = regex[++at];
    if (isAlpha(letter))
      return std::string("\\") + letter +
             " is the letter alone in a regular expression of grep -E; write "
             "[0-9] for \\d, [[:space:]] for \\s, [[:alnum:]_] for \\w";
  }
  return "";
}

std::optional<Metric> mpg::parseMetric(StringRef text, std::string &error) {
  Metric metric;
  metric.isMoreBetter = text.consume_front("more:");
  if (!metric.isMoreBetter)
    text.consume_front("less:");
  metric.regex = text.str();
  Regex regex(text);
  error = findForeignEscape(text);
  std::string reason;
  if (error.empty() && text.empty())
    error = "there is no regular expression";
  else if (error.empty() && !regex.isValid(reason))
    error = "the regular expression is not understood: " + reason;
  else if (error.empty() && regex.getNumMatches() != 1)
    error =
        (regex.getNumMatches() == 0
             ? "it has no group"
             : "it has " + std::to_string(regex.getNumMatches()) + " groups") +
        "; put ( ) around the number and nowhere else, such as "
        "'time: ([0-9.]+)'";
  if (!error.empty())
    return std::nullopt;
  return metric;
}

/// Fortran writes 0.125D+02, too.
static std::optional<double> readDecimal(StringRef text) {
  std::string plain = text.trim().str();
  std::replace(plain.begin(), plain.end(), 'D', 'e');
  std::replace(plain.begin(), plain.end(), 'd', 'e');
  double value;
  // Other numbers that strtod accepts are not measurements.
  if (plain.find_first_not_of("0123456789.eE+-") != std::string::npos ||
      StringRef(plain).getAsDouble(value) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

MetricReading mpg::readMetric(const Metric &metric, int output, int messages) {
  Regex regex(metric.regex);
  std::optional<std::string> found;
  auto inspect = [&](StringRef line) {
    SmallVector<StringRef, 2> matches;
    if (regex.match(line, &matches))
      found = matches[1].str();
  };
  forEachLine(output, /*withoutLibmpg=*/false, inspect);
  if (!found)
    forEachLine(messages, /*withoutLibmpg=*/true, inspect);
  MetricReading reading;
  if (!found) {
    reading.problem = "no line of its output matches --metric";
    return reading;
  }
  reading.text = StringRef(*found).trim().str();
  std::optional<double> value = readDecimal(reading.text);
  if (!value)
    reading.problem = "'" + reading.text +
                      "', which --metric found in its "
                      "output, is not a number";
  else if (*value <= 0)
    reading.problem = "the number that --metric found in its output is " +
                      reading.text + "; only numbers above 0 have a ratio";
  else
    reading.value = *value;
  return reading;
}
