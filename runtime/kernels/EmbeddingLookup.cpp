// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_embedding_lookup (<mpg/kernels.h>): checks the arguments and all indices,
// then hands the rows to the variant for this processor.
//
// A separate pass checks the indices first, because a call with a wrong one
// must write nothing. The pass costs little: it reads 4 or 8 bytes for each row
// in order, and the compiler vectorises it.
//
// With dim = 0 there is nothing to copy, but the indices are still checked:
// <mpg/embedding_omp.hpp> relies on that to check all of them before any thread
// writes.

#include "LookupRows.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

using namespace mpg;

// Arguments

static int checkShape(const mpg_embedding &e) {
  if (e.elementBytes != 2 && e.elementBytes != 4)
    return kernelError(EINVAL, "elementBytes is %" PRIu32 ", not 2 or 4",
                       e.elementBytes);
  if (e.indexBytes != 4 && e.indexBytes != 8)
    return kernelError(EINVAL, "indexBytes is %" PRIu32 ", not 4 or 8",
                       e.indexBytes);
  if (e.tableTag > 0xff)
    return kernelError(EINVAL, "tableTag is %#" PRIx32 ", more than a byte",
                       e.tableTag);
  if (e.rows < 0)
    return kernelError(EINVAL, "rows is %" PRId64, e.rows);
  if (e.dim < 0)
    return kernelError(EINVAL, "dim is %" PRId64, e.dim);
  if (e.tableStride < e.dim)
    return kernelError(EINVAL, "tableStride is %" PRId64 ", dim %" PRId64,
                       e.tableStride, e.dim);
  if (e.outStride < e.dim)
    return kernelError(EINVAL, "outStride is %" PRId64 ", dim %" PRId64,
                       e.outStride, e.dim);
  return 0;
}

/// The last address. On AArch64 the top byte is not part of the address.
/// HW:hpc-tag
#if defined(__aarch64__)
static constexpr uintptr_t lastAddress = UINTPTR_MAX >> 8;
#else
static constexpr uintptr_t lastAddress = UINTPTR_MAX;
#endif

/// Whether \p rows rows of \p stride elements fit into the address space from
/// \p start on. None of the numbers is negative.
static bool fits(const void *start, int64_t rows, int64_t stride,
                 uint32_t elementBytes) {
  auto address = reinterpret_cast<uintptr_t>(start) & lastAddress;
  intptr_t bytes;
  return !__builtin_mul_overflow(rows, stride, &bytes) &&
         !__builtin_mul_overflow(bytes, intptr_t(elementBytes), &bytes) &&
         uintptr_t(bytes) <= lastAddress - address;
}

static int checkRange(const mpg_embedding &e, int64_t begin, int64_t end) {
  if (begin < 0 || begin > end)
    return kernelError(EINVAL, "the range is %" PRId64 " to %" PRId64, begin,
                       end);
  bool isEmpty = begin == end;
  if (!isEmpty && !e.indices)
    return kernelError(EINVAL, "indices is NULL");
  if (!isEmpty && e.dim > 0 && !e.table)
    return kernelError(EINVAL, "table is NULL");
  if (!isEmpty && e.dim > 0 && !e.out)
    return kernelError(EINVAL, "out is NULL");
  if (!fits(e.table, e.rows, e.tableStride, e.elementBytes))
    return kernelError(EOVERFLOW,
                       "a table of %" PRId64 " rows of %" PRId64
                       " elements does not fit into the address space",
                       e.rows, e.tableStride);
  if (!fits(e.out, end, e.outStride, e.elementBytes))
    return kernelError(EOVERFLOW,
                       "an output of %" PRId64 " rows of %" PRId64
                       " elements does not fit into the address space",
                       end, e.outStride);
  if (!fits(e.indices, end, 1, e.indexBytes))
    return kernelError(EOVERFLOW,
                       "%" PRId64 " indices do not fit into the address space",
                       end);
  return 0;
}

// Indices

/// An unsigned number whose top bit is set if \p index is not in [0, last]. The
/// unsigned subtraction may wrap for a negative index; the index's own top bit
/// is then set.
template <typename Unsigned>
static inline Unsigned outside(Unsigned index, Unsigned last) {
  return index | (last - index);
}

/// The first index of \p count that is not in [0, last], or \p count. Blocks
/// of a fixed size become vectors at any level of optimisation, even without
/// an instruction for unsigned maxima.
template <typename Unsigned, typename Index>
static int64_t firstOutside(const Index *indices, int64_t count, int64_t last) {
  constexpr int64_t blockIndices = 64;
  constexpr unsigned topBit = 8 * sizeof(Unsigned) - 1;
  auto limit = static_cast<Unsigned>(last);
  int64_t i = 0;
  for (; count - i >= blockIndices; i += blockIndices) {
    Unsigned bad = 0;
    for (int64_t k = 0; k < blockIndices; ++k)
      bad |= outside(static_cast<Unsigned>(indices[i + k].value), limit);
    if (bad >> topBit)
      break;
  }
  while (i < count &&
         !(outside(static_cast<Unsigned>(indices[i].value), limit) >> topBit))
    ++i;
  return i;
}

