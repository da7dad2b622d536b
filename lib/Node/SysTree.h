// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads /proc and /sys below a folder that is "/" on the live machine and
// anything else for a copy that was saved on another node, or made by a test. A
// file that cannot be read or makes no sense never ends the program: it becomes
// a Fact without a value, with the file's name and the reason.

#pragma once

#include "Support/JsonItem.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// Something about the node, or why it is not known.
template <typename T> struct Fact {
  std::optional<T> value;
  std::string unknown; ///< "/proc/x: Permission denied"; empty with a value

  Fact() = default;
  Fact(T known) : value(std::move(known)) {}
  static Fact missing(std::string why) {
    Fact fact;
    fact.unknown = std::move(why);
    return fact;
  }
  explicit operator bool() const { return value.has_value(); }
  const T &operator*() const { return *value; }
  T valueOr(T other) const { return value ? *value : other; }
  operator JsonItem() const {
    return value ? JsonItem(*value) : JsonItem::unknown(unknown);
  }
};

/// a * b, a + b, and the largest number of JSON readers instead of a wrap:
/// files of a damaged tree may say anything.
uint64_t multiplyCapped(uint64_t a, uint64_t b);
uint64_t addCapped(uint64_t a, uint64_t b);

/// A whole decimal number of at most 2^63-1.
std::optional<uint64_t> parseNumber(llvm::StringRef text);

/// "0-3,8" as the kernel writes lists; absent for other text. Numbers of 65536
/// and more are neither nodes nor CPUs.
std::optional<std::vector<unsigned>> parseList(llvm::StringRef text);

/// The opposite: "0-3,8".
std::string formatList(const std::vector<unsigned> &numbers);

/// What \p parse makes of \p word; where that is nothing, \p problem.
template <typename T>
Fact<T> parseFact(const Fact<std::string> &word,
                  std::optional<T> (*parse)(llvm::StringRef),
                  const llvm::Twine &problem) {
  if (!word)
    return Fact<T>::missing(word.unknown);
  std::optional<T> value = parse(*word);
  return value ? Fact<T>(std::move(*value)) : Fact<T>::missing(problem.str());
}

class SysTree {
public:
  /// \p root is "/" or a folder that holds proc/, sys/, dev/ and opt/.
  explicit SysTree(llvm::StringRef root);

  /// True on the machine itself; system calls then say more than files.
  bool isLive() const { return prefix.empty(); }

  /// All paths are absolute as on the node: "/proc/meminfo".
  bool exists(const llvm::Twine &path) const;
  /// At most the first 256 KiB of a file.
  Fact<std::string> text(const llvm::Twine &path) const;
  /// The first line without the white space at its ends.
  Fact<std::string> line(const llvm::Twine &path) const;
  Fact<uint64_t> number(const llvm::Twine &path) const;
  Fact<std::vector<unsigned>> list(const llvm::Twine &path) const;
  /// The word in brackets of "always [madvise] never".
  Fact<std::string> choice(const llvm::Twine &path) const;
  /// The value after "name:" in a file such as /proc/meminfo, units included.
  Fact<std::string> field(const llvm::Twine &path, llvm::StringRef name) const;
  /// field() of the form "12 kB", in bytes.
  Fact<uint64_t> kibibytes(const llvm::Twine &path, llvm::StringRef name) const;
  /// Names in a folder, sorted; empty if the folder does not exist.
  Fact<std::vector<std::string>> names(const llvm::Twine &path) const;
  /// Numbers N of the entries "prefixN" in a folder, in order; none of one that
  /// cannot be read.
  std::vector<unsigned> numbered(const llvm::Twine &path,
                                 llvm::StringRef namePrefix) const;

private:
  std::string prefix; ///< "" for "/"
};

} // namespace mpg
