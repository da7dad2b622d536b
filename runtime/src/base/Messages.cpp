// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Messages.h. One ProcessLock guards lines and state. It is held for a few
// hundred instructions and one system call. A mutex of the C library may not
// work yet.

#include "base/Messages.h"
#include "base/AllocationSites.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace mpg;

// Text

LineBuffer &LineBuffer::add(const char *text) {
  while (*text && used < sizeof(buffer) - 2)
    buffer[used++] = *text++;
  buffer[used] = '\0';
  return *this;
}

LineBuffer &LineBuffer::add(const char *text, size_t length) {
  for (size_t at = 0; at < length && used < sizeof(buffer) - 2; ++at) {
    char c = text[at];
    buffer[used++] = c >= ' ' && c < 127 ? c : '?';
  }
  buffer[used] = '\0';
  return *this;
}

LineBuffer &LineBuffer::addNumber(uint64_t value) {
  char digits[24];
  char *at = digits + sizeof(digits);
  *--at = '\0';
  do
    *--at = char('0' + value % 10);
  while (value /= 10);
  return add(at);
}

LineBuffer &LineBuffer::addHex(uintptr_t value) {
  char digits[24];
  char *at = digits + sizeof(digits);
  *--at = '\0';
  do
    *--at = "0123456789abcdef"[value % 16];
  while (value /= 16);
  return add("0x").add(at);
}

LineBuffer &LineBuffer::addBytes(uint64_t bytes) {
  static const char *const units[] = {" bytes", " KiB", " MiB", " GiB",
                                      " TiB",   " PiB", " EiB"};
  unsigned unit = 0;
  uint64_t size = 1;
  while (unit < 6 && bytes / size >= 1024) {
    size <<= 10;
    ++unit;
  }
  addNumber(bytes / size);
  uint64_t tenth = bytes % size * 10 / size; // at most 10 EiB, fits
  if (unit > 0 && tenth > 0)
    add(".").addNumber(tenth);
  return add(units[unit]);
}

void LineBuffer::writeTo(int fd) {
  buffer[used++] = '\n';
  rawCall(SYS_write, fd, long(buffer), long(used));
  buffer[--used] = '\0';
}

// Texts

static void copyText(char *to, size_t capacity, const char *from) {
  size_t at = 0;
  for (; from[at] && at < capacity - 1; ++at)
    to[at] = from[at];
  to[at] = '\0';
}

/// Whether \p fd has the name of mpgrun's file or, where /proc is hidden, is a
/// file without a name.
static bool isNamedForState(int fd) {
  LineBuffer path("/proc/self/fd/", uint64_t(fd));
  char name[4096]; // a page: the kernel never returns more
  long length = rawCall(SYS_readlinkat, AT_FDCWD, long(path.text()), long(name),
                        sizeof(name));
  struct stat status;
  if (length == -ENOENT)
    return !isError(rawCall(SYS_fstat, fd, long(&status))) &&
           S_ISREG(status.st_mode) && status.st_nlink == 0;
  return length > 0 && mpg_is_state_name(name, size_t(length));
}

/// Whether \p fd is the file that mpgrun has made: the variable that names it
/// may be stale, and the program's own file of that number must not be hurt.
/// \p owner: who is in it.
static bool isStateFile(int fd, uint32_t &owner) {
  mpg_state head;
  constexpr size_t headBytes = offsetof(mpg_state, mode);
  long count = rawCall(SYS_pread64, fd, long(&head), headBytes, 0);
  if (count != long(headBytes) || head.magic != MPG_STATE_MAGIC ||
      head.structBytes != sizeof(mpg_state))
    return false;
  owner = head.pid;
  return isNamedForState(fd);
}

void *mpg::mapStatePart(int fd, long offset, size_t bytes) {
  // All of it will be written to.
  char last;
  if (rawCall(SYS_pread64, fd, long(&last), 1, offset + long(bytes) - 1) != 1)
    return nullptr;
  long at = mapMemory(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                      uint64_t(offset));
  return isError(at) ? nullptr : reinterpret_cast<void *>(at);
}

/// The list at \p offset; null if mpgrun does not ask for it.
static mpg_state_smaps *mapSmaps(int fd, long offset) {
  uint32_t isWanted = 0;
  if (rawCall(SYS_pread64, fd, long(&isWanted), sizeof(isWanted), offset) !=
          sizeof(isWanted) ||
      !isWanted)
    return nullptr;
  auto *smaps = static_cast<mpg_state_smaps *>(
      mapStatePart(fd, offset, sizeof(mpg_state_smaps)));
  if (smaps)
    smaps->bytes = 0; // of the program that this process was before exec
  return smaps;
}

