// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpg's output: lines on standard error, each code once per process, and the
// state that mpgrun reads (<mpg/state.h>). Works before main, where malloc and
// stdio may be our own or not yet initialised: a line is built on the stack and
// written with one write(). Lines go to standard error only while it is still
// the file that it was at the start.
//
// A line has three parts: what (with region, bytes, address), what it costs,
// how to fix it. If all is well, nothing is printed.

#pragma once

#include "base/ProcessLock.h"
#include "base/Range.h"
#include "mpg/code.h"
#include "mpg/state.h"

namespace mpg {

/// "2 MiB", "312 KiB", "17 bytes" in a line: the largest unit without a
/// remainder, or one decimal.
struct Bytes {
  explicit Bytes(uint64_t value) : value(value) {}
  uint64_t value;
};
/// "0x404000" in a line.
struct Hex {
  explicit Hex(uintptr_t value) : value(value) {}
  uintptr_t value;
};

/// Text of at most 511 bytes; what does not fit is cut off, a line always ends
/// in a newline.
class LineBuffer {
public:
  /// Of texts, numbers, Bytes and Hex.
  template <typename... Parts> explicit LineBuffer(Parts... parts) {
    addAll(parts...);
  }
  template <typename... Parts> LineBuffer &addAll(Parts... parts) {
    (addPart(parts), ...);
    return *this;
  }
  LineBuffer &add(const char *text);
  LineBuffer &add(const char *text, size_t length); ///< unprintable bytes as ?
  LineBuffer &addNumber(uint64_t value);
  LineBuffer &addHex(uintptr_t value);
  LineBuffer &addBytes(uint64_t bytes);
  const char *text() const { return buffer; }
  size_t length() const { return used; }
  void writeTo(int fd);
  /// As a message: to standard error, unless that was closed or has become
  /// another file since the start.
  void print();

private:
  void addPart(const char *text) { add(text); }
  void addPart(uint64_t value) { addNumber(value); }
  void addPart(Bytes bytes) { addBytes(bytes.value); }
  void addPart(Hex address) { addHex(address.value); }

  char buffer[512];
  size_t used = 0;
};

/// The table in mpgrun's file in which the processes of `mpgrun --children`
/// record their memory (<mpg/state.h>). A started process takes an entry at
/// once. A forked one takes it at its first report: a shell forks for each
/// command, and most of these processes soon exec another program.
class ProcessTable {
public:
  /// Maps the table of the file \p fd, if that has one. Forked processes share
  /// the mapping.
  void open(int fd);
  bool isOpen() const { return table; }

  /// The entry of this process; null if there is none. \p mayClaim: allocate
  /// one if any is left.
  mpg_state_process *entry(bool mayClaim);

  /// Records all memory of this process. Call at its end.
  void writeEnd();

private:
  mpg_state_table *table = nullptr;
  mpg_state_process *own = nullptr;
  uint32_t owner = 0; ///< the process whose entry that is; 0: none
};

/// One per process (Init.cpp owns it). Thread-safe.
class Messages {
public:
  /// \p speaks false: print nothing (another rank of this node does), but still
  /// write the state. \p stateFd is used only if it is the file of mpgrun and
  /// no other process has begun to write to it; -1: no file. The descriptor is
  /// not used after this call. \p statePid: the process that owns the
  /// descriptor, if its child processes report there, too; else 0.
  void start(bool speaks, int stateFd, int statePid = 0);

  /// Call at the end of the process.
  void end();

  /// \p quiet: only errors are printed (MPG_QUIET). \p vendorCodes: messages
  /// that Fujitsu's library has as well are printed with its numbers.
  void setStyle(bool quiet, bool vendorCodes);

  /// Tells mpgrun the file of this library; "" if it is part of the program.
  void setFile(const char *file);

  /// Tells mpgrun which large pages are used (the numbers of mpg_state::mode).
  void setMode(unsigned mode);

  /// Tells mpgrun which addresses are for the heap alone, in use or not, and
  /// where the tables after it end.
  void setHeap(Range reserved, uintptr_t tablesEnd);

  /// Whether mpgrun reads this process's state. If not, nothing need be found
  /// out that only mpgrun uses.
  bool isHeard() const;

  /// Call before munmap returns memory: records the mappings if use is at a new
  /// maximum and mpgrun asks for it. Keeps errno.
  void inspectBeforeUnmap();

  /// Records that this much of the heap was in use at some moment.
  void heapUse(uint64_t bytes, uint64_t hugeBytes);

  /// Prints \p line after the prefix of \p code, unless that code (for
  /// MPG_MSG_BAD_VALUE: that text) has been printed before, or the process is
  /// quiet and this is not an error. Always records it in the state.
  void report(mpg_code code, LineBuffer &line);
  /// The same with a line of \p parts.
  template <typename... Parts> void report(mpg_code code, Parts... parts) {
    LineBuffer line(parts...);
    report(code, line);
  }

  /// Whether report() was called with \p code before.
  bool hasSaid(mpg_code code);

  /// Reports the present state of a region; replaces the earlier report of the
  /// same region and start. \p reason is empty when all of it is on large
  /// pages; null keeps the earlier reason. Nearly free without a listener.
  void region(mpg_region_kind kind, Range range, uint64_t hugeBytes,
              uint64_t pageBytes, const char *reason);

  /// Replaces the reason of the regions that \p part belongs to; if that is
  /// none, it is of a thread's stack. Does nothing while another call is at
  /// work, so that a signal's handler may call it.
  void reason(Range part, const char *text);

  /// Adds to a region that region() has noted: libmpg has touched \p bytes of
  /// it.
  void pagedIn(mpg_region_kind kind, uint64_t start, uint64_t bytes);

private:
  bool isNews(mpg_code code, const char *text);
  mpg_state_region *findRegion(mpg_region_kind kind, uint64_t start);
  bool isProgram() const;
  void openState(int fd, int statePid);
  void writeState();
  void writeProcess(bool mayClaim);
  void writePart(const void *part, size_t bytes);
  void writeEnd();
  void notePeak();

  ProcessLock lock;
  uint32_t printed = 0;
  bool speaks = true, isQuiet = false, usesVendorCodes = false;
  mpg_state *shared = nullptr;          ///< the file of mpgrun, as memory
  mpg_state_smaps *peakSmaps = nullptr; ///< null: not wanted
  mpg_state_smaps *atEnd = nullptr;     ///< the same
  uint64_t maxBytes = 0;                ///< in use when they were recorded
  bool isLooking = false;
  ProcessTable processes; ///< in that file, for all but the program
  mpg_state state = {};
};

/// Maps the part at \p offset of mpgrun's file. Memory instead of the
/// descriptor, because a daemon closes all descriptors and may reuse the
/// number, and a write counts against RLIMIT_FSIZE. mpgrun has set the file's
/// size. Null: that part does not exist.
void *mapStatePart(int fd, long offset, size_t bytes);

/// Remembers what descriptor 2 is: a daemon closes all descriptors and opens
/// its own files, so that number 2 becomes its database. Init.cpp calls this
/// before anything else. Without it the first message does.
void rememberStandardError();

} // namespace mpg
