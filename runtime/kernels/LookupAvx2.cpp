// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lookup with AVX2. The hardware prefetcher cannot predict rows in random
// order, and a copy of one row ends before the prefetcher has started. So each
// copied line comes with a prefetch of a line some KiB later in the sequence of
// rows, found by its index. The prefetches keep step with the copying: those of
// a whole row at once would fill the few line fill buffers.
//
// Three ways, by measurement (docs/kernels.md):
//   vectors    the rule
//   memcpy     for rows of 8 KiB and more, which no loop copied faster when
//              they were in the cache; the next row's start is prefetched
//   past       for calls that write more than a quarter of the last cache:
//              stores that pass by the caches do not read the lines first
// Smaller output stays in the cache, because the program reads it next: passing
// by would make the call faster, but call and reading together slower.
//
// Nothing is written outside of a row, not even as it was: the gaps between
// rows may be another thread's.

#include "LookupRows.h"
#include <immintrin.h>
#include <string.h>

using namespace mpg;

static constexpr size_t lineBytes = 64, vectorBytes = 32;

// Bytes

template <typename Unit> static inline Unit load(const char *from) {
  Unit unit;
  memcpy(&unit, from, sizeof(unit));
  return unit;
}

/// Copies \p bytes of them, sizeof(Unit) to twice that: both ends, which may
/// overlap.
template <typename Unit>
static inline void copyEnds(char *to, const char *from, size_t bytes) {
  Unit first = load<Unit>(from);
  Unit last = load<Unit>(from + bytes - sizeof(Unit));
  memcpy(to, &first, sizeof(Unit));
  memcpy(to + bytes - sizeof(Unit), &last, sizeof(Unit));
}

/// Copies \p bytes of them, at most 64.
static inline void copyShort(char *to, const char *from, size_t bytes) {
  if (bytes >= 32)
    copyEnds<__m256i>(to, from, bytes);
  else if (bytes >= 16)
    copyEnds<__m128i>(to, from, bytes);
  else if (bytes >= 8)
    copyEnds<uint64_t>(to, from, bytes);
  else if (bytes >= 4)
    copyEnds<uint32_t>(to, from, bytes);
  else if (bytes >= 2)
    copyEnds<uint16_t>(to, from, bytes);
  else if (bytes == 1)
    *to = *from;
}

namespace {
/// Through the caches, or past them; the latter wants \p to aligned to 32.
enum class Store { cached, past };
} // namespace

template <Store store>
static inline void storeVector(char *to, __m256i vector) {
  if (store == Store::past)
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), vector);
  else
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), vector);
}

/// Copies two lines and prefetches two.
template <Store store>
static inline void copyTwoLines(char *to, const char *from, const char *ahead) {
  _mm_prefetch(ahead, _MM_HINT_T0);
  _mm_prefetch(ahead + lineBytes, _MM_HINT_T0);
  auto a = load<__m256i>(from);
  auto b = load<__m256i>(from + vectorBytes);
  auto c = load<__m256i>(from + 2 * vectorBytes);
  auto d = load<__m256i>(from + 3 * vectorBytes);
  storeVector<store>(to, a);
  storeVector<store>(to + vectorBytes, b);
  storeVector<store>(to + 2 * vectorBytes, c);
  storeVector<store>(to + 3 * vectorBytes, d);
}

/// Copies one line and prefetches one.
template <Store store>
static inline void copyLine(char *to, const char *from, const char *ahead) {
  _mm_prefetch(ahead, _MM_HINT_T0);
  auto a = load<__m256i>(from);
  auto b = load<__m256i>(from + vectorBytes);
  storeVector<store>(to, a);
  storeVector<store>(to + vectorBytes, b);
}

// Rows

/// Copies one row and prefetches as the distance asks. \p ahead is the row that
/// the end of this one prefetches.
template <Store store>
static inline void copyRow(char *to, const char *from, const char *ahead,
                           size_t bytes, size_t selfBytes) {
  constexpr size_t twoLines = 2 * lineBytes;
  size_t at = 0, aheadBytes = bytes - selfBytes;
  if (store == Store::past) { // up to the first whole line: hasWholeLines
    at = -reinterpret_cast<uintptr_t>(to) % lineBytes;
    copyShort(to, from, at);
  }
  for (; at < selfBytes && at + twoLines <= bytes; at += twoLines)
    copyTwoLines<store>(to + at, from + at, from + at + aheadBytes);
  // Prefetches for byte `at` of this row. Addresses may be past the table's
  // end: prefetches never fault.
  if (selfBytes > 0)
    ahead -= at;
  for (; at + twoLines <= bytes; at += twoLines)
    copyTwoLines<store>(to + at, from + at, ahead + at);
  if (at + lineBytes <= bytes) {
    copyLine<store>(to + at, from + at, ahead + at);
    at += lineBytes;
  }
  if (at == bytes)
    return;
  _mm_prefetch(ahead + at, _MM_HINT_T0);
  _mm_prefetch(ahead + bytes - 1, _MM_HINT_T0);
  if (store == Store::cached && at > 0 && bytes - at <= vectorBytes)
    storeVector<store>(to + bytes - vectorBytes,
                       load<__m256i>(from + bytes - vectorBytes));
  else
    copyShort(to + at, from + at, bytes - at);
}

