// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lookup in plain C++: one memcpy for each row, with the start of a row
// that follows prefetched by its index. The reference for the other variants.

#include "LookupRows.h"
#include <string.h>

using namespace mpg;

template <typename Index> static void copyRows(const LookupCall &call) {
  constexpr size_t aheadBytes = 2048, mostRows = 16, lineBytes = 64;
  size_t distance = distanceFor(call.rowBytes, aheadBytes, mostRows).rows;
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
