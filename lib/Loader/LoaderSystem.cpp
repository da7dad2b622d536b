// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that the loader is set up by: ld.so.cache, in the format of glibc
// 2.2 and later, alone or after the old one, with the glibc-hwcaps names of
// glibc 2.33; ld.so.conf with what it includes, and ld.so.preload. Damaged
// entries are skipped.

#include "Loader/LoaderSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <fcntl.h>
#include <glob.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// How early an entry is chosen: 0 is the best of \p hwcaps, then come those of
/// old folders, in their order, and an entry without hwcap comes last. Nothing:
/// not for this processor.
std::optional<size_t> CacheFile::findRank(uint64_t hwcap,
                                          ArrayRef<std::string> hwcaps,
                                          uint64_t legacyMask) const {
  if (hwcap == 0)
    return hwcaps.size() + 1;
  if (!(hwcap & namedHwcap) && !(hwcap & ~legacyMask))
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
                                         ArrayRef<std::string> hwcaps,
                                         uint64_t legacyMask) const {
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
  size_t bestRank = hwcaps.size() + 2;
  // The kind of library that ldconfig writes for the machine.
  const uint32_t flags = machine == Machine::aarch64 ? 0x0a03 : 0x0303;
  for (; low < count; ++low) {
    Entry entry = entryAt(low);
    std::optional<StringRef> key = stringAt(entry.key);
    if (!key || compareCacheNames(name, *key) != 0)
      break;
    std::optional<size_t> rank = findRank(entry.hwcap, hwcaps, legacyMask);
    if (entry.flags != flags || !rank || *rank >= bestRank)
      continue;
    if (std::optional<StringRef> path = stringAt(entry.value)) {
      best = path;
      bestRank = *rank;
    }
  }
  return best;
}

/// The digits that \p text begins with, without leading zeros, taken off it.
static StringRef consumeNumber(StringRef &text) {
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
      StringRef leftNumber = consumeNumber(left),
                rightNumber = consumeNumber(right);
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

std::optional<std::string> mpg::readWholeFile(const std::string &path,
                                              uint64_t limitBytes) {
  int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return std::nullopt;
  std::optional<std::string> content;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
      uint64_t(status.st_size) <= limitBytes) {
    content.emplace(size_t(status.st_size), '\0');
    size_t done = 0;
    while (done < content->size()) {
      ssize_t got =
          pread(fd, &(*content)[done], content->size() - done, off_t(done));
      if (got <= 0)
        break;
      done += size_t(got);
    }
    content->resize(done);
  }
  close(fd);
  return content;
}

static StringRef withoutComment(StringRef line) {
  return line.take_until([](char c) { return c == '#'; });
}

namespace {

/// Files that include each other, or everything, come to an end.
constexpr unsigned maxDepth = 10;
constexpr unsigned maxFiles = 1000;
constexpr uint64_t maxConfigBytes = 1 << 20;

class ConfigReader {
public:
  using Visit = function_ref<void(StringRef, StringRef, unsigned)>;
  ConfigReader(const std::string &sysroot, Visit visit)
      : sysroot(sysroot), visit(visit) {}

  void read(const std::string &path, unsigned depth) {
    if (depth > maxDepth || ++files > maxFiles)
      return;
    std::optional<std::string> content = readWholeFile(path, maxConfigBytes);
    StringRef rest = content ? StringRef(*content) : "";
    visit("", path, 0);
    for (unsigned number = 1; !rest.empty(); ++number) {
      StringRef line;
      std::tie(line, rest) = rest.split('\n');
      readLine(withoutComment(line).trim(), path, number, depth);
    }
  }

private:
  void readLine(StringRef line, const std::string &path, unsigned number,
                unsigned depth) {
    if (!line.consume_front("include ") && !line.consume_front("include\t"))
      return visit(line, path, number);
    for (const std::string &pattern : splitNames(line, " \t"))
      include(pattern, path, depth);
    visit("", path, 0);
  }

