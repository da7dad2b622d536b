// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// STREAM on x86-64: one loop for all operations, element types, widths of a
// vector and kinds of stores. The destination is brought to a border of a line
// first, so that no store crosses lines, and so that a store past the caches
// writes whole lines: of a line that it writes in part the processor must read
// the rest.
//
// Multiplied and added, not fused: StreamPlain.cpp computes the same bits on
// any x86-64.
//
// Included once by each file of an instruction set, after its Vector<T>. All of
// it is in an anonymous namespace: of two functions with one name the linker
// keeps one, and a processor with AVX2 might get that for AVX-512.

#pragma once

#include "KernelTable.h"
#include <immintrin.h>
#include <string.h>

namespace {

using namespace mpg;

constexpr size_t lineBytes = 64; // HW:x86-l1d-way

// The operations, of single elements and of vectors alike.
struct Copy {
  static constexpr int arrays = 2;
  template <typename V> static V of(V b, V, V) { return b; }
};
struct Scale {
  static constexpr int arrays = 2;
  template <typename V> static V of(V b, V, V s) { return s * b; }
};
struct Add {
  static constexpr int arrays = 3;
  template <typename V> static V of(V b, V c, V) { return b + c; }
};
struct Triad {
  static constexpr int arrays = 3;
  template <typename V> static V of(V b, V c, V s) { return b + s * c; }
};

/// The elements [i, end), one at a time, at any alignment.
template <typename Operation, typename T>
void runSingly(StreamCall<T> call, size_t i, size_t end) {
  for (; i < end; ++i) {
    T b, c = 0;
    memcpy(&b, call.b + i, sizeof(T));
    if (Operation::arrays == 3)
      memcpy(&c, call.c + i, sizeof(T));
    T result = Operation::of(b, c, call.s);
    memcpy(call.a + i, &result, sizeof(T));
  }
}

/// How lines of the destination enter and leave the cache.
enum class Stores {
  cached,     ///< the processor fetches a line when a store waits for it
  prefetched, ///< asked for ahead
  pastCaches  ///< never fetched
};

/// Prefetches a line for writing. Processors without the instruction ignore it;
/// the intrinsic would need another compiler flag.
inline void prefetchForWriting(const void *base, size_t bytesAhead) {
  __asm__ volatile("prefetchw (%0, %1)" : : "r"(base), "r"(bytesAhead));
}

/// Runs as many steps of \p vectors vectors as fit, from element i on, and
/// returns the first remaining element. Takes the call by value: through a
/// reference the compiler would reload all of it after each store.
template <typename Operation, Stores stores, size_t vectors, typename T>
size_t runVectors(StreamCall<T> call, size_t i) {
  using V = Vector<T>;
  constexpr size_t lanes = sizeof(typename V::Type) / sizeof(T);
  constexpr size_t aheadBytes = 2048; // 1024 to 3072 were equal
  const typename V::Type s = V::fill(call.s);
  for (; call.count - i >= vectors * lanes; i += vectors * lanes)
    for (size_t k = i; k < i + vectors * lanes; k += lanes) {
      if (stores == Stores::prefetched && (k - i) * sizeof(T) % lineBytes == 0)
        prefetchForWriting(call.a + k, aheadBytes);
      typename V::Type b = V::load(call.b + k);
      typename V::Type c = Operation::arrays == 3 ? V::load(call.c + k) : b;
      if (stores == Stores::pastCaches)
        V::stream(call.a + k, Operation::of(b, c, s));
      else
        V::store(call.a + k, Operation::of(b, c, s));
    }
  return i;
}

/// A thread's stores past the caches have a rate of their own, whatever it
/// reads beside them: a call with two arrays gains less than one with three,
/// and only further away from the caches.
template <typename Operation, typename T>
Stores getStores(const StreamCall<T> &call) {
  // Elements never meet a line boundary, so nothing can be aligned.
  bool aligned = uintptr_t(call.a) % sizeof(T) == 0;
  size_t bytes = Operation::arrays * call.count * sizeof(T);
  uint64_t past = call.tuning->nonTemporalBytes;
  if (aligned && (Operation::arrays == 2 ? bytes / 2 : bytes) > past)
    return Stores::pastCaches;
  return bytes > ownCacheBytes() && bytes <= past ? Stores::prefetched
                                                  : Stores::cached;
}

/// The elements before the first border of a line in `a`.
template <typename T> size_t countHead(const StreamCall<T> &call) {
  if (uintptr_t(call.a) % sizeof(T))
    return 0;
  size_t head = (0 - uintptr_t(call.a)) % lineBytes / sizeof(T);
  return head < call.count ? head : call.count;
}

template <typename Operation, typename T>
void runArrays(const StreamCall<T> &call) {
  size_t i = countHead(call);
  runSingly<Operation>(call, 0, i);
  switch (getStores<Operation>(call)) {
  case Stores::cached:
    i = runVectors<Operation, Stores::cached, 4>(call, i);
    break;
  case Stores::prefetched:
    i = runVectors<Operation, Stores::prefetched, 4>(call, i);
    break;
  case Stores::pastCaches:
    i = runVectors<Operation, Stores::pastCaches, 4>(call, i);
    _mm_sfence(); // Else another thread might miss what the call has written.
    break;
  }
  i = runVectors<Operation, Stores::cached, 1>(call, i);
  runSingly<Operation>(call, i, call.count);
}

/// Copies that stay in the caches are the C library's: in L2 no loop came near
/// it. It would let copies of any size through the caches (glibc 2.36,
/// measured). A move, because `a` may be `b`.
template <typename T> void copyArrays(const StreamCall<T> &call) {
  if (getStores<Copy>(call) == Stores::pastCaches)
    runArrays<Copy>(call);
  else
    memmove(call.a, call.b, call.count * sizeof(T));
}

constexpr StreamKernels x86Stream = {
    copyArrays<double>,       runArrays<Scale, double>, runArrays<Add, double>,
    runArrays<Triad, double>, copyArrays<float>,        runArrays<Scale, float>,
    runArrays<Add, float>,    runArrays<Triad, float>};

} // namespace
