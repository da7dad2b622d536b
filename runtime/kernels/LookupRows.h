// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of the lookup: how to read an index, where a row is, and
// how far ahead of the copying rows are prefetched.
//
// All in an anonymous namespace: each variant is compiled for its instruction
// set, and the linker must not take one variant's copy for all of them.

#pragma once

#include "KernelTable.h"

namespace {

/// An index of any alignment, in memory that may hold something else by type.
/// Not a typedef with these attributes: templates would drop them.
template <typename Integer> struct __attribute__((packed, may_alias)) AnyIndex {
  Integer value;
};
using Index32 = AnyIndex<int32_t>;
using Index64 = AnyIndex<int64_t>;

/// How far ahead of the copying to prefetch: `rows` rows, without the last
/// `selfBytes` of a row, which the row prefetches for itself when its start is
/// copied. One of the two is 0 or 1.
struct Distance {
  size_t rows;
  size_t selfBytes;
};

/// \p aheadBytes ahead, but not more than \p maxRows rows.
inline Distance distanceFor(size_t rowBytes, size_t aheadBytes,
                            size_t maxRows) {
  if (rowBytes > aheadBytes)
    return {1, rowBytes - aheadBytes};
  size_t rows = aheadBytes / rowBytes;
  return {rows < maxRows ? rows : maxRows, 0};
}

/// The rows of a table, by their place in the output. To be a local variable:
/// a call's fields would be read again after each store, which may be to them.
template <typename Index> class TableRows {
public:
  explicit TableRows(const mpg::LookupCall &call)
      : table(call.table), strideBytes(call.tableStrideBytes),
        indices(static_cast<const Index *>(call.indices)) {}
  const char *operator[](size_t i) const {
    return table + size_t(indices[i].value) * strideBytes;
  }

private:
  const char *table;
  size_t strideBytes;
  const Index *indices;
};

} // namespace
