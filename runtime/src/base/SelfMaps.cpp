// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads /proc/self/maps and small files of /proc and /sys. All of it is on the
// stack and through raw system calls, because it runs before main, where
// stdio may not be there yet and malloc may be ours.

#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

using namespace mpg;

static int openForReading(const char *path) {
  return int(rawCall(SYS_openat, AT_FDCWD, long(path), O_RDONLY | O_CLOEXEC));
}

static long readSome(int fd, char *buffer, size_t bytes) {
  long got;
  do
    got = rawCall(SYS_read, fd, long(buffer), long(bytes));
  while (got == -4); // EINTR
  return got;
}

LineReader::LineReader(const char *path) : fd(openForReading(path)) {}

LineReader::~LineReader() {
  if (fd >= 0)
    rawCall(SYS_close, fd);
}

/// Moves the unread rest to the front and reads more after it.
bool LineReader::fill() {
  if (fd < 0)
    return false;
  memmove(buffer, buffer + at, used - at);
  used -= at;
  at = 0;
  long got = readSome(fd, buffer + used, sizeof buffer - 1 - used);
  if (got <= 0)
    return false;
  used += size_t(got);
  return true;
}

const char *LineReader::next() {
  for (;;) {
    char *start = buffer + at;
    char *newline = static_cast<char *>(memchr(start, '\n', used - at));
    if (newline) {
      *newline = 0;
      at = size_t(newline + 1 - buffer);
      return start;
    }
    bool isFull = at == 0 && used == sizeof buffer - 1;
    if (!isFull && fill())
      continue;
    if (at == used)
      return nullptr;
    // The last line without a newline, or a part of a very long one.
    buffer[used] = 0;
    start = buffer + at;
    at = used = 0;
    return start;
  }
}

bool mpg::parseSize(const char *line, const char *name, uint64_t &bytes) {
  size_t length = strlen(name);
  if (strncmp(line, name, length) != 0)
    return false;
  line += length;
  while (*line == ' ' || *line == '\t')
    ++line;
  uint64_t kib = 0;
  bool isNumber = parseNumber(line, 10, kib);
  bytes = kib << 10;
  return isNumber;
}

bool mpg::readMemoryInfo(const char *name, uint64_t &bytes) {
  LineReader lines("/proc/meminfo");
  while (const char *line = lines.next())
    if (parseSize(line, name, bytes))
      return true;
  return false;
}

bool mpg::parseNumber(const char *&text, unsigned base, uint64_t &value) {
  const char *start = text;
  value = 0;
  for (;; ++text) {
    unsigned digit = base;
    if (*text >= '0' && *text <= '9')
      digit = unsigned(*text - '0');
    else if (*text >= 'a' && *text <= 'f')
      digit = unsigned(*text - 'a') + 10;
    if (digit >= base)
      return text != start;
    value = value * base + digit;
  }
}

const char *mpg::fieldAt(const char *line, int number) {
  for (; line && number > 0; --number) {
    line = strchr(line, ' ');
    line = line ? line + 1 : nullptr;
  }
  return line;
}

/// Moves \p text after the character if it is there.
static bool skip(const char *&text, char expected) {
  bool found = *text == expected;
  text += found ? 1 : 0;
  return found;
}

// 55d0c8a00000-55d0c8a28000 rw-p 00002000 fe:01 1234     /usr/bin/bash
bool mpg::parseMapping(const char *line, Mapping &mapping) {
  uint64_t start, end, ignored;
  if (!parseNumber(line, 16, start) || !skip(line, '-') ||
      !parseNumber(line, 16, end) || !skip(line, ' ') || strlen(line) < 5)
    return false;
  mapping.range = {uintptr_t(start), uintptr_t(end)};
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  mapping.shared = line[3] == 's';
  line += 5;
  if (!parseNumber(line, 16, ignored)) // offset
    return false;
  skip(line, ' ');
  while (*line && *line != ' ') // device
    ++line;
  skip(line, ' ');
  if (!parseNumber(line, 10, mapping.inode))
    return false;
  while (*line == ' ')
    ++line;
  size_t length = strnlen(line, sizeof mapping.name - 1);
  memcpy(mapping.name, line, length);
  mapping.name[length] = 0;
  return true;
}

