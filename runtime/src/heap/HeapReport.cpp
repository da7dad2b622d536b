// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapReport.h. The line is built on the stack and written by one system
// call. The caller is printed as file and address in that file, as addr2line
// expects it, from the memory map alone: dladdr and dl_iterate_phdr take the
// loader's lock, which another thread may hold while it waits for us.

#include "heap/HeapReport.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "pages/Shortage.h"
#include <atomic>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

using namespace mpg;

// The caller

/// The loader's offset of the file whose first page is \p head; 0 for a program
/// at fixed addresses. False if that page is not an ELF header.
static bool loadBias(Range head, uintptr_t &bias) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(head.start);
  if (head.bytes() < sizeof *header ||
      memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phoff > head.bytes() ||
      header->e_phnum * sizeof(Elf64_Phdr) > head.bytes() - header->e_phoff)
    return false;
  auto *segments =
      reinterpret_cast<const Elf64_Phdr *>(head.start + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD)
      continue;
    bias = head.start - (segments[i].p_vaddr - segments[i].p_offset);
    return true;
  }
  return false;
}

/// The file offset in a line of the map: after range and rights.
static uint64_t offsetIn(const char *line) {
  uint64_t offset = 0;
  for (int fields = 0; line && fields < 2; ++fields) {
    line = strchr(line, ' ');
    line = line ? line + 1 : nullptr;
  }
  if (line)
    parseNumber(line, 16, offset);
  return offset;
}

/// Adds the end of a path, which is the part that identifies a library.
static void addPath(LineBuffer &line, const char *path) {
  constexpr size_t maxBytes = 200;
  size_t length = strlen(path);
  if (length > maxBytes) {
    line.add("...");
    path += length - maxBytes;
    length = maxBytes;
  }
  line.add(path, length);
}

/// Adds " (/path/app+0x1e12)" for the call that returns to \p address; nothing
/// for code that is in no file.
static void addPlace(LineBuffer &line, uintptr_t address) {
  LineReader lines("/proc/self/maps");
  Mapping mapping, first = {};
  while (const char *text = lines.next()) {
    if (!parseMapping(text, mapping))
      continue;
    bool isFile = mapping.name[0] == '/';
    // The loader maps a file from its first page on, in one piece.
    if (isFile && offsetIn(text) == 0)
      first = mapping;
    // The byte before: a call that never returns may be a function's last.
    if (!mapping.range.contains(address - 1))
      continue;
    if (!isFile)
      return;
    uintptr_t bias;
    line.add(" (");
    addPath(line, strchr(text, '/'));
    if (strcmp(first.name, mapping.name) == 0 && first.readable &&
        loadBias(first.range, bias))
      line.add("+").addHex(address - bias);
    line.add(")");
    return;
  }
}

// The line

static void addBlock(LineBuffer &line, const HeapDamage &damage) {
  if (damage.block.empty())
    return;
  line.add(" (").addNumber(damage.block.bytes()).add(" bytes");
  if (damage.block.start) // else one of that size, it is not known which
    line.add(" at ").addHex(damage.block.start);
  if (damage.error == HeapError::writtenAround)
    line.add(", first wrong byte at ").addHex(damage.wrongByte);
  line.add(")");
}

static const char *getDescription(const HeapDamage &damage) {
  switch (damage.error) {
  case HeapError::freedBefore:
    return "block was freed before";
  case HeapError::insideBlock:
    return "points into a block, not at its start";
  case HeapError::notOurs:
    return "not from this heap";
  case HeapError::writtenAround:
    return damage.wrongByte < damage.block.start ? "written before its start"
                                                 : "written past its end";
  case HeapError::writtenAfterFree:
    return "block was written to after it was freed";
  }
  return "";
}

static const char *getFix(HeapError error) {
  switch (error) {
  case HeapError::freedBefore:
    return "free each block once";
  case HeapError::insideBlock:
    return "give the address that malloc returned";
  case HeapError::notOurs:
    return "give only what malloc and its relatives returned";
  case HeapError::writtenAround:
    return "write only to allocated bytes; a build with -fsanitize=address "
           "names the line that does not";
  case HeapError::writtenAfterFree:
    return "do not use a block after free; a build with -fsanitize=address "
           "names the line that does";
  }
  return "";
}