/// The first \p bytes of the first \p count rows. Not inlined: with numbers
/// that the compiler knows it would become hundreds of instructions.
template <typename Index>
__attribute__((noinline)) static void prefetchRows(const TableRows<Index> &rows,
                                                   size_t count, size_t bytes) {
  for (size_t i = 0; i < count; ++i)
    for (size_t at = 0; at < bytes; at += lineBytes)
      _mm_prefetch(rows[i] + at, _MM_HINT_T0);
}

/// All rows of a call. \p fixedBytes: the size of a row if it is known at
/// compile time, so that no inner loop remains, else 0.
template <typename Index, Store store, size_t fixedBytes>
static void copyRows(const LookupCall &call) {
  // Beyond 4 KiB rows in the cache wait so long that others push them out;
  // memory, which calls past the caches wait for, is farther away.
  constexpr size_t aheadBytes = store == Store::past ? 8192 : 4096;
  constexpr size_t maxRows = 32;
  const size_t bytes = fixedBytes ? fixedBytes : call.rowBytes;
  const Distance distance = distanceFor(bytes, aheadBytes, maxRows);
  const size_t selfBytes = fixedBytes ? 0 : distance.selfBytes;
  const size_t outStride = call.outStrideBytes, count = call.count;
  const size_t unaccompanied = distance.rows < count ? distance.rows : count;
  const TableRows<Index> rows(call);
  prefetchRows(rows, unaccompanied, bytes - selfBytes);
  char *to = call.out;
  size_t i = 0;
  for (; i < count - unaccompanied; ++i, to += outStride)
    copyRow<store>(to, rows[i], rows[i + unaccompanied], bytes, selfBytes);
  for (; i < count; ++i, to += outStride) // prefetches what is there already
    copyRow<store>(to, rows[i], rows[i], bytes, selfBytes);
  if (store == Store::past)
    _mm_sfence(); // such stores are otherwise seen late by other threads
}

template <typename Index> static void copyLongRows(const LookupCall &call) {
  constexpr size_t startBytes = 2048;
  const TableRows<Index> rows(call);
  for (size_t i = 0; i < call.count; ++i) {
    if (i + 1 < call.count) {
      const char *next = rows[i + 1];
      for (size_t at = 0; at < startBytes; at += lineBytes)
        _mm_prefetch(next + at, _MM_HINT_T0);
    }
    memcpy(call.out + i * call.outStrideBytes, rows[i], call.rowBytes);
  }
}

// The choice between them

/// A quarter of the last cache as far as one core sees it: a table's rows are
/// in it as well, and perhaps other threads' output.
static uint64_t readPastBytes() {
  constexpr uint64_t usualBytes = 32 << 20; // where it is not known
  unsigned sharers;
  uint64_t bytes = readCacheBytes(3, sharers);
  return (bytes ? bytes : usualBytes) / 4;
}

/// Calls that write more than this do so past the caches.
static size_t pastBytes() {
  static uint64_t known = 0;
  return readOnce(known, readPastBytes);
}

/// Short rows that do not consist of whole lines have too few of them to gain.
static bool hasWholeLines(const LookupCall &call) {
  constexpr size_t manyLines = 8 * lineBytes;
  auto alignment = reinterpret_cast<uintptr_t>(call.out) | call.outStrideBytes |
                   call.rowBytes;
  return alignment % lineBytes == 0 || call.rowBytes >= manyLines;
}

template <typename Index> static void lookup(const LookupCall &call) {
  constexpr size_t longRow = 8192;
  if (call.rowBytes * call.count > pastBytes() && hasWholeLines(call))
    return copyRows<Index, Store::past, 0>(call);
  switch (call.rowBytes) {
  case 64:
    return copyRows<Index, Store::cached, 64>(call);
  case 128:
    return copyRows<Index, Store::cached, 128>(call);
  case 256:
    return copyRows<Index, Store::cached, 256>(call);
  case 512:
    return copyRows<Index, Store::cached, 512>(call);
  case 1024:
    return copyRows<Index, Store::cached, 1024>(call);
  }
  if (call.rowBytes >= longRow)
    return copyLongRows<Index>(call);
  copyRows<Index, Store::cached, 0>(call);
}

const LookupKernels mpg::avx2Lookup = {lookup<Index32>, lookup<Index64>};
