// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapShortage.h. The cause is looked for only when there is a line to say:
// it is in a dozen files, and a heap that has come to normal pages grows there
// many times.

#include "heap/HeapShortage.h"

#include "pages/Shortage.h"

#include <atomic>
#include <string.h>

using namespace mpg;

/// Size of large pages for which this node is known to have no pool; 0: none.
static std::atomic<size_t> sizeWithoutPool;
/// What the heap has got on normal pages on such a node.
static std::atomic<uint64_t> normalBytes;

namespace {

/// Written once, by the first thread that falls back.
struct Reason {
  std::atomic<bool> isTaken{false}, isReady{false};
  char text[MPG_STATE_TEXT] = {};
};

} // namespace

static Reason reason;

static void noteReason(const char *text) {
  if (reason.isTaken.exchange(true))
    return;
  memcpy(reason.text, text, strnlen(text, sizeof reason.text - 1));
  reason.isReady.store(true, std::memory_order_release);
}

const char *mpg::heapFallbackReason() {
  return reason.isReady.load(std::memory_order_acquire) ? reason.text : "";
}

static bool isWithoutPool(size_t hugeBytes) {
  if (sizeWithoutPool.load(std::memory_order_relaxed) == hugeBytes)
    return true;
  Pool pool = readPool(hugeBytes);
  if (pool.exists && (pool.total || pool.overcommit))
    return false;
  sizeWithoutPool.store(hugeBytes, std::memory_order_relaxed);
  return true;
}

/// What has been asked for by name is missed.
static bool isAskedFor;

void mpg::tellEveryFallback() { isAskedFor = true; }

/// Whether it is worth a line that the pool of a node that has none gave
/// nothing.
static bool isNews(uint64_t wantedBytes, Source used) {
  if (isAskedFor)
    return true;
  if (used == Source::thp)
    return false;
  // What a shell or an interpreter needs to start: nothing large.
  constexpr uint64_t smallHeapBytes = 8 << 20;
  return normalBytes.fetch_add(wantedBytes) + wantedBytes > smallHeapBytes;
}

/// Whether the growth that sayHeapFallback() is called for is worth a line.
static bool isToldOf(uint64_t wantedBytes, size_t hugeBytes, Source used,
                     bool isPoolAsked) {
  return !isPoolAsked || !isWithoutPool(hugeBytes) || isNews(wantedBytes, used);
}

void mpg::sayHeapFallback(uint64_t wantedBytes, size_t hugeBytes, Source used,
                          int error, Messages &messages) {
  bool isPoolAsked = error != 0;
  mpg_code code = isPoolAsked ? MPG_LPG_FALLBACK : MPG_MSG_KERNEL;
  bool isTold = !messages.hasSaid(code) &&
                isToldOf(wantedBytes, hugeBytes, used, isPoolAsked);
  if (!isTold && *heapFallbackReason())
    return;
  LineBuffer cause;
  explainShortage(cause, isPoolAsked ? Source::hugetlb : Source::thp, hugeBytes,
                  wantedBytes, error);
  noteReason(cause.text());
  if (!isTold)
    return;
  LineBuffer line;
  line.add("heap: ")
      .addBytes(wantedBytes)
      .add(" now, and what comes later, ")
      .add(used == Source::thp
               ? "on transparent huge pages (no more than a wish: the kernel "
                 "may give normal ones): "
               : "on normal pages (more TLB misses): ")
      .add(cause.text());
  messages.say(code, line);
}

void mpg::sayHeapRefusal(uint64_t wantedBytes, size_t hugeBytes, int error,
                         Messages &messages) {
  if (messages.hasSaid(MPG_MSG_HEAP))
    return;
  LineBuffer line;
  line.add("heap: malloc returns NULL for ")
      .addBytes(wantedBytes)
      .add(" (XOS_MMM_L_HUGETLB_FALLBACK=0 asks for that, 1 takes normal "
           "pages): ");
  explainShortage(line, Source::hugetlb, hugeBytes, wantedBytes, error);
  messages.say(MPG_MSG_HEAP, line);
}

bool mpg::limitAllows(uint64_t arenaBytes, uint64_t bytes, Messages &messages) {
  // To ask takes some microseconds, and once it is no, each block asks.
  static std::atomic<unsigned> silent{0};
  constexpr unsigned refusedAtOnce = 1000, share = 4;
  if (unsigned left = silent.load(std::memory_order_relaxed)) {
    silent.store(left - 1, std::memory_order_relaxed);
    return false;
  }
  MemoryLimit limit = readMemoryLimit();
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
  messages.say(MPG_MSG_SHORTAGE, line);
  return false;
}