/// The program writes to the state, all others to the table after it. Without
/// \p statePid the first process to open the file is the program.
void Messages::openState(int fd, int statePid) {
  uint32_t owner = 0;
  if (fd < 0 || !isStateFile(fd, owner))
    return;
  bool isFirst = statePid ? rawCall(SYS_getppid) == statePid
                          : !owner || owner == uint32_t(rawCall(SYS_getpid));
  if (isFirst) {
    shared = static_cast<mpg_state *>(mapStatePart(fd, 0, sizeof(mpg_state)));
    peakSmaps = mapSmaps(fd, MPG_STATE_SMAPS);
    atEnd = mapSmaps(fd, MPG_STATE_END);
    startAllocationSites(fd);
  }
  if (statePid)
    processes.open(fd);
}

void Messages::start(bool speaksHere, int fd, int statePid) {
  speaks = speaksHere;
  openState(fd, statePid);
  if (fd >= 0 && statePid && !processes.isOpen()) {
    // Python closes descriptors before it starts a program.
    LineBuffer path("/proc/", uint64_t(statePid), "/fd/", uint64_t(fd));
    int own = int(
        rawCall(SYS_openat, AT_FDCWD, long(path.text()), O_RDWR | O_CLOEXEC));
    openState(own, statePid);
    if (own >= 0)
      rawCall(SYS_close, own);
  }
  state.magic = MPG_STATE_MAGIC;
  state.structBytes = sizeof(state);
  state.pid = uint32_t(rawCall(SYS_getpid));
  writeState();
}

/// A child after fork has the file too, but is not the program.
bool Messages::isProgram() const {
  return shared && state.pid == uint32_t(rawCall(SYS_getpid));
}

bool Messages::isHeard() const { return processes.isOpen() || isProgram(); }

void Messages::writeState() {
  if (isProgram())
    writePart(&state, sizeof(state));
  else if (processes.isOpen())
    writeProcess(/*mayClaim=*/state.pid == uint32_t(rawCall(SYS_getpid)));
}

/// Reports a process other than the program. \p mayClaim: allocate an entry if
/// this is the process's first report.
void Messages::writeProcess(bool mayClaim) {
  mpg_state_process *process = processes.entry(mayClaim);
  if (!process)
    return;
  process->mode = state.mode;
  process->bytes = process->hugeBytes = 0;
  for (uint32_t index = 0; index < state.regionCount; ++index) {
    if (state.regions[index].kind == MPG_REGION_STACK)
      continue; // room for all of it, of which little is in use
    process->bytes += state.regions[index].bytes;
    process->hugeBytes += state.regions[index].hugeBytes;
  }
  process->heapPeakBytes = state.heapPeakBytes;
  process->heapPeakHugeBytes = state.heapPeakHugeBytes;
  if (state.messageCount)
    copyText(process->reason, sizeof(process->reason), state.messages[0].text);
}

void Messages::end() {
  Locked held(lock);
  if (isProgram() && atEnd && !isLockedIn)
    writeEnd();
  else if (processes.isOpen() && !isProgram())
    processes.writeEnd();
}

/// Nothing if the list does not fit: a part of it would be wrong.
void Messages::writeEnd() {
  constexpr long capacity = sizeof(atEnd->text), longestName = 4096;
  char *text = atEnd->text;
  long name = rawCall(SYS_readlinkat, AT_FDCWD, long("/proc/self/exe"),
                      long(text), longestName);
  if (isError(name))
    return;
  text[name++] = '\n';
  long count = readSmallFile("/proc/self/smaps", text + name, capacity - name);
  if (count > 0 && count < capacity - name - 1)
    atEnd->bytes = uint32_t(name + count);
}

void Messages::writePart(const void *part, size_t bytes) {
  auto at =
      reinterpret_cast<uintptr_t>(part) - reinterpret_cast<uintptr_t>(&state);
  __builtin_memcpy(reinterpret_cast<char *>(shared) + at, part, bytes);
}

/// Called after a region has grown, which shows pages that are paged in, and
/// before the heap returns memory, which shows those that were touched later.
void Messages::notePeak() {
  uint64_t now = poolBytesInUse();
  if (now > state.peakHugetlbBytes)
    state.peakHugetlbBytes = now;
}

void Messages::setFile(const char *file) {
  Locked held(lock);
  copyText(state.library, sizeof(state.library), file);
  writeState();
}

void Messages::setMode(unsigned mode) {
  Locked held(lock);
  state.mode = mode;
  writeState();
}

void Messages::setHeap(Range reserved, uintptr_t tablesEnd) {
  Locked held(lock);
  state.heapStart = reserved.start;
  state.heapEnd = reserved.end;
  state.heapTablesEnd = tablesEnd;
  writeState();
}