bool SelfMaps::next(Mapping &mapping) {
  // Lines that do not parse are the rest of a line that was too long.
  while (const char *line = lines.next())
    if (parseMapping(line, mapping))
      return true;
  return false;
}

size_t mpg::countMappings(size_t max) {
  LineReader lines("/proc/self/maps");
  size_t count = 0;
  while (count < max && lines.next())
    ++count;
  return count;
}

namespace {

/// The request of Linux 6.11 for one mapping, without the text of all others.
struct MapQuery {
  uint64_t bytes = sizeof(MapQuery);
  uint64_t queryFlags = 0; ///< the mapping that holds the address, of any kind
  uint64_t address;
  uint64_t start = 0, end = 0, flags = 0, pageBytes = 0, offset = 0, inode = 0;
  uint32_t majorDevice = 0, minorDevice = 0;
  uint32_t nameBytes, buildIdBytes = 0; ///< of the name with its zero
  uint64_t name, buildId = 0;
};

} // namespace

/// False: there is none, the kernel is older, or the name does not fit.
static bool queryMapping(uintptr_t address, Mapping &mapping) {
  constexpr unsigned long request = 0xc0686611; // PROCMAP_QUERY
  static_assert(sizeof(MapQuery) == 104, "a part of the request");
  int fd = openForReading("/proc/self/maps");
  if (fd < 0)
    return false;
  mapping.name[0] = '\0';
  MapQuery query;
  query.address = address;
  query.name = uintptr_t(mapping.name);
  query.nameBytes = sizeof mapping.name;
  bool isFound = !isError(rawCall(SYS_ioctl, fd, request, long(&query)));
  rawCall(SYS_close, fd);
  mapping.range = {uintptr_t(query.start), uintptr_t(query.end)};
  mapping.readable = query.flags & 1;
  mapping.writable = query.flags & 2;
  mapping.executable = query.flags & 4;
  mapping.shared = query.flags & 8;
  mapping.inode = query.inode;
  // An emulator's answer is about its own memory, or none.
  return isFound && mapping.range.contains(address);
}

bool mpg::findMapping(uintptr_t address, Mapping &mapping) {
  if (queryMapping(address, mapping))
    return true;
  SelfMaps maps;
  while (maps.next(mapping))
    if (mapping.range.contains(address))
      return true;
  return false;
}

NumberedEntries::NumberedEntries(const char *path)
    : fd(int(rawCall(SYS_openat, AT_FDCWD, long(path),
                     O_RDONLY | O_DIRECTORY | O_CLOEXEC))) {
  used = fd < 0 ? fd : 0;
}

NumberedEntries::~NumberedEntries() {
  if (fd >= 0)
    rawCall(SYS_close, fd);
}

bool NumberedEntries::next(uint64_t &number) {
  // An entry: inode and offset of 8 bytes each, length of 2, type of 1, name.
  constexpr long lengthAt = 16, nameAt = 19;
  while (used >= 0) {
    if (at >= used) {
      used = rawCall(SYS_getdents64, fd, long(buffer), sizeof buffer);
      at = 0;
      if (used <= 0)
        return false;
    }
    uint16_t length;
    memcpy(&length, buffer + at + lengthAt, sizeof length);
    const char *name = buffer + at + nameAt;
    at += length;
    if (parseNumber(name, 10, number))
      return true;
  }
  return false;
}

bool mpg::exists(const char *path) {
  return !isError(rawCall(SYS_faccessat, AT_FDCWD, long(path), F_OK));
}

long mpg::readSmallFile(const char *path, char *buffer, size_t capacity) {
  int fd = openForReading(path);
  if (fd < 0)
    return fd;
  size_t used = 0;
  long got = 0;
  while (used < capacity - 1) {
    got = readSome(fd, buffer + used, capacity - 1 - used);
    if (got <= 0)
      break;
    used += size_t(got);
  }
  rawCall(SYS_close, fd);
  buffer[used] = 0;
  return got < 0 ? got : long(used);
}

uint64_t mpg::readNumber(const char *path, uint64_t otherwise) {
  char text[32];
  const char *at = text;
  uint64_t value;
  if (readSmallFile(path, text, sizeof text) <= 0 ||
      !parseNumber(at, 10, value))
    return otherwise;
  return value;
}

