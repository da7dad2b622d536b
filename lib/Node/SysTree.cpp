// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SysTree.h.

#include "Node/SysTree.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// JSON has no larger integer that every reader takes; a saved tree may hold
/// any.
constexpr uint64_t largestNumber = INT64_MAX;

uint64_t mpg::multiplyCapped(uint64_t a, uint64_t b) {
  uint64_t product;
  bool overflow = __builtin_mul_overflow(a, b, &product);
  return overflow ? largestNumber : std::min(product, largestNumber);
}

uint64_t mpg::addCapped(uint64_t a, uint64_t b) {
  uint64_t sum;
  bool overflow = __builtin_add_overflow(a, b, &sum);
  return overflow ? largestNumber : std::min(sum, largestNumber);
}

std::optional<uint64_t> mpg::parseNumber(StringRef text) {
  uint64_t number;
  if (text.getAsInteger(10, number) || number > largestNumber)
    return std::nullopt;
  return number;
}

std::optional<std::vector<unsigned>> mpg::parseList(StringRef text) {
  constexpr unsigned limit = 65536; // "0-4294967295" would fill the memory
  std::vector<unsigned> numbers;
  SmallVector<StringRef, 16> parts;
  text.trim().split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [first, last] = part.split('-');
    unsigned from, to;
    if (first.getAsInteger(10, from))
      return std::nullopt;
    to = from;
    if (first.size() != part.size() && last.getAsInteger(10, to))
      return std::nullopt;
    // The second: "0-65535,0-65535,..." would, too.
    if (from > to || to >= limit || numbers.size() > limit)
      return std::nullopt;
    for (unsigned number = from; number <= to; ++number)
      numbers.push_back(number);
  }
  return numbers;
}

std::string mpg::formatList(const std::vector<unsigned> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i)
      text += "-" + std::to_string(numbers[last]);
    i = last;
  }
  return text;
}

SysTree::SysTree(StringRef root) : prefix(root.rtrim('/').str()) {}

/// A file's unexpected contents, short enough for a line.
static std::string quoted(StringRef text) {
  constexpr size_t longest = 40;
  std::string shown = printable(text.take_front(longest));
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

bool SysTree::exists(const Twine &path) const {
  struct stat status;
  return stat((prefix + path).str().c_str(), &status) == 0;
}

Fact<std::string> SysTree::text(const Twine &path) const {
  // More than any file that is asked for has; a damaged copy may have no end.
  constexpr size_t limitBytes = 256 << 10;
  auto fail = [&](int error) {
    return Fact<std::string>::missing((path + ": " + strerror(error)).str());
  };
  // Without O_NONBLOCK a named pipe in a damaged copy would hold us for ever.
  int file = open((prefix + path).str().c_str(),
                  O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0)
    return fail(errno);
  std::string content;
  char buffer[8192];
  int error = 0;
  while (content.size() < limitBytes) {
    ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      error = errno;
    if (count <= 0)
      break;
    content.append(buffer, size_t(count));
  }
  close(file);
  return error ? fail(error) : Fact<std::string>(std::move(content));
}

Fact<std::string> SysTree::line(const Twine &path) const {
  Fact<std::string> all = text(path);
  if (all)
    // Device tree strings end with a zero byte.
    all.value = StringRef(*all).split('\n').first.rtrim('\0').trim().str();
  return all;
}

Fact<uint64_t> SysTree::number(const Twine &path) const {
  Fact<std::string> word = line(path);
  return parseFact(word, parseNumber,
                   path + ": " + quoted(word.valueOr("")) + " is not a number");
}

Fact<std::vector<unsigned>> SysTree::list(const Twine &path) const {
  Fact<std::string> word = line(path);
  return parseFact(word, parseList,
                   path + ": " + quoted(word.valueOr("")) +
                       " is not a list of numbers");
}

Fact<std::string> SysTree::choice(const Twine &path) const {
  Fact<std::string> all = line(path);
  if (!all)
    return all;
  // "always [madvise] never": the brackets are the kernel's for what is chosen.
  StringRef word = StringRef(*all).split('[').second;
  size_t end = word.find(']');
  if (end == 0 || end == StringRef::npos)
    return Fact<std::string>::missing(
        (path + ": " + quoted(*all) + " has no word in brackets").str());
  return printable(word.take_front(end));
}

Fact<std::string> SysTree::field(const Twine &path, StringRef name) const {
  Fact<std::string> all = text(path);
  if (!all)
    return all;
  for (StringRef line : split(*all, '\n')) {
    auto [key, value] = line.split(':');
    if (key.trim() == name && key.size() != line.size())
      return value.trim().str();
  }
  return Fact<std::string>::missing((path + ": no line '" + name + ":'").str());
}

Fact<uint64_t> SysTree::kibibytes(const Twine &path, StringRef name) const {
  Fact<std::string> value = field(path, name);
  if (!value)
    return Fact<uint64_t>::missing(value.unknown);
  StringRef digits = *value;
  if (digits.consume_back(" kB"))
    if (std::optional<uint64_t> number = parseNumber(digits.trim()))
      return multiplyCapped(*number, 1024);
  return Fact<uint64_t>::missing(
      (path + ": '" + name + ": ' " + quoted(*value) + " is not a size in kB")
          .str());
}

Fact<std::vector<std::string>> SysTree::names(const Twine &path) const {
  std::vector<std::string> found;
  int error = readNames((prefix + path).str(), found);
  // A folder that is not there is an empty one.
  if (error && error != ENOENT)
    return Fact<std::vector<std::string>>::missing(
        (path + ": " + strerror(error)).str());
  llvm::erase_if(found, [](const std::string &name) { return name[0] == '.'; });
  return found;
}

std::vector<unsigned> SysTree::numbered(const Twine &path,
                                        StringRef namePrefix) const {
  std::vector<unsigned> numbers;
  for (const std::string &name : names(path).valueOr({})) {
    StringRef digits = name;
    unsigned number;
    if (digits.consume_front(namePrefix) && !digits.getAsInteger(10, number))
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}