/// Only if use has grown by a sixteenth: a program may grow in many small
/// steps.
void Messages::inspectBeforeUnmap() {
  // Another thread, or the code that this signal interrupted, does it already.
  if (!peakSmaps || !isProgram() ||
      __atomic_exchange_n(&isLooking, true, __ATOMIC_ACQUIRE))
    return;
  uint64_t now = bytesInUse();
  if (now > maxBytes + maxBytes / 16) {
    maxBytes = now;
    constexpr long capacity = sizeof(peakSmaps->text);
    peakSmaps->bytes = 0;
    long count = readSmallFile("/proc/self/smaps", peakSmaps->text, capacity);
    if (count > 0 && count < capacity - 1)
      peakSmaps->bytes = uint32_t(count);
  }
  __atomic_store_n(&isLooking, false, __ATOMIC_RELEASE);
}

void Messages::heapUse(uint64_t bytes, uint64_t hugeBytes) {
  Locked held(lock);
  if (bytes <= state.heapPeakBytes || !isHeard())
    return;
  state.heapPeakBytes = bytes;
  state.heapPeakHugeBytes = hugeBytes;
  if (!isProgram())
    return writeProcess(/*mayClaim=*/true);
  notePeak();
  writePart(&state.peakHugetlbBytes, sizeof state.peakHugetlbBytes);
  writePart(&state.heapPeakBytes, 2 * sizeof state.heapPeakBytes);
}

/// A bit for each code that is printed once.
static uint32_t getBit(mpg_code code) {
  if (code == MPG_LPG_FALLBACK)
    return 1;
  unsigned first = code < MPG_MSG_FIRST ? MPG_LPG_PIE : MPG_MSG_FIRST;
  return 1u << ((code - first) % 15 + (code < MPG_MSG_FIRST ? 1 : 16));
}

/// Notes \p text in the state; true if it has to be printed.
bool Messages::isNews(mpg_code code, const char *text) {
  // Print each wrong value, but only the first message of any other code.
  bool isSingle = code != MPG_MSG_BAD_VALUE;
  bool wasPrinted = isSingle && (printed & getBit(code));
  printed |= getBit(code);
  for (uint32_t index = 0; index < state.messageCount; ++index) {
    mpg_state_message &message = state.messages[index];
    if (message.code == uint32_t(code) &&
        (isSingle ||
         __builtin_strncmp(message.text, text, MPG_STATE_TEXT - 1) == 0)) {
      ++message.count;
      return false;
    }
  }
  if (state.messageCount == MPG_STATE_MESSAGES) {
    ++state.messagesLost;
    return !wasPrinted;
  }
  mpg_state_message &message = state.messages[state.messageCount++];
  message.code = uint32_t(code);
  message.count = 1;
  copyText(message.text, sizeof(message.text), text);
  return !wasPrinted;
}

static bool isVendorCode(mpg_code code) {
  return code < MPG_MSG_FIRST || code == MPG_LPG_FALLBACK;
}

/// Mistakes of the user, and codes that the user wants as errors.
static bool isErrorCode(mpg_code code) {
  return code == MPG_MSG_BAD_VALUE || code == MPG_MSG_HEAP;
}

void Messages::setStyle(bool quiet, bool vendorCodes) {
  isQuiet = quiet;
  usesVendorCodes = vendorCodes;
}

void Messages::report(mpg_code code, LineBuffer &line) {
  Locked held(lock);
  bool isNew = isNews(code, line.text());
  if (code == MPG_LPG_FALLBACK || code == MPG_MSG_SHORTAGE)
    state.fallback = 1;
  writeState();
  if (!isNew || !speaks || isLockedIn || (isQuiet && !isErrorCode(code)))
    return;
  LineBuffer whole;
  if (usesVendorCodes && isVendorCode(code))
    whole.addAll("[WARN] xos LPG ", code, " - ");
  else
    whole.add("mpg: ");
  whole.add(line.text());
  whole.print();
}

bool Messages::hasSaid(mpg_code code) {
  Locked held(lock);
  return printed & getBit(code);
}

/// The entry of a region, a new one if need be; null if all are in use.
mpg_state_region *Messages::findRegion(mpg_region_kind kind, uint64_t start) {
  for (uint32_t index = 0; index < state.regionCount; ++index)
    if (state.regions[index].kind == uint32_t(kind) &&
        state.regions[index].start == start)
      return &state.regions[index];
  if (state.regionCount == MPG_STATE_REGIONS)
    return nullptr;
  mpg_state_region &entry = state.regions[state.regionCount++];
  entry.kind = uint32_t(kind);
  entry.start = start;
  return &entry;
}