uint32_t mpg::threadId() {
  long id = rawCall(SYS_gettid);
  if (!isError(id))
    return uint32_t(id);
  char link[64]; // PID/task/ID
  long length = rawCall(SYS_readlinkat, AT_FDCWD, long("/proc/thread-self"),
                        long(link), sizeof link - 1);
  link[isError(length) ? 0 : length] = 0;
  const char *name = strrchr(link, '/');
  uint64_t number = 0;
  return name && parseNumber(++name, 10, number) ? uint32_t(number) : 0;
}

bool mpg::parseCpuList(const char *text, cpu_set_t &cpus) {
  CPU_ZERO(&cpus);
  while (*text && *text != '\n') {
    uint64_t first, last;
    if (!parseNumber(text, 10, first))
      return false;
    last = first;
    if (*text == '-' && !parseNumber(++text, 10, last))
      return false;
    if (last < first || last >= CPU_SETSIZE)
      return false;
    for (uint64_t cpu = first; cpu <= last; ++cpu)
      CPU_SET(cpu, &cpus);
    if (*text == ',' && text[1] >= '0' && text[1] <= '9')
      ++text;
    else if (*text && *text != '\n')
      return false;
  }
  return true;
}

bool mpg::readCpuList(const char *path, cpu_set_t &cpus) {
  char text[4096];
  return readSmallFile(path, text, sizeof(text)) >= 0 &&
         parseCpuList(text, cpus);
}

unsigned mpg::threadCount() {
  // The folder of a single thread has three links: that takes a fifth of the
  // time that the kernel needs to write the file.
  struct stat folder = {};
  if (!isError(rawCall(SYS_newfstatat, AT_FDCWD, long("/proc/self/task"),
                       long(&folder), 0)) &&
      folder.st_nlink == 3)
    return 1;
  // The 20th field; the second is a name in parentheses with anything in it.
  // Not "Threads:" of /proc/self/status: user-mode emulators pass that file
  // through and it counts the emulator's own threads. They make up this one,
  // with a zero here.
  char text[1024];
  if (readSmallFile("/proc/self/stat", text, sizeof text) <= 0)
    return 1;
  const char *at = strrchr(text, ')');
  for (int field = 2; at && field < 20; ++field)
    at = strchr(at + 1, ' ');
  uint64_t count = 0;
  if (at && skip(at, ' '))
    parseNumber(at, 10, count);
  return count ? unsigned(count) : 1;
}

uint64_t mpg::poolBytesInUse() {
  LineReader lines("/proc/self/status");
  uint64_t bytes = 0;
  while (const char *line = lines.next())
    if (parseSize(line, "HugetlbPages:", bytes))
      return bytes;
  return 0;
}

uint64_t mpg::bytesInUse() {
  LineReader lines("/proc/self/status");
  uint64_t resident = 0, pool = 0;
  while (const char *line = lines.next())
    if (parseSize(line, "HugetlbPages:", pool))
      break;
    else
      parseSize(line, "VmRSS:", resident);
  return resident + pool;
}

/// For a mapping partly in the range, a count is at most that part's size.
RangeUse mpg::readUse(Range range) {
  LineReader lines("/proc/self/smaps");
  Mapping mapping;
  RangeUse use;
  uint64_t overlap = 0;
  auto add = [&](uint64_t &sum, const char *line, const char *name) {
    uint64_t bytes = 0;
    if (parseSize(line, name, bytes))
      sum += bytes < overlap ? bytes : overlap;
  };
  while (const char *line = lines.next()) {
    if (parseMapping(line, mapping)) {
      uintptr_t start =
          mapping.range.start > range.start ? mapping.range.start : range.start;
      uintptr_t end =
          mapping.range.end < range.end ? mapping.range.end : range.end;
      overlap = Range{start, end}.bytes();
      continue;
    }
    if (!overlap)
      continue;
    add(use.bytes, line, "Rss:"); // without pages of the pool
    add(use.thpBytes, line, "AnonHugePages:");
    add(use.poolBytes, line, "Private_Hugetlb:");
    add(use.poolBytes, line, "Shared_Hugetlb:");
  }
  use.bytes += use.poolBytes;
  return use;
}