static int checkIndices(const mpg_embedding &e, int64_t begin, int64_t end) {
  int64_t count = end - begin, last = e.rows - 1, at, value = 0;
  if (e.indexBytes == 4) {
    auto *indices = static_cast<const Index32 *>(e.indices) + begin;
    at = firstOutside<uint32_t>(indices, count,
                                last < INT32_MAX ? last : INT32_MAX);
    value = at < count ? indices[at].value : 0;
  } else {
    auto *indices = static_cast<const Index64 *>(e.indices) + begin;
    at = firstOutside<uint64_t>(indices, count, last);
    value = at < count ? indices[at].value : 0;
  }
  if (at == count)
    return 0;
  return kernelError(ERANGE,
                     "indices[%" PRId64 "] is %" PRId64
                     ", and the table has %" PRId64 " rows",
                     begin + at, value, e.rows);
}

// The functions of <mpg/kernels.h>

mpg_embedding mpg_embedding_default(int64_t rows, int64_t dim,
                                    uint32_t elementBytes,
                                    uint32_t indexBytes) {
  constexpr uint32_t noHardwarePrefetch = 0x60; // HW:pf-func
  return {sizeof(mpg_embedding),
          elementBytes,
          indexBytes,
          noHardwarePrefetch,
          nullptr,
          rows,
          dim,
          dim,
          nullptr,
          nullptr,
          dim};
}

/// Adds the tag to the table's address on A64FX, or on a machine that may be
/// one. Keeps a tag that the pointer already has: it may be the one that passes
/// a memory check.
static const char *taggedTable(const mpg_embedding &e) {
  auto address = reinterpret_cast<uintptr_t>(e.table);
#if defined(__aarch64__)
  constexpr unsigned tagShift = 56; // HW:hpc-tag
  if (&kernels().lookup == &sveLookup && !(address >> tagShift))
    address |= uintptr_t(e.tableTag) << tagShift;
#endif
  return reinterpret_cast<const char *>(address);
}

int mpg_embedding_lookup(const mpg_embedding *embedding, int64_t begin,
                         int64_t end) {
  if (!embedding)
    return kernelError(EINVAL, "the embedding is NULL");
  const mpg_embedding &e = *embedding;
  if (e.structBytes != sizeof(e))
    return kernelError(EINVAL, "structBytes is %" PRIu32 ", not %zu",
                       e.structBytes, sizeof(e));
  if (int error = checkShape(e))
    return error;
  if (int error = checkRange(e, begin, end))
    return error;
  if (begin == end) // the pointers may be null
    return 0;
  if (int error = checkIndices(e, begin, end))
    return error;
  if (e.dim == 0)
    return 0;

  LookupCall call;
  call.table = taggedTable(e);
  call.rowBytes = size_t(e.dim) * e.elementBytes;
  call.tableStrideBytes = size_t(e.tableStride) * e.elementBytes;
  call.indices = static_cast<const char *>(e.indices) + begin * e.indexBytes;
  call.outStrideBytes = size_t(e.outStride) * e.elementBytes;
  call.out = static_cast<char *>(e.out) + size_t(begin) * call.outStrideBytes;
  call.count = size_t(end - begin);
  const LookupKernels &lookup = kernels().lookup;
  (e.indexBytes == 4 ? lookup.index32 : lookup.index64)(call);
  return 0;
}

// Any processor. The lookup in plain C++: one memcpy for each row, with the
// start of a row that follows prefetched by its index. The reference for the
// other variants.

template <typename Index> static void copyRows(const LookupCall &call) {
  constexpr size_t aheadBytes = 2048, maxRows = 16, lineBytes = 64;
  size_t distance = distanceFor(call.rowBytes, aheadBytes, maxRows).rows;
  size_t prefetchBytes =
      call.rowBytes < aheadBytes ? call.rowBytes : aheadBytes;
  const TableRows<Index> rows(call);
  for (size_t i = 0; i < call.count; ++i) {
    if (distance < call.count - i) {
      const char *ahead = rows[i + distance];
      for (size_t at = 0; at < prefetchBytes; at += lineBytes)
        __builtin_prefetch(ahead + at);
    }
    memcpy(call.out + i * call.outStrideBytes, rows[i], call.rowBytes);
  }
}

const LookupKernels mpg::plainLookup = {copyRows<Index32>, copyRows<Index64>};