  /// A relative pattern counts from the folder of the file that has it.
  void include(StringRef pattern, const std::string &from, unsigned depth) {
    std::string escaped;
    StringRef base =
        pattern.starts_with("/") ? StringRef(sysroot) : getFolder(from);
    for (char c : base) {
      if (StringRef("*?[\\").contains(c))
        escaped += '\\';
      escaped += c;
    }
    if (!pattern.starts_with("/"))
      escaped += '/';
    glob_t found;
    if (glob((escaped + pattern.str()).c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i)
        read(found.gl_pathv[i], depth + 1);
      globfree(&found);
    }
  }

  const std::string &sysroot;
  Visit visit;
  unsigned files = 0;
};

} // namespace

void mpg::readConfigLines(
    const std::string &sysroot, StringRef path,
    function_ref<void(StringRef, StringRef, unsigned)> visit) {
  ConfigReader(sysroot, visit).read(sysroot + path.str(), 0);
}

std::vector<std::string> mpg::readLoaderConfig(const std::string &sysroot) {
  std::vector<std::string> folders;
  auto addFolder = [&](StringRef line, StringRef, unsigned) {
    // "hwcap 1 nosegneg" is a line of old systems; "=libc6" after a folder is
    // a kind of library that ldconfig no longer asks for.
    StringRef folder = line.take_front(line.find('=')).rtrim("/ \t");
    if (!folder.starts_with("/") || folder.size() > maxPathBytes)
      return;
    std::string rooted = sysroot + folder.str();
    if (!is_contained(folders, rooted))
      folders.push_back(std::move(rooted));
  };
  readConfigLines(sysroot, "/etc/ld.so.conf", addFolder);
  return folders;
}

std::vector<std::string> mpg::readPreloadFile(const std::string &sysroot) {
  std::string content =
      readWholeFile(sysroot + "/etc/ld.so.preload", maxConfigBytes)
          .value_or("");
  std::vector<std::string> names;
  for (StringRef line : split(content, '\n'))
    for (std::string &name : splitNames(withoutComment(line), " \t:"))
      names.push_back(std::move(name));
  return names;
}

std::vector<std::string> mpg::splitNames(StringRef text, StringRef separators) {
  std::vector<std::string> names;
  for (text = text.ltrim(separators); !text.empty();
       text = text.ltrim(separators)) {
    StringRef name = text.take_front(text.find_first_of(separators));
    text = text.drop_front(name.size());
    names.push_back(name.str());
  }
  return names;
}

/// A cache of a large installation has some megabytes.
static constexpr uint64_t maxCacheBytes = 64 << 20;
static constexpr uint64_t maxTextBytes = 1 << 20;

static bool isFolder(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

static bool isLink(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

bool LoaderSystem::runsHere(Machine machine) {
#if defined(__x86_64__)
  return machine == Machine::x86_64;
#elif defined(__aarch64__)
  return machine == Machine::aarch64;
#else
  (void)machine;
  return false;
#endif
}

#if defined(__x86_64__)
// gcc knows the levels by name from version 11 on, clang from 18 on. Before, it
// is asked for the features of each that came last.
#if __clang_major__ >= 18 || (!defined(__clang__) && __GNUC__ >= 11)
static bool hasLevel2() { return __builtin_cpu_supports("x86-64-v2"); }
static bool hasLevel3() { return __builtin_cpu_supports("x86-64-v3"); }
static bool hasLevel4() { return __builtin_cpu_supports("x86-64-v4"); }
#else
static bool hasLevel2() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}
static bool hasLevel3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}
static bool hasLevel4() {
  return __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif
#endif

/// The glibc-hwcaps folders for this processor, the best one first. AArch64 has
/// none.
static std::vector<std::string> usableHwcaps() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (hasLevel4())
    found.push_back("x86-64-v4");
  if (hasLevel3())
    found.push_back("x86-64-v3");
  if (hasLevel2())
    found.push_back("x86-64-v2");
#endif
  return found;
}

/// The words of glibc before 2.37 for this processor, and the bits of it in the
/// cache. The folders are all subsets of these words, the largest first.
struct LegacyProcessor {
  std::vector<std::string> words = {"tls"};
  uint64_t mask = uint64_t(1) << 63; ///< tls
};