void Messages::region(mpg_region_kind kind, Range range, uint64_t hugeBytes,
                      uint64_t pageBytes, const char *reason) {
  // Before start() it is kept for later: malloc may be the first to be called.
  if (state.pid && !isHeard())
    return;
  Locked held(lock);
  mpg_state_region *entry = findRegion(kind, range.start);
  if (!entry) {
    ++state.regionsLost;
    return writeState();
  }
  bool hasGrown = hugeBytes > entry->hugeBytes;
  entry->bytes = range.bytes();
  entry->hugeBytes = hugeBytes;
  entry->pageBytes = pageBytes;
  if (reason)
    copyText(entry->reason, sizeof(entry->reason), reason);
  if (!isHeard())
    return;
  if (!isProgram()) // a fork reports the other regions
    return writeProcess(/*mayClaim=*/kind == MPG_REGION_HEAP);
  if (hasGrown)
    notePeak();
  // The heap reports every growth, and the whole state is 20 KiB.
  writePart(&state, offsetof(mpg_state, regions));
  writePart(entry, sizeof(*entry));
}

void Messages::reason(Range part, const char *text) {
  if (!isProgram() || !lock.tryLock())
    return;
  bool isFound = false;
  mpg_state_region *threads = nullptr;
  for (uint32_t index = 0; index < state.regionCount; ++index) {
    mpg_state_region &entry = state.regions[index];
    if (entry.kind == MPG_REGION_THREAD_STACK)
      threads = &entry;
    else if (part.overlaps({entry.start, entry.start + entry.bytes})) {
      isFound = true;
      copyText(entry.reason, sizeof entry.reason, text);
    }
  }
  if (!isFound && threads)
    copyText(threads->reason, sizeof threads->reason, text);
  writeState();
  lock.unlock();
}

void Messages::pagedIn(mpg_region_kind kind, uint64_t start, uint64_t bytes) {
  if (!isHeard())
    return;
  Locked held(lock);
  if (mpg_state_region *entry = findRegion(kind, start)) {
    entry->pagedInBytes = bytes;
    writeState();
  }
}

// Standard error, by device and inode: a file that is opened a second time is
// the same one, and a terminal that a shell comes back to as well.

namespace {

struct File {
  bool isOpen = false;
  uint64_t device = 0, inode = 0;
};

} // namespace

/// The file of descriptor 2 at the start; a forked child compares with it as
/// well.
static File atStart;
static bool isRemembered;

static File readStandardError() {
  struct stat status;
  if (isError(rawCall(SYS_fstat, 2, long(&status))))
    return {};
  return {true, uint64_t(status.st_dev), uint64_t(status.st_ino)};
}

void mpg::rememberStandardError() {
  atStart = readStandardError();
  __atomic_store_n(&isRemembered, true, __ATOMIC_RELEASE);
}

/// Whether messages may be printed: standard error was open at the start and is
/// the same file.
static bool standardErrorIsThere() {
  if (!__atomic_load_n(&isRemembered, __ATOMIC_ACQUIRE))
    rememberStandardError();
  File now = readStandardError();
  return atStart.isOpen && now.isOpen && now.device == atStart.device &&
         now.inode == atStart.inode;
}

void LineBuffer::print() {
  if (standardErrorIsThere())
    writeTo(2);
}

void ProcessTable::open(int fd) {
  table = static_cast<mpg_state_table *>(
      mapStatePart(fd, MPG_STATE_TABLE, sizeof(mpg_state_table)));
}

/// The arguments with spaces between them.
static void readCommand(char (&command)[MPG_STATE_COMMAND]) {
  long length = readSmallFile("/proc/self/cmdline", command, sizeof command);
  for (long i = 0; i + 1 < length; ++i)
    if (!command[i])
      command[i] = ' ';
}

mpg_state_process *ProcessTable::entry(bool mayClaim) {
  auto self = uint32_t(rawCall(SYS_getpid));
  if (owner == self || !table || !mayClaim)
    return owner == self ? own : nullptr;
  owner = self;
  own = nullptr;
  uint32_t index = __atomic_fetch_add(&table->taken, 1, __ATOMIC_RELAXED);
  if (index >= MPG_STATE_PROCESSES)
    return nullptr;
  own = &table->processes[index];
  own->parent = uint32_t(rawCall(SYS_getppid));
  readCommand(own->command);
  __atomic_store_n(&own->pid, self, __ATOMIC_RELEASE);
  return own;
}

void ProcessTable::writeEnd() {
  mpg_state_process *process = entry(/*mayClaim=*/true);
  LineReader lines("/proc/self/smaps_rollup");
  if (!process || !lines.opened())
    return;
  uint64_t bytes = 0, normal = 0, thp = 0, pool = 0;
  while (const char *line = lines.next()) {
    if (parseSize(line, "Anonymous:", bytes))
      normal = bytes;
    else if (parseSize(line, "AnonHugePages:", bytes))
      thp = bytes;
    else if (parseSize(line, "Shared_Hugetlb:", bytes) ||
             parseSize(line, "Private_Hugetlb:", bytes))
      pool += bytes;
  }
  process->bytes = normal + pool;
  process->hugeBytes = thp + pool;
  process->poolBytes = pool;
  process->hasEnded = 1;
}
