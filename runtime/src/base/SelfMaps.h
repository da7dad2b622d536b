// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process's own memory map, read from /proc/self/maps without allocating
// and with raw system calls only; what of it is in use; small files of /proc
// and /sys.

#pragma once

#include "base/Range.h"
#include <sched.h>
#include <stdint.h>

namespace mpg {

/// A text file line by line, through a buffer on the stack.
class LineReader {
public:
  explicit LineReader(const char *path);
  ~LineReader();
  LineReader(const LineReader &) = delete;
  LineReader &operator=(const LineReader &) = delete;
  /// The next line without its newline, or null at the end; good until the
  /// next call. A line longer than the buffer comes in parts.
  const char *next();
  bool opened() const { return fd >= 0; }

private:
  bool fill();
  int fd;
  size_t at = 0, used = 0;
  char buffer[4096 + 1];
};

struct Mapping {
  Range range;
  bool readable, writable, executable, shared;
  uint64_t inode; ///< 0: no file
  char name[96];  ///< path or "[stack]"; empty for anonymous; cut off
};

/// One line of /proc/PID/maps; false if it is not one.
bool parseMapping(const char *line, Mapping &mapping);

/// Mappings in the order of their addresses. The map may change while it is
/// read, by the reader's own doing or by other threads: what is read then is
/// the state of some moment for each line.
class SelfMaps {
public:
  SelfMaps() : lines("/proc/self/maps") {}
  /// False at the end, or when /proc is not there.
  bool next(Mapping &mapping);
  bool opened() const { return lines.opened(); }

private:
  LineReader lines;
};

/// How many mappings there are; \p max if there are as many or more.
size_t countMappings(size_t max);

/// Finds the mapping that holds \p address; false if there is none.
bool findMapping(uintptr_t address, Mapping &mapping);

/// The names in a directory of /proc that are numbers: threads, descriptors.
class NumberedEntries {
public:
  explicit NumberedEntries(const char *path);
  ~NumberedEntries();
  NumberedEntries(const NumberedEntries &) = delete;
  NumberedEntries &operator=(const NumberedEntries &) = delete;
  /// False at the end, or after an error.
  bool next(uint64_t &number);
  /// Whether all entries were read; valid when next() has returned false.
  bool isComplete() const { return used == 0; }
  int descriptor() const { return fd; }

private:
  int fd;
  long at = 0, used = 0; ///< of the buffer; negative: an error
  alignas(8) char buffer[4096];
};

/// Reads at most \p capacity - 1 bytes of a small file and ends them with a
/// zero; returns the length, or a negative errno.
long readSmallFile(const char *path, char *buffer, size_t capacity);

/// Whether \p path exists and may be seen. By a raw system call: it is needed
/// before a sanitizer has put its own in the C library's place.
bool exists(const char *path);

/// Reads a file that holds one decimal number; \p otherwise if it does not.
uint64_t readNumber(const char *path, uint64_t otherwise);

/// The size in a line as "MemTotal:   123 kB", in bytes; false if the line is
/// not that of \p name ("MemTotal:").
bool parseSize(const char *line, const char *name, uint64_t &bytes);

/// The size of \p name in /proc/meminfo; false if it is not there.
bool readMemoryInfo(const char *name, uint64_t &bytes);

/// Parses decimal digits (hexadecimal ones if \p base is 16) at \p text and
/// advances it past them; false if there are none.
bool parseNumber(const char *&text, unsigned base, uint64_t &value);

/// Parses "0-3,8,10-11" as the kernel writes lists of CPUs, and of nodes; false
/// for other text, and numbers that do not fit.
bool parseCpuList(const char *text, cpu_set_t &cpus);
bool readCpuList(const char *path, cpu_set_t &cpus); ///< the same of a file

/// The field of \p line after \p number spaces; null if there are fewer.
const char *fieldAt(const char *line, int number);

/// Threads of this process; 1 if that is unknown.
unsigned threadCount();

/// The number of this thread, from /proc if a filter forbids gettid; 0 if that
/// is unknown, too.
uint32_t threadId();

/// Bytes present on pages of the pool, whichever code requested them; 0 if the
/// kernel does not report it. Reads a file of /proc, allocates nothing.
uint64_t poolBytesInUse();

/// All memory that this process uses, with pages of the pool.
uint64_t bytesInUse();

/// How much of a range of addresses is in use, by the kernel's count.
struct RangeUse {
  uint64_t bytes = 0;     ///< pages that are there, of any size
  uint64_t poolBytes = 0; ///< of these on pages of the pool
  uint64_t thpBytes = 0;  ///< of these on transparent huge pages
};

/// All 0 where /proc cannot be read. Takes milliseconds in a program with many
/// mappings.
RangeUse readUse(Range range);

} // namespace mpg