static void print(const HeapDamage &damage, bool brief) {
  LineBuffer line;
  line.add("mpg: heap: ").add(damage.function).add("(");
  if (damage.pointer)
    line.addHex(damage.pointer);
  line.add("): ").add(getDescription(damage));
  addBlock(line, damage);
  if (!brief && damage.caller) {
    line.add("; called from ").addHex(damage.caller);
    addPlace(line, damage.caller);
  }
  if (!brief)
    line.add("; fix: ").add(getFix(damage.error));
  line.print();
}

// One thread at a time

/// Process and thread that is in here, or 0. Both, because a child that was
/// forked meanwhile has the number but not the thread.
static uint64_t reporter;

static uint64_t thisThread() {
  auto process = uint64_t(rawCall(SYS_getpid));
  return process << 32 | uint64_t(rawCall(SYS_gettid));
}

/// True if no other thread of this process is in here, and this one is now.
static bool tryEnter(uint64_t self) {
  uint64_t holder = 0;
  for (;;) {
    if (__atomic_compare_exchange_n(&reporter, &holder, self, /*weak=*/false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return true;
    if (holder == self) // in the handler of the signal that ends the process
      return true;
    if (holder >> 32 == self >> 32)
      return false;
    // Another process has it: the parent had when it made this one.
  }
}

static void enter(uint64_t self) {
  // A handler of SIGABRT may leave by longjmp and never release its turn. Five
  // seconds are enough for one that writes a trace; a thread that has waited so
  // long goes on as well.
  constexpr unsigned maxTurns = 500;
  timespec pause = {0, 10 * 1000 * 1000};
  for (unsigned turn = 0; turn < maxTurns && !tryEnter(self); ++turn)
    rawCall(SYS_nanosleep, long(&pause), 0);
}

/// Leaves, also for the call whose signal handler this one was made from.
static void leave(uint64_t self) {
  __atomic_compare_exchange_n(&reporter, &self, 0, /*weak=*/false,
                              __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void mpg::reportHeapDamage(const HeapDamage &damage, unsigned check) {
  constexpr unsigned prints = 1, ends = 2, isBrief = 4;
  if (!(check & (prints | ends)))
    return;
  uint64_t self = thisThread();
  enter(self);
  if (check & prints)
    print(damage, check & isBrief);
  if (check & ends)
    abort();
  leave(self);
}

// No large pages. The cause is looked up only when a line is due: it is in a
// dozen files, and a heap on normal pages grows many times.

/// Size of large pages for which this node is known to have no pool; 0:
/// unknown.
static std::atomic<size_t> sizeWithoutPool;
/// Bytes of the heap on normal pages on such a node.
static std::atomic<uint64_t> normalBytes;

namespace {

/// Written once, by the first thread that falls back.
struct Reason {
  std::atomic<bool> isTaken{false}, isReady{false};
  char text[MPG_STATE_TEXT] = {};
};

} // namespace

static Reason reason;

bool mpg::noteHeapReason(const char *text) {
  if (reason.isTaken.exchange(true))
    return false;
  memcpy(reason.text, text, strnlen(text, sizeof reason.text - 1));
  reason.isReady.store(true, std::memory_order_release);
  return true;
}

/// Null: no transparent page was split.
static std::atomic<const char *> splitReason{nullptr};

bool mpg::noteSplitReason(const char *literal) {
  const char *none = nullptr;
  return splitReason.compare_exchange_strong(none, literal);
}

const char *mpg::heapFallbackReason() {
  if (const char *split = splitReason.load(std::memory_order_relaxed))
    return split;
  return reason.isReady.load(std::memory_order_acquire) ? reason.text : "";
}

static bool isWithoutPool(size_t hugeBytes) {
  if (sizeWithoutPool.load(std::memory_order_relaxed) == hugeBytes)
    return true;
  if (isLockedIn)
    return false;
  Pool pool = readPool(hugeBytes);
  if (pool.exists && (pool.total || pool.overcommit))
    return false;
  sizeWithoutPool.store(hugeBytes, std::memory_order_relaxed);
  return true;
}

/// The user asked for pool pages by name, so report that they are missing.
static bool isAskedFor;

void mpg::reportEveryFallback() { isAskedFor = true; }

/// Whether an empty allocation from the pool, on a node without one, deserves a
/// line.
static bool isNews(uint64_t wantedBytes, Source used) {
  if (isAskedFor)
    return true;
  if (used == Source::thp)
    return false;
  // A shell or an interpreter needs this much to start.
  constexpr uint64_t smallHeapBytes = 8 << 20;
  return normalBytes.fetch_add(wantedBytes) + wantedBytes > smallHeapBytes;
}

/// Whether the growth that reportHeapFallback() is called for is worth a line.
static bool isReported(uint64_t wantedBytes, size_t hugeBytes, Source used,
                       bool isPoolAsked) {
  return !isPoolAsked || !isWithoutPool(hugeBytes) || isNews(wantedBytes, used);
}

void mpg::reportHeapFallback(uint64_t wantedBytes, size_t hugeBytes,
                             Source used, int error, Messages &messages) {
  bool isPoolAsked = error != 0;
  mpg_code code = isPoolAsked ? MPG_LPG_FALLBACK : MPG_MSG_KERNEL;
  bool isTold = !messages.hasSaid(code) &&
                isReported(wantedBytes, hugeBytes, used, isPoolAsked);
  if (!isTold && *heapFallbackReason())
    return;
  LineBuffer cause;
  explainShortage(cause, isPoolAsked ? Source::hugetlb : Source::thp, hugeBytes,
                  wantedBytes, error);
  noteHeapReason(cause.text());
  if (!isTold)
    return;
  LineBuffer line;
  line.add("heap: ")
      .addBytes(wantedBytes)
      .add(" now, and what comes later, ")
      .add(used == Source::thp ? "on transparent huge pages (only a request: "
                                 "the kernel may use normal ones): "
                               : "on normal pages (more TLB misses): ")
      .add(cause.text());
  messages.report(code, line);
}

void mpg::reportHeapRefusal(uint64_t wantedBytes, size_t hugeBytes, int error,
                            Messages &messages) {
  if (messages.hasSaid(MPG_MSG_HEAP))
    return;
  LineBuffer line;
  line.add("heap: malloc returns NULL for ")
      .addBytes(wantedBytes)
      .add(" (XOS_MMM_L_HUGETLB_FALLBACK=0 asks for that, 1 takes normal "
           "pages): ");
  explainShortage(line, Source::hugetlb, hugeBytes, wantedBytes, error);
  messages.report(MPG_MSG_HEAP, line);
}

/// Up to so many bytes of arenas no limit is asked for again: there was none.
static std::atomic<uint64_t> unlimitedBytes{0};

void mpg::noteNewLimit() { unlimitedBytes.store(0, std::memory_order_relaxed); }

bool mpg::addressesAreFree() {
  static const bool promisesAll = readPromisesLeft() == UINT64_MAX;
  return promisesAll && unlimitedBytes.load(std::memory_order_relaxed);
}

bool mpg::limitAllows(uint64_t arenaBytes, uint64_t bytes, Messages &messages) {
  if (arenaBytes + bytes <= unlimitedBytes.load(std::memory_order_relaxed))
    return true;
  // Asking takes some microseconds, and after one refusal each block asks.
  static std::atomic<unsigned> silent{0};
  constexpr unsigned refusedAtOnce = 1000, share = 4;
  if (unsigned left = silent.load(std::memory_order_relaxed)) {
    silent.store(left - 1, std::memory_order_relaxed);
    return false;
  }
  MemoryLimit limit = readMemoryLimit();
  // Another process may set one meanwhile: so ask again in a heap of twice the
  // size.
  if (limit.bytes == UINT64_MAX)
    unlimitedBytes.store(2 * (arenaBytes + bytes), std::memory_order_relaxed);
  if (limit.bytes == UINT64_MAX || (arenaBytes + bytes <= limit.bytes / share &&
                                    bytes <= limit.leftBytes / share))
    return true;
  silent.store(refusedAtOnce, std::memory_order_relaxed);
  LineBuffer line;
  line.add(
          "heap: small blocks come from the C library's malloc from now on, on "
          "normal pages (more TLB misses): a limit on memory of ")
      .addBytes(limit.bytes)
      .add(" leaves ")
      .addBytes(limit.leftBytes)
      .add("; fix: ulimit -v unlimited, ulimit -d unlimited");
  messages.report(MPG_MSG_SHORTAGE, line);
  return false;
}
