// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loader/CacheFile.h"
#include "Loader/SearchPath.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

// The old format: a magic of 11 bytes, a count, entries of 12 bytes. The new
// one begins at the next multiple of 8 and has a header of 48 bytes: magic and
// version (20), count, bytes of strings, byte order (1 + 3 unused), offset of
// the extensions, 12 unused. Its entries have 24 bytes: flags, key, value,
// version of the system, hwcap (8).
static constexpr StringRef oldMagic = "ld.so-1.7.0";
static constexpr StringRef newMagic = "glibc-ld.so.cache1.1";
static constexpr uint64_t oldHeaderBytes = 16, oldEntryBytes = 12;
static constexpr uint64_t headerBytes = 48, entryBytes = 24;
static constexpr uint64_t countAt = 20, byteOrderAt = 28, extensionsAt = 32;
static constexpr uint32_t extensionMagic = 0xeaa42174;
static constexpr uint32_t hwcapsExtension = 1;
/// An entry's hwcap has this bit when its low half is the number of a name.
static constexpr uint64_t namedHwcap = uint64_t(1) << 62;

struct CacheFile::Entry {
  uint32_t flags, key, value;
  uint64_t hwcap;
};

/// What ldconfig writes as kind of library for \p machine.
static uint32_t flagsOf(Machine machine) {
  return machine == Machine::aarch64 ? 0x0a03 : 0x0303;
}

CacheFile::CacheFile(std::string content) : bytes(std::move(content)) {
  uint64_t size = bytes.size();
  if (StringRef(bytes).starts_with(oldMagic) && size >= oldHeaderBytes) {
    uint64_t end = oldHeaderBytes + oldEntryBytes * word(12);
    start = (end + 7) & ~uint64_t(7);
  }
  if (start > size || size - start < headerBytes ||
      !StringRef(bytes).substr(start).starts_with(newMagic))
    return;
  // 0: written before the field had a meaning; 2: little endian.
  uint8_t byteOrder = uint8_t(bytes[start + byteOrderAt]) & 3;
  if (byteOrder != 0 && byteOrder != 2)
    return;
  uint64_t declared = word(start + countAt);
  if (declared > (size - start - headerBytes) / entryBytes)
    return;
  count = declared;
  if (uint32_t offset = word(start + extensionsAt))
    readHwcapNames(start + offset);
}

/// pre: the word lies in the file.
uint32_t CacheFile::word(uint64_t offset) const {
  return support::endian::read32le(bytes.data() + offset);
}

std::optional<StringRef> CacheFile::stringAt(uint64_t offset) const {
  // Neither a name nor a path is longer; what has no end is not walked.
  StringRef rest =
      StringRef(bytes).substr(start).substr(offset, maxPathBytes + 1);
  size_t end = rest.find('\0');
  if (end == StringRef::npos)
    return std::nullopt;
  return rest.take_front(end);
}

/// \p offset is that of the table of extensions.
void CacheFile::readHwcapNames(uint64_t offset) {
  uint64_t size = bytes.size();
  if (offset > size || size - offset < 8 || word(offset) != extensionMagic)
    return;
  uint64_t sections = std::min<uint64_t>(word(offset + 4), 64);
  for (uint64_t i = 0; i < sections; ++i) {
    uint64_t section = offset + 8 + 16 * i;
    if (section > size || size - section < 16)
      return;
    uint64_t at = start + word(section + 8), length = word(section + 12);
    if (word(section) != hwcapsExtension || at > size || length > size - at)
      continue;
    for (uint64_t name = 0; name + 4 <= length; name += 4)
      hwcapNames.push_back(stringAt(word(at + name)).value_or(""));
    return;
  }
}

CacheFile::Entry CacheFile::entryAt(uint64_t index) const {
  uint64_t at = start + headerBytes + index * entryBytes;
  return {word(at), word(at + 4), word(at + 8),
          support::endian::read64le(bytes.data() + at + 16)};
}

/// How early an entry is chosen: 0 is the best of \p hwcaps, and an entry
/// without hwcap comes last. Nothing: not for this processor. The numbers that
/// older versions of ldconfig wrote for processors are not understood here.
std::optional<size_t> CacheFile::rankOf(uint64_t hwcap,
                                        ArrayRef<std::string> hwcaps) const {
  if (hwcap == 0)
    return hwcaps.size();
  uint64_t number = hwcap & UINT32_MAX;
  if (!(hwcap & namedHwcap) || number >= hwcapNames.size())
    return std::nullopt;
  const std::string *found =
      std::find(hwcaps.begin(), hwcaps.end(), hwcapNames[number]);
  if (found == hwcaps.end())
    return std::nullopt;
  return size_t(found - hwcaps.begin());
}

std::optional<StringRef> CacheFile::find(StringRef name, Machine machine,
                                         ArrayRef<std::string> hwcaps) const {
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    std::optional<StringRef> key = stringAt(entryAt(middle).key);
    if (!key)
      return std::nullopt;
    if (compareCacheNames(name, *key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  std::optional<StringRef> best;
  size_t bestRank = hwcaps.size() + 1;
  for (; low < count; ++low) {
    Entry entry = entryAt(low);
    std::optional<StringRef> key = stringAt(entry.key);
    if (!key || compareCacheNames(name, *key) != 0)
      break;
    std::optional<size_t> rank = rankOf(entry.hwcap, hwcaps);
    if (entry.flags != flagsOf(machine) || !rank || *rank >= bestRank)
      continue;
    if (std::optional<StringRef> path = stringAt(entry.value)) {
      best = path;
      bestRank = *rank;
    }
  }
  return best;
}

/// The digits that \p text begins with, without leading zeros, taken off it.
static StringRef takeNumber(StringRef &text) {
  StringRef digits = text.take_while(isDigit);
  text = text.drop_front(digits.size());
  return digits.ltrim('0');
}

static int sign(bool less) { return less ? -1 : 1; }

int mpg::compareCacheNames(StringRef left, StringRef right) {
  while (!left.empty() && !right.empty()) {
    bool leftDigit = isDigit(left[0]), rightDigit = isDigit(right[0]);
    if (leftDigit != rightDigit)
      return sign(rightDigit);
    if (leftDigit) {
      StringRef leftNumber = takeNumber(left), rightNumber = takeNumber(right);
      if (leftNumber.size() != rightNumber.size())
        return sign(leftNumber.size() < rightNumber.size());
      if (int order = leftNumber.compare(rightNumber))
        return order;
      continue;
    }
    // As the loader compares: char, which is signed on x86-64 alone. Names of
    // libraries are ASCII, where that makes no difference.
    if (left[0] != right[0])
      return sign(uint8_t(left[0]) < uint8_t(right[0]));
    left = left.drop_front();
    right = right.drop_front();
  }
  return int(!left.empty()) - int(!right.empty());
}