static LegacyProcessor legacyProcessor(Machine machine, bool native) {
  LegacyProcessor result;
  if (machine == Machine::aarch64) {
    constexpr uint64_t atomics = 1 << 8; // HWCAP_ATOMICS: Armv8.1, A64FX
    if (!native || (getauxval(AT_HWCAP) & atomics)) {
      result.words.insert(result.words.end(), {"aarch64", "atomics"});
      result.mask |= atomics;
    } else {
      result.words.push_back("aarch64");
    }
    return result;
  }
  std::string platform = "x86_64";
  result.mask |= 1 << 1; // HWCAP_X86_64
#if defined(__x86_64__)
  if (native && __builtin_cpu_is("intel") && hasLevel3()) {
    platform = "haswell";
    result.mask |= uint64_t(1) << 50;
  }
  result.words.push_back(platform);
  if (platform == "haswell" && hasLevel4()) {
    result.words.push_back("avx512_1");
    result.mask |= 1 << 2;
  }
#else
  result.words.push_back(platform);
#endif
  result.words.push_back("x86_64");
  return result;
}

/// "tls/x86_64/x86_64", "tls/x86_64", "tls", ...: each once.
static std::vector<std::string> listFolders(ArrayRef<std::string> words) {
  std::vector<std::string> folders;
  for (unsigned subset = (1u << words.size()) - 1; subset; --subset) {
    std::string folder;
    for (size_t i = 0; i < words.size(); ++i)
      if (subset & (1u << (words.size() - 1 - i)))
        folder += (folder.empty() ? "" : "/") + words[i];
    if (!is_contained(folders, folder))
      folders.push_back(std::move(folder));
  }
  return folders;
}

static std::string platformHere() {
  const char *text = reinterpret_cast<const char *>(getauxval(AT_PLATFORM));
  return text ? text : "";
}

/// What $LIB means, which is also where the loader looks by default.
static std::string libFolder(const std::string &sysroot, StringRef triplet) {
  std::string multiarch = "lib/" + triplet.str();
  if (isFolder(sysroot + "/" + multiarch) ||
      isFolder(sysroot + "/usr/" + multiarch))
    return multiarch;
  std::string lib64 = sysroot + "/usr/lib64";
  return isFolder(lib64) && !isLink(lib64) ? "lib64" : "lib";
}

static std::vector<std::string> readMuslFolders(const std::string &sysroot,
                                                StringRef machine) {
  std::optional<std::string> text = readWholeFile(
      sysroot + "/etc/ld-musl-" + machine.str() + ".path", maxTextBytes);
  std::vector<std::string> folders;
  for (const std::string &name :
       splitNames(text.value_or("/lib:/usr/local/lib:/usr/lib"), ":\n"))
    folders.push_back(sysroot + name);
  return folders;
}

LoaderSystem::LoaderSystem(const std::string &sysroot, Machine machine) {
  bool arm = machine == Machine::aarch64;
  std::string architecture = arm ? "aarch64" : "x86_64";
  bool native = sysroot.empty() && runsHere(machine);
  words.sysroot = sysroot;
  words.lib = libFolder(sysroot, architecture + "-linux-gnu");
  words.platform = native ? platformHere() : architecture;
  interpreter = sysroot + (arm ? "/lib/ld-linux-aarch64.so.1"
                               : "/lib64/ld-linux-x86-64.so.2");
  if (native)
    hwcaps = usableHwcaps();
  LegacyProcessor legacy = legacyProcessor(machine, native);
  legacyFolders = listFolders(legacy.words);
  legacyMask = legacy.mask;
  if (sysroot.empty())
    if (std::optional<std::string> bytes =
            readWholeFile("/etc/ld.so.cache", maxCacheBytes))
      cache = CacheFile(std::move(*bytes));
  if (!cache.usable())
    configured = readLoaderConfig(sysroot);
  defaults = {sysroot + "/" + words.lib, sysroot + "/usr/" + words.lib};
  if (StringRef(words.lib).starts_with("lib/"))
    defaults.insert(defaults.end(), {sysroot + "/lib", sysroot + "/usr/lib"});
  preloads = readPreloadFile(sysroot);
  muslFolders = readMuslFolders(sysroot, architecture);
}
