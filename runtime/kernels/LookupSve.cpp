// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lookup with SVE of any vector length. One iteration copies four vectors:
// with 512 bits that is one line of A64FX, 256 bytes (HW:a64fx-l1d-way,
// HW:a64fx-sve-bits). It prefetches as many bytes some KiB later in the
// sequence of rows, found by index. The rest of a row is copied by vectors with
// only the row's bytes active, so nothing outside of the row is read or
// written.
//
// Prefetches go into L2 only, so that the loads have the few L1 line fill
// buffers to themselves. That, and how far ahead, is modelled, not measured on
// A64FX: at a line in 6 ns, which is 42 GB/s, 32 lines last longer than
// memory's 140 ns (Manual, 1.6: read).
//
// Loads and prefetches carry the table's tag in the pointer
// (EmbeddingLookup.cpp adds it), so the tag costs nothing here.

#include "LookupRows.h"
#include <arm_sve.h>

using namespace mpg;

static inline void prefetchL2(const char *p) { __builtin_prefetch(p, 0, 2); }

/// The smallest line of the data caches: bits 19:16 of CTR_EL0 are the log2 of
/// its words of 4 bytes, and programs may read it (LLVM's clear_cache.c: read).
static size_t lineBytes() {
  uint64_t cacheTypes;
  asm("mrs %0, ctr_el0" : "=r"(cacheTypes));
  return 4u << (cacheTypes >> 16 & 15);
}

namespace {

/// Common to all rows of a call.
struct Shape {
  size_t bytes;
  size_t selfEnd;  ///< steps below prefetch for this row itself
  size_t wholeEnd; ///< and those from there to here for a later one
  size_t aheadBytes;
};

} // namespace

static Shape shapeFor(size_t bytes, size_t selfBytes, size_t step) {
  size_t wholeEnd = bytes - bytes % step;
  size_t selfEnd = (selfBytes + step - 1) / step * step;
  return {bytes, selfEnd < wholeEnd ? selfEnd : wholeEnd, wholeEnd,
          bytes - selfBytes};
}

/// Copies the bytes [begin, end) in steps of four vectors; what is prefetched
/// for byte i is \p ahead + i. \p prefetches: lines in a step.
template <unsigned prefetches>
static inline void copySteps(char *to, const char *from, const char *ahead,
                             size_t begin, size_t end) {
  const svbool_t all = svptrue_b8();
  const size_t step = 4 * svcntb();
  for (size_t at = begin; at != end; at += step) {
    auto *source = reinterpret_cast<const uint8_t *>(from + at);
    auto *target = reinterpret_cast<uint8_t *>(to + at);
    for (unsigned line = 0; line < prefetches; ++line)
      prefetchL2(ahead + at + line * (step / prefetches));
    svuint8_t a = svld1_vnum_u8(all, source, 0);
    svuint8_t b = svld1_vnum_u8(all, source, 1);
    svuint8_t c = svld1_vnum_u8(all, source, 2);
    svuint8_t d = svld1_vnum_u8(all, source, 3);
    svst1_vnum_u8(all, target, 0, a);
    svst1_vnum_u8(all, target, 1, b);
    svst1_vnum_u8(all, target, 2, c);
    svst1_vnum_u8(all, target, 3, d);
  }
}

/// Copies one row. \p ahead is the row that the end of this one prefetches.
template <unsigned prefetches>
static inline void copyRow(char *to, const char *from, const char *ahead,
                           const Shape &shape) {
  if (shape.selfEnd > 0)
    copySteps<prefetches>(to, from, from + shape.aheadBytes, 0, shape.selfEnd);
  // A prefetch never faults, wherever this leads.
  const char *later = ahead - shape.selfEnd;
  copySteps<prefetches>(to, from, later, shape.selfEnd, shape.wholeEnd);
  if (shape.wholeEnd == shape.bytes)
    return;
  prefetchL2(later + shape.wholeEnd);
  prefetchL2(later + shape.bytes - 1);
  for (size_t at = shape.wholeEnd; at < shape.bytes; at += svcntb()) {
    svbool_t rest = svwhilelt_b8_u64(at, shape.bytes);
    auto *source = reinterpret_cast<const uint8_t *>(from + at);
    auto *target = reinterpret_cast<uint8_t *>(to + at);
    svst1_u8(rest, target, svld1_u8(rest, source));
  }
}

template <typename Index, unsigned prefetches>
static void copyRows(const LookupCall &call, size_t line) {
  constexpr size_t aheadBytes = 8192, maxRows = 32;
  const size_t count = call.count, outStride = call.outStrideBytes;
  const Distance distance = distanceFor(call.rowBytes, aheadBytes, maxRows);
  const Shape shape = shapeFor(call.rowBytes, distance.selfBytes, 4 * svcntb());
  const size_t unaccompanied = distance.rows < count ? distance.rows : count;
  const TableRows<Index> rows(call);
  for (size_t i = 0; i < unaccompanied; ++i)
    for (size_t at = 0; at < shape.aheadBytes; at += line)
      prefetchL2(rows[i] + at);
  char *to = call.out;
  for (size_t i = 0; i < count; ++i, to += outStride) {
    size_t later = i + unaccompanied < count ? i + unaccompanied : i;
    copyRow<prefetches>(to, rows[i], rows[later], shape);
  }
}

template <typename Index> static void lookup(const LookupCall &call) {
  size_t line = lineBytes(), step = 4 * svcntb();
  if (step <= line)
    copyRows<Index, 1>(call, line);
  else if (step <= 2 * line)
    copyRows<Index, 2>(call, line);
  else // with more lines in a step, the hardware prefetches the others
    copyRows<Index, 4>(call, line);
}

const LookupKernels mpg::sveLookup = {lookup<Index32>, lookup<Index64>};
